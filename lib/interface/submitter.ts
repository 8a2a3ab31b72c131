import type { Hex } from '../base/hex.ts'
import type { SoukError } from '../base/errors.ts'
import type { ContractCall, Receipt } from './chain.ts'
import type { Address } from './signer.ts'

/** A transaction of ours that is in a block. */
export interface Mined {
  readonly key: string
  /** Of the version that was mined: raising the fee gives it another. */
  readonly hash: Hex
  /** A mined transaction may still have failed: then it changed nothing but what was paid for its gas. */
  readonly receipt: Receipt
  /** Its block is finalized: it is never taken back. */
  readonly isFinal: boolean
}

export interface SubmitterStatus {
  readonly address: Address
  /** Waiting to be signed; signed and in no block; in a block that may be taken back. */
  readonly planned: number
  readonly unmined: number
  readonly unfinal: number
  /** How long the oldest of the first two has waited. */
  readonly oldestMs?: number
  /** The account cannot pay for what it has signed. */
  readonly hasNoGas: boolean
  /** What went wrong the last time the chain was asked. */
  readonly trouble?: SoukError
}

/**
 * Everything that a node sends from its account goes through here, one nonce after the other. A plan that was taken
 * survives kill -9 at any instant, is sent until it is mined and again where its block is taken back, and never becomes
 * two transactions that can both be mined.
 */
export interface Submitter {
  /**
   * Has a call mined. The key names the plan: whoever asks again under it, also after a restart, hears of the same
   * transaction. One that finally failed frees its key, as does a plan that was refused before anything was sent.
   * Aborting the signal, or stopping, only ends the waiting.
   * @returns when it is in a block; `receipt.succeeded` says how it went
   * @throws SoukError `payment_rejected` where the chain would refuse it now (the reason is the cause's message),
   *   `settlement_unavailable` where there is no gas for it, `payment_id_conflict` for another call under a key in use,
   *   `overloaded` where too many wait, `settlement_pending` where the submitter stops first
   */
  submit(key: string, call: ContractCall, signal?: AbortSignal): Promise<Mined>
  /** A plan has this key: `submit` would start no other. */
  has(key: string): boolean
  /** What became of a plan, as far as it is mined. Final ones are forgotten after a while. */
  find(key: string): Mined | undefined
  /** Told of each transaction that is final, at least once over restarts; a listener that rejects is told again. */
  onFinal(listener: (mined: Mined) => void | Promise<void>): () => void
  status(): SubmitterStatus
  /** Goes on with what an earlier process left. @throws SoukError `internal_error` where the store cannot be read */
  start(): Promise<void>
  /** Resolves when nothing is under way any more. What is unfinished goes on at the next start. */
  stop(): Promise<void>
}
