import type { SoukError } from '../base/errors.ts'
import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { ChannelState } from './chain.ts'
import type { ChannelConfig, ChannelId, DepositAuthorization, Voucher } from './channel.ts'
import type { Address } from './signer.ts'
import type { Mined } from './submitter.ts'

/** A channel's state at the last query of the chain. */
export interface ChannelSnapshot {
  readonly latest: ChannelState
  readonly safe: ChannelState
  readonly finalized: ChannelState
}

/** Reads an owner's channels from the chain: all of them in turn, and any of them on request. */
export interface ChannelWatch {
  /** Undefined before the first query. */
  snapshot(id: ChannelId): ChannelSnapshot | undefined
  /** Milliseconds since the chain had the snapshot's state; Infinity before the first query. */
  age(id: ChannelId): number
  /** Queries the chain now. @throws SoukError `settlement_unavailable` */
  refresh(ids: readonly ChannelId[]): Promise<void>
  /** Called after each query with the channels it read. Returns a function that stops listening. */
  onLook(listener: (ids: readonly ChannelId[]) => void): () => void
  /** Resolves after the first query, successful or not. */
  start(): Promise<void>
  stop(): void
}

/** A channel in its owner's books. */
export interface OwnedChannel {
  readonly channelId: ChannelId
  readonly config: ChannelConfig
  /** Voucher with the highest valid ceiling. Absent where nothing was paid yet. */
  readonly voucher?: Voucher
  /** Durable total of charges. */
  readonly captured: Atoms
}

/** The owner's books, as chain code needs them. Queried often, so they respond from memory. */
export interface OwnerBooks {
  /** Every channel with money in it or to come, or with charges that are not claimed for good. */
  channels(): Iterable<OwnedChannel>
  /** Channels closed for good, with nothing lost. Their `captured` is the amount finally claimed, which may not be booked yet. */
  closed(): Iterable<OwnedChannel>
  /** Addresses that the splitters of the served providers pay out to. */
  payouts(): Iterable<Address>
}

/** Money that the token refuses to move for now: it is paused, or has frozen an account. It stays where it is. */
export interface Withheld {
  /** The account that the token does not pay: a splitter, the payout address or the treasury. */
  readonly to: Address
  readonly amount: Atoms
  /** The token's own words. */
  readonly reason: string
}

/** Result of one redemption round. */
export interface Redemption {
  /** `claimed` from channels, `settled` to splitters, and `distributed` by splitters to both sides. */
  readonly claimed: Atoms
  readonly settled: Atoms
  readonly distributed: Atoms
  readonly transactions: readonly Mined[]
  /** Channels whose claims the contract rejects, with its reason. All other claims were made without them. */
  readonly refused: ReadonlyArray<{ readonly channelId: ChannelId; readonly reason: string }>
  /** Amounts that the token refuses to move. Later rounds try again. */
  readonly withheld: readonly Withheld[]
}

export interface RedeemerStatus {
  /** Claimable amount at the last query of the chain. */
  readonly claimable: Atoms
  /** Number of claims that the account's gas covers. Absent before the first query. */
  readonly claimsInHand?: number
  readonly refused: Redemption['refused']
  /** Amounts that the token refused to move in the last round. */
  readonly withheld: readonly Withheld[]
  /** Milliseconds since the epoch. */
  readonly lastAt?: number
}

/** Submits payers' deposits, and moves earned money to providers and treasury. */
export interface Redeemer {
  /**
   * Checks that this much gas can be spent on a payer's behalf while enough remains for claims.
   * @param gas default 0: only checks the gas for claims
   * @throws SoukError `settlement_unavailable` saying what is missing
   */
  checkGas(gas?: bigint): void
  /**
   * Reads the account's balance again if the last one does not cover this much gas, as right after a first top-up. At most once
   * per `GAS_READ_MS`.
   * @param gas as in `checkGas`
   * @returns the error of `checkGas`; undefined if there is enough gas
   * @throws SoukError `settlement_unavailable` if the chain cannot be read
   */
  refreshGas(gas?: bigint): Promise<SoukError | undefined>
  /** True if the account's ETH, as last read, covers `CREDIT_CLAIMS_IN_HAND_MIN` claims beside all that is submitted. */
  isGasAmple(): boolean
  /** Cost of this much gas at current fees and a fixed price of ETH. @throws SoukError `settlement_unavailable` */
  costOf(gas: bigint): Atoms
  /** True where this or an earlier process submitted the deposit. */
  isDepositing(config: ChannelConfig, salt: bigint): boolean
  /** Hash of the deposit's last sent version. Undefined before it is sent, and long after it is final. */
  depositHash(config: ChannelConfig, salt: bigint): Hex | undefined
  /**
   * Has a payer's deposit mined. Repeating the call returns the same deposit. The watch has read the channel when this
   * resolves, and shows how much of the deposit counts.
   * @param onSubmitting called if the contract would accept the deposit now and this call is the first to submit it. Nothing is sent
   *   if it throws
   * @throws SoukError `payment_rejected` where the contract would reject it or it reverted, `settlement_unavailable`
   *   where it would use the gas reserved for claims, and any error of `Submitter.submit`
   */
  deposit(
    config: ChannelConfig,
    authorization: DepositAuthorization,
    signal?: AbortSignal,
    onSubmitting?: () => void | Promise<void>
  ): Promise<Mined>
  /**
   * Claims a channel's debt because its payer withdraws, even if the gas costs more. Resolves when it is mined; claims
   * nothing where nothing is due.
   * @throws SoukError like `deposit`
   */
  claim(channelId: ChannelId, signal?: AbortSignal): Promise<Redemption>
  /**
   * Refunds at most `amount` of the unclaimed rest to the payer. `nonce` is the channel's `refundNonce` at the time of
   * the decision. Store it with the decision: then the same refund is never paid twice.
   * @throws SoukError like `deposit`
   */
  refund(
    refund: { readonly config: ChannelConfig; readonly amount: Atoms; readonly nonce: bigint },
    signal?: AbortSignal
  ): Promise<Mined>
  /**
   * Claims, settles and pays out everything, even if the gas costs more. Resolves when it is mined.
   * @throws SoukError like `Submitter.submit`
   */
  settleNow(signal?: AbortSignal): Promise<Redemption>
  /** Why the token would refuse to pay this address now; undefined if it would not, or the endpoint does not tell. */
  payoutRefusal(payout: Address): Promise<string | undefined>
  /**
   * A splitter received money that did not come through channels. It is paid out at the same amount or age as claims.
   */
  received(amount: Atoms): void
  /** True from reading the captured amounts for claims until their transactions are planned. */
  readonly isClaiming: boolean
  status(): RedeemerStatus
  start(): Promise<void>
  /** Resolves when no round is running. Submitted transactions continue. */
  stop(): Promise<void>
}
