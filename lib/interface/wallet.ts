import type { Atoms } from '../base/money.ts'
import type { Address } from './signer.ts'
import type { SettledTransaction } from './earnings.ts'
import type { Mined } from './submitter.ts'

export interface WalletBalance {
  /** USDC at the head of the chain, and as nothing takes it back. */
  readonly latest: Atoms
  readonly finalized: Atoms
  /** ETH for gas, in wei. */
  readonly wei: bigint
}

export interface Withdrawal {
  readonly to: Address
  readonly amount: Atoms
  /** Up to 64 of `[A-Za-z0-9_-]`, of the caller's own making: asking again under it, also after a restart, sends nothing twice. */
  readonly id: string
}

/** The account that a node pays from and is an owner with. Money in channels is not in it. */
export interface Wallet {
  readonly address: Address
  /** @throws SoukError `settlement_unavailable` */
  balance(): Promise<WalletBalance>
  /**
   * What this gas costs in USDC at current fees, at a fixed price of ETH.
   * @throws SoukError `settlement_unavailable` where it would come out of what is kept for claims
   */
  feeFor(gas: bigint): Promise<Atoms>
  /**
   * Sends USDC away. Resolves when it is mined; aborting the signal ends the waiting only.
   * @throws SoukError `invalid_request`, `insufficient_funds`, and as `Submitter.submit`
   */
  withdraw(withdrawal: Withdrawal, signal?: AbortSignal): Promise<Mined>
  /** What became of it for good, as long as this node has its store; undefined before that. */
  final(withdrawal: Withdrawal): Promise<SettledTransaction | undefined>
  /** It may still be mined. Where it is not, nor final, nothing was sent. */
  isUnderWay(withdrawal: Withdrawal): boolean
}
