import { keccak256 } from 'viem/utils'
import { SoukError } from '../../base/errors.ts'
import type { Hex } from '../../base/hex.ts'
import type { ContractCall, Fees, Receipt } from '../../interface/chain.ts'
import type { SignedTransaction } from './transaction.ts'

/** A signed plan. All versions share the nonce and differ only in fees, so at most one is ever mined. */
export interface Signed extends SignedTransaction {
  readonly nonce: number
  readonly gas: bigint
  /** Fees of the newest version, which `raw` and `hash` belong to. */
  readonly fees: Fees
  /** Hashes of earlier versions: any of them may still be mined. */
  readonly replaced: readonly Hex[]
}

/** The stored plan of one transaction. The fields that are set show its progress. */
export interface Submission {
  readonly key: string
  /** Plans are signed in this order. */
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Detects another call under the same key. */
  readonly callHash: Hex
  /** Absent once the transaction is final. */
  readonly call?: ContractCall
  readonly signed?: Signed
  readonly mined?: { readonly hash: Hex; readonly receipt: Receipt }
  /** The nonce of a final transaction. It stays used. */
  readonly finalNonce?: number
}

export function hashOf({ to, data }: ContractCall): Hex {
  return keccak256(`0x${to.slice(2)}${data.slice(2)}`)
}

/** The part of a final submission that is worth keeping. */
export function finalForm({ key, seq, at, callHash, mined, signed }: Submission): Submission {
  return { key, seq, at, callHash, ...(mined && { mined }), ...(signed && { finalNonce: signed.nonce }) }
}

/** JSON has no bigint: it is written as a string such as `12n`. */
const LARGE = /^\d+n$/

export function encodeSubmission(submission: Submission): string {
  return JSON.stringify(submission, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}

/** @throws SoukError `internal_error` for text that this node did not write */
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
  new SoukError('internal_error', 'A planned transaction in the store cannot be read.', { cause })
