import type { Hex } from '../base/hex.ts'
import type { SoukError } from '../base/errors.ts'
import type { ContractCall, Receipt } from './chain.ts'
import type { Address } from './signer.ts'

/** A transaction of this node that is in a block. */
export interface Mined {
  readonly key: string
  /** Hash of the mined version. Raising the fee changes the hash. */
  readonly hash: Hex
  /** A mined transaction may have reverted: then it changed nothing except the gas paid. */
  readonly receipt: Receipt
  /** True if the block is final, so a reorganisation cannot remove it. */
  readonly isFinal: boolean
}

export interface SubmitterStatus {
  readonly address: Address
  /** `planned`: not signed yet, or not stored yet. `unmined`: signed, in no block. `unfinal`: in a block that may be reverted. */
  readonly planned: number
  readonly unmined: number
  readonly unfinal: number
  /** Age of the oldest planned or unmined transaction. */
  readonly oldestMs?: number
  /** The account's ETH does not cover the gas of its signed transactions. */
  readonly hasNoGas: boolean
  /** Error of the last query of the chain. */
  readonly trouble?: SoukError
}

/**
 * Sends every transaction of the node's account, with consecutive nonces. An accepted plan survives kill -9. It is sent
 * until it is mined, and again after its block is reverted. Two transactions of one plan can never both be mined.
 */
export interface Submitter {
  /**
   * Has a call mined. `key` identifies the plan: a repeated `submit` with the same key, also after a restart, returns
   * the same transaction. A transaction that reverted in a final block frees its key, and so does a plan refused before
   * sending. Aborting the signal or stopping only ends the wait.
   * @returns when it is in a block; `receipt.succeeded` tells whether it reverted
   * @throws SoukError `payment_rejected` where the chain would revert it now (the cause's message is the reason),
   *   `settlement_unavailable` without enough gas, `payment_id_conflict` for another call under a used key,
   *   `overloaded` where too many wait, `settlement_pending` where the submitter stops first
   */
  submit(key: string, call: ContractCall, signal?: AbortSignal): Promise<Mined>
  /** True where a plan has this key, so `submit` would start no other. */
  has(key: string): boolean
  /** Hash of the last sent version of a plan's transaction. Undefined before it is signed. */
  hashOf(key: string): Hex | undefined
  /** The mined transaction of a plan. Final ones are deleted after a while. */
  find(key: string): Mined | undefined
  /** Reports each final transaction at least once, across restarts. A listener that rejects is called again. */
  onFinal(listener: (mined: Mined) => void | Promise<void>): () => void
  status(): SubmitterStatus
  /** Resumes the plans of an earlier process. @throws SoukError `internal_error` where the store cannot be read */
  start(): Promise<void>
  /** Resolves when no work is running. Unfinished plans resume at the next start. */
  stop(): Promise<void>
}
