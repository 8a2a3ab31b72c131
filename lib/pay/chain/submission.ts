import { keccak256 } from 'viem/utils'
import { SoukError } from '../../base/errors.ts'
import type { Hex } from '../../base/hex.ts'
import type { ContractCall, Fees, Receipt } from '../../interface/chain.ts'
import type { SignedTransaction } from './transaction.ts'

/** A signed plan. Versions differ in their fees alone and share the nonce, so one of them at most is ever mined. */
export interface Signed extends SignedTransaction {
  readonly nonce: number
  readonly gas: bigint
  /** Of the newest version, which `raw` and `hash` are of. */
  readonly fees: Fees
  /** Hashes of the versions before it: any of them may still be the one that is mined. */
  readonly replaced: readonly Hex[]
}

/** A plan to send one transaction, as it is kept on disk. What is set says how far it got. */
export interface Submission {
  readonly key: string
  /** Plans are signed in this order. */
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Tells whether another call comes under the same key. */
  readonly callHash: Hex
  /** Absent once it is final. */
  readonly call?: ContractCall
  readonly signed?: Signed
  readonly mined?: { readonly hash: Hex; readonly receipt: Receipt }
  /** Set when it is final: its nonce, which stays used. */
  readonly finalNonce?: number
}

export function hashOf({ to, data }: ContractCall): Hex {
  return keccak256(`0x${to.slice(2)}${data.slice(2)}`)
}

/** What is still worth keeping of a submission that nothing can change any more. */
export function finalForm({ key, seq, at, callHash, mined, signed }: Submission): Submission {
  return { key, seq, at, callHash, ...(mined && { mined }), ...(signed && { finalNonce: signed.nonce }) }
}

/** JSON has no large numbers: they are written as texts of their own form. */
const LARGE = /^\d+n$/

export function encodeSubmission(submission: Submission): string {
  return JSON.stringify(submission, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}

/** @throws SoukError `internal_error` for what this node never wrote */
export function decodeSubmission(text: string): Submission {
  try {
    const revive = (_: string, value: unknown) =>
      typeof value === 'string' && LARGE.test(value) ? BigInt(value.slice(0, -1)) : value
    const submission = JSON.parse(text, revive) as Submission
    const { key, seq, callHash } = submission
    if (typeof key === 'string' && Number.isSafeInteger(seq) && typeof callHash === 'string') return submission
  } catch (cause) {
    throw unreadable(cause)
  }
  throw unreadable()
}

const unreadable = (cause?: unknown) =>
  new SoukError('internal_error', 'A transaction that this node planned cannot be read back.', { cause })
