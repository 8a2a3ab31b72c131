import type { Atoms } from '../base/money.ts'
import type { Address } from './signer.ts'
import type { SettledTransaction } from './earnings.ts'
import type { Mined } from './submitter.ts'

export interface WalletBalance {
  /** USDC at the head of the chain, and in finalized blocks. */
  readonly latest: Atoms
  readonly finalized: Atoms
  /** ETH for gas, in wei. */
  readonly wei: bigint
}

export interface Withdrawal {
  readonly to: Address
  readonly amount: Atoms
  /**
   * Id chosen by the caller, up to 64 of `[A-Za-z0-9_-]`. Repeating it, also after a restart, sends nothing twice: with another
   * amount or address, it is refused.
   */
  readonly id: string
}

/** The account that a node pays from, and that it signs with as an owner. Money in channels is not included. */
export interface Wallet {
  readonly address: Address
  /** @throws SoukError `settlement_unavailable` */
  balance(): Promise<WalletBalance>
  /**
   * Cost of this much gas in USDC, at current fees and a fixed price of ETH.
   * @throws SoukError `settlement_unavailable` where it would use the gas reserved for claims
   */
  feeFor(gas: bigint): Promise<Atoms>
  /**
   * Sends USDC. Resolves to its transaction when it is mined. Aborting the signal only ends the wait.
   * @throws SoukError `invalid_request`, `insufficient_funds`, `payment_id_conflict`, and any error of `Submitter.submit`
   */
  withdraw(withdrawal: Withdrawal, signal?: AbortSignal): Promise<Pick<Mined, 'hash' | 'key'>>
  /** The final transaction of a withdrawal, while this node keeps its store. Undefined before it is final. */
  final(withdrawal: Withdrawal): Promise<SettledTransaction | undefined>
  /** True while the withdrawal may still be mined. False and not final means that nothing was sent. */
  isUnderWay(withdrawal: Withdrawal): boolean
}
