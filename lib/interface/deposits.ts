import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { SoukError } from '../base/errors.ts'
import type { BlockTag } from './chain.ts'
import type { Address } from './signer.ts'

/** An x402 `exact` payment into this node's wallet, from a payer without a node. */
export interface DepositPayment {
  readonly payer: Address
  /** Id of the payment, made of payer and nonce. A payer uses each nonce once. */
  readonly name: string
  readonly amount: Atoms
  /** Value of the header `PAYMENT-SIGNATURE`. `read` parses it again. */
  readonly text: string
}

/**
 * The transaction of a deposit. `depth`: the deepest block tag that contains it. Absent where no block contains it any
 * more.
 */
export interface DepositTransaction {
  readonly hash: Hex
  /** False: it was mined but reverted. */
  readonly succeeded: boolean
  readonly depth?: BlockTag
}

/** Accepts payments into the node's wallet. */
export interface Deposits {
  /** The node's wallet. */
  readonly wallet: Address
  /** Returns `payment_required` with the x402 payment requirements for `amount`. */
  ask(amount: Atoms): SoukError
  /** Checks the syntax only. @throws SoukError `payment_malformed` */
  read(text: string): Promise<DepositPayment>
  /**
   * Checks that the payment can be collected now, has this amount, and goes to this wallet or one of `others`.
   * @throws SoukError `payment_rejected`, `insufficient_funds`, `settlement_unavailable`
   */
  check(payment: DepositPayment, amount: Atoms, others: readonly Address[]): Promise<void>
  /**
   * Submits the payment once, also across repeats and restarts. Resolves with its transaction and depth. Aborting the
   * signal only ends the wait.
   * @throws SoukError like `Submitter.submit`; `payment_rejected` means that nothing was or will be sent
   */
  collect(payment: DepositPayment, signal?: AbortSignal): Promise<DepositTransaction>
  /** Value of the header `PAYMENT-RESPONSE`. */
  response(payment: DepositPayment, transaction: DepositTransaction): string
}
