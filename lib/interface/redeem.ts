import type { Atoms } from '../base/money.ts'
import type { ChannelState } from './chain.ts'
import type { ChannelConfig, ChannelId, DepositAuthorization, Voucher } from './channel.ts'
import type { Address } from './signer.ts'
import type { Mined } from './submitter.ts'

/** A channel as the chain last showed it. */
export interface ChannelSnapshot {
  readonly latest: ChannelState
  readonly safe: ChannelState
  readonly finalized: ChannelState
}

/** Looks at an owner's channels on the chain, all of them in turn and any of them when asked. */
export interface ChannelWatch {
  /** Undefined before the first look. */
  snapshot(id: ChannelId): ChannelSnapshot | undefined
  /** Milliseconds since the chain was as the snapshot shows it; Infinity before the first look. */
  age(id: ChannelId): number
  /** Looks now. @throws SoukError `settlement_unavailable` */
  refresh(ids: readonly ChannelId[]): Promise<void>
  /** Told after each look, of the channels looked at. */
  onLook(listener: (ids: readonly ChannelId[]) => void): () => void
  /** Resolves after the first look, whether it succeeded or not. */
  start(): Promise<void>
  stop(): void
}

/** A channel in its owner's books. */
export interface OwnedChannel {
  readonly channelId: ChannelId
  readonly config: ChannelConfig
  /** Of the highest ceiling that was found sound; absent where nothing was paid yet. */
  readonly voucher?: Voucher
  /** S: what was charged in all, as far as that is durable. */
  readonly captured: Atoms
}

/** A channel that nothing moves in any more. */
export interface ClosedChannel extends OwnedChannel {
  /** Charged and never claimed: it cannot be collected any more. Default 0. */
  readonly lost?: Atoms
}

/** What the chain's side needs to know of an owner's books. Asked often, and answered from memory. */
export interface OwnerBooks {
  /** Every channel with money in it or to come. */
  channels(): Iterable<OwnedChannel>
  /** Those closed for good: what was claimed from them is final, though it may not be booked yet. That is their `captured`. */
  closed(): Iterable<ClosedChannel>
  /** Of the providers whose APIs this owner serves: where their splitters pay out to. */
  payouts(): Iterable<Address>
}

/** What a round of fetching money did. */
export interface Redemption {
  /** Claimed from channels; moved to splitters; in splitters as it was paid out to both sides. */
  readonly claimed: Atoms
  readonly settled: Atoms
  readonly distributed: Atoms
  readonly transactions: readonly Mined[]
  /** Channels whose claims the contract refuses, and its reason; everything else was claimed without them. */
  readonly refused: ReadonlyArray<{ readonly channelId: ChannelId; readonly reason: string }>
}

export interface RedeemerStatus {
  /** What channels owe as the chain was last seen. */
  readonly claimable: Atoms
  /** How many claims the account's gas lasts for; absent before the first look. */
  readonly claimsInHand?: number
  readonly refused: Redemption['refused']
  /** Milliseconds since the epoch. */
  readonly lastAt?: number
}

/** Brings payers' deposits in, and earned money out to providers and treasury. */
export interface Redeemer {
  /**
   * That this much gas can be spent on a payer's behalf, and enough is left to claim what channels earn.
   * @param gas default 0: only that enough is left
   * @throws SoukError `settlement_unavailable` saying what is missing
   */
  checkGas(gas?: bigint): void
  /** What this much gas costs at current fees, at a fixed price of ETH. @throws SoukError `settlement_unavailable` */
  costOf(gas: bigint): Atoms
  /** The deposit was submitted, by this process or an earlier one. */
  isDepositing(config: ChannelConfig, salt: bigint): boolean
  /**
   * Has a payer's deposit mined; asking again while it runs, or after, is the same deposit. What of it counts, the watch
   * shows: it has looked when this resolves.
   * @throws SoukError `payment_rejected` where the contract would refuse it or it failed, `settlement_unavailable` where its gas
   *   would come out of the reserve for claims, and as `Submitter.submit`
   */
  deposit(config: ChannelConfig, authorization: DepositAuthorization, signal?: AbortSignal): Promise<Mined>
  /**
   * Claims what this channel owes because its payer leaves, whether it is worth the gas or not. Resolves when it is mined, with
   * nothing claimed where nothing is owed.
   * @throws SoukError as `deposit`
   */
  claim(channelId: ChannelId, signal?: AbortSignal): Promise<Redemption>
  /**
   * Gives a payer back what is not claimed, at most `amount`. `nonce` is the channel's `refundNonce` when that was decided,
   * and belongs on disk together with the decision: with it the same refund can never be paid twice.
   * @throws SoukError as `deposit`
   */
  refund(
    refund: { readonly config: ChannelConfig; readonly amount: Atoms; readonly nonce: bigint },
    signal?: AbortSignal
  ): Promise<Mined>
  /**
   * Claims, settles and pays out everything, whether it is worth the gas or not. Resolves when it is mined.
   * @throws SoukError as `Submitter.submit`
   */
  settleNow(signal?: AbortSignal): Promise<Redemption>
  /** Money came to a splitter otherwise than through channels: it is paid out when it is as much, or as old, as claims are. */
  received(amount: Atoms): void
  status(): RedeemerStatus
  start(): Promise<void>
  /** Resolves when no round is under way any more; what has been submitted goes on. */
  stop(): Promise<void>
}
