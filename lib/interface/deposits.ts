import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { SoukError } from '../base/errors.ts'
import type { BlockTag } from './chain.ts'
import type { Address } from './signer.ts'

/** A payment of somebody without a node into the wallet of this one: x402's scheme `exact`. */
export interface DepositPayment {
  readonly payer: Address
  /** A payer uses no nonce twice: both name the payment. */
  readonly name: string
  readonly amount: Atoms
  /** As it came in the header `PAYMENT-SIGNATURE`: `read` takes it again. */
  readonly text: string
}

/** Where the money of a deposit is. `depth`: the last of these blocks that it is in; absent where it is in none any more. */
export interface DepositTransaction {
  readonly hash: Hex
  /** False: it was mined and moved nothing. */
  readonly succeeded: boolean
  readonly depth?: BlockTag
}

/** Takes payments into the node's wallet. */
export interface Deposits {
  /** `payment_required`, with what a client of x402 needs to pay so much into the wallet. */
  ask(amount: Atoms): SoukError
  /** Its form only. @throws SoukError `payment_malformed` */
  read(text: string): Promise<DepositPayment>
  /**
   * That it can be collected now, and is of this amount.
   * @throws SoukError `payment_rejected`, `insufficient_funds`, `settlement_unavailable`
   */
  check(payment: DepositPayment, amount: Atoms): Promise<void>
  /**
   * Has it mined, once, however often it is asked, also after a restart; and says how deep it is by now. Aborting the signal
   * ends the waiting only.
   * @throws SoukError as `Submitter.submit`; `payment_rejected` says that nothing was sent, nor will be
   */
  collect(payment: DepositPayment, signal?: AbortSignal): Promise<DepositTransaction>
  /** The value of the header `PAYMENT-RESPONSE`. */
  response(payment: DepositPayment, transaction: DepositTransaction): string
}
