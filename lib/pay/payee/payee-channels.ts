import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { ignore } from '../../base/ignore.ts'
import { CHAIN_VIEW_PART, CLOSED_CHANNELS_KEPT_MAX, COUNTED_LATEST_OWNER_ATOMS_MAX } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelId, ChannelPhase } from '../../interface/channel.ts'
import type { Entry, Ledger } from '../../interface/ledger.ts'
import type { ChannelSnapshot, ChannelWatch, OwnedChannel, OwnerBooks } from '../../interface/redeem.ts'
import type { Address } from '../../interface/signer.ts'
import type { Documents } from '../../interface/store.ts'
import { channelLimit } from './channel-limit.ts'
import {
  channelDocument,
  earnedOf,
  PAYEE_CHANNELS,
  PAYEE_VOUCHERS,
  PayeeChannel,
  type PayeeChannelInfo,
  type PayeeChannelState,
  receivableOf,
  readChannel,
  readVoucher
} from './payee-channel.ts'

export interface PayeeChannelsInit {
  readonly documents: Documents
  readonly ledger: Pick<Ledger, 'balance' | 'book'>
  readonly clock: Pick<Clock, 'now'>
  readonly payouts: () => Iterable<Address>
  /** This owner's settlement address. */
  readonly settlement: Address
}

/** The channels of an owner. The limit of each follows the chain once a watch is set. */
export class PayeeChannels implements OwnerBooks {
  readonly #init: PayeeChannelsInit
  readonly #channels = new Map<ChannelId, PayeeChannel>()
  /** Closed channels, in the order of closing as far as known. */
  readonly #closed = new Map<ChannelId, PayeeChannel>()
  #watch: ChannelWatch | undefined
  #forget: (() => void) | undefined
  /** Total over all channels that rests on the newest block only. */
  #onLatest: Atoms = 0n
  /** Entries about recovered amounts that are not known to be durable. */
  readonly #unbooked = new Set<Entry>()

  constructor(init: PayeeChannelsInit) {
    this.#init = init
  }

  get size(): number {
    return this.#channels.size
  }

  get(channelId: ChannelId): PayeeChannel | undefined {
    return this.#channels.get(channelId) ?? this.#closed.get(channelId)
  }

  /** Includes closed channels. */
  *all(): Iterable<PayeeChannel> {
    yield* this.#channels.values()
    yield* this.#closed.values()
  }

  countOf(peer: string): number {
    return [...this.#channels.values()].filter(({ info }) => info.peer === peer).length
  }

  *channels(): Iterable<OwnedChannel> {
    for (const { info, payeeFunds, voucher, isFinal } of this.all()) {
      const { channelId, config } = info
      if (!isFinal)
        yield { channelId, config, captured: payeeFunds.captured, ...(voucher === undefined ? {} : { voucher }) }
    }
  }

  *closed(): Iterable<OwnedChannel> {
    for (const { info, channelState, isFinal } of this.#closed.values()) {
      const { channelId, config } = info
      if (isFinal) yield { channelId, config, captured: channelState.claimed ?? 0n }
    }
  }

  payouts(): Iterable<Address> {
    return this.#init.payouts()
  }

  snapshot(channelId: ChannelId): ChannelSnapshot | undefined {
    return this.#watch?.snapshot(channelId)
  }

  /** A channel's balance at the newest block minus a pending withdrawal; 0 if the chain was not read. */
  shownAt(channelId: ChannelId): Atoms {
    const latest = this.#watch?.snapshot(channelId)?.latest
    return (latest?.balance ?? 0n) - (latest?.withdrawal?.amount ?? 0n)
  }

  /** Counts a channel's deposits again for a call, by the last read of the chain: it may need more of the new ones than then. */
  recount(channel: PayeeChannel, price: Atoms): void {
    const snapshot = this.#watch?.snapshot(channel.info.channelId)
    if (snapshot !== undefined) this.#count(channel, snapshot, price)
  }

  /** True if the last read is much younger than the channel's withdrawal delay. */
  isFresh({ info }: PayeeChannel): boolean {
    const age = this.#watch?.age(info.channelId) ?? Number.POSITIVE_INFINITY
    return age < (info.config.withdrawDelay * 1_000) / CHAIN_VIEW_PART
  }

  /**
   * Replaces the channel if it was closed. Durable when it resolves.
   * @param channelState of a channel that was closed; default: open
   */
  async add(info: PayeeChannelInfo, channelState?: PayeeChannelState): Promise<PayeeChannel> {
    const { documents } = this.#init
    // A forgotten channel that returns keeps its earlier captures and voucher.
    const channel = await this.#load(info, await documents.get(PAYEE_VOUCHERS, info.channelId), channelState)
    const closed = this.#closed.get(info.channelId)
    // Before the write, so that no write of the closed one follows it.
    closed?.payeeFunds.forget()
    await this.save(channel)
    this.#onLatest -= closed?.onLatest ?? 0n
    this.#channels.set(info.channelId, channel)
    this.#closed.delete(info.channelId)
    return channel
  }

  /**
   * Durable when it resolves.
   * @throws SoukError `payment_required` if the channel was forgotten: it may be registered again, in another state
   */
  async save(channel: PayeeChannel): Promise<void> {
    if (channel.payeeFunds.isForgotten) {
      throw new SoukError('payment_required', 'The owner does not know this channel.', { source: 'owner' })
    }
    const { collection, key, value } = channelDocument(channel)
    await this.#init.documents.put(collection, key, value)
  }

  /** Closes a channel: it admits no more calls. The watch continues until all charges are claimed for good. Durable when it resolves. */
  async close(channel: PayeeChannel): Promise<void> {
    if (channel.payeeFunds.isForgotten) return
    const { channelId } = channel.info
    channel.move('closed', { claimed: this.snapshot(channelId)?.finalized.claimed ?? 0n })
    this.#channels.delete(channelId)
    this.#closed.set(channelId, channel)
    await this.save(channel)
    const [oldest] = this.#closed.keys()
    if (this.#closed.size > CLOSED_CHANNELS_KEPT_MAX && oldest !== undefined) await this.remove(oldest)
  }

  /**
   * Forgets a channel, except an open one with earnings: a reorganisation may remove its deposit and restore it later. One that is
   * being refunded is empty because of that.
   */
  async remove(channelId: ChannelId): Promise<void> {
    const channel = this.get(channelId)
    if (channel === undefined) return
    const { payeeFunds, onLatest, channelState } = channel
    const isUsed = payeeFunds.captured + payeeFunds.reserved > 0n || channelState.refund !== undefined
    if (this.#channels.has(channelId) && isUsed) return
    payeeFunds.forget()
    this.#onLatest -= onLatest
    this.#channels.delete(channelId)
    this.#closed.delete(channelId)
    await this.#init.documents.delete(PAYEE_CHANNELS, channelId)
  }

  /** Loads the channels of an earlier process. Skips channels of another settlement address, because they cannot be claimed. */
  async start(): Promise<void> {
    const { documents, settlement } = this.#init
    for (const { key, value } of await documents.list(PAYEE_CHANNELS)) {
      const channelId = key as ChannelId
      const { info, channelState } = readChannel(channelId, value)
      if (info.config.receiverAuthorizer !== settlement) continue
      const channel = await this.#load(info, await documents.get(PAYEE_VOUCHERS, key), channelState)
      const place = channel.phase === 'closed' ? this.#closed : this.#channels
      place.set(channelId, channel)
    }
  }

  /** From now on, each read of the chain updates the limits of the channels. */
  follow(watch: ChannelWatch): void {
    this.#watch = watch
    this.#forget = watch.onLook((ids) => this.#see(watch, ids))
  }

  stop(): void {
    this.#forget?.()
  }

  async #load(
    info: PayeeChannelInfo,
    voucher: string | undefined,
    channelState?: PayeeChannelState
  ): Promise<PayeeChannel> {
    const captured = -(await this.#init.ledger.balance(earnedOf(info.channelId)))
    const known = voucher === undefined ? undefined : readVoucher(info.channelId, voucher)
    return new PayeeChannel(info, captured, known, channelState)
  }

  #see(watch: ChannelWatch, ids: readonly ChannelId[]): void {
    for (const entry of this.#unbooked) this.#bookRecovered(entry)
    for (const id of ids) {
      const [channel, snapshot] = [this.get(id), watch.snapshot(id)]
      if (channel === undefined || snapshot === undefined) continue
      if (channel.phase !== 'closed') this.#recover(channel, snapshot.latest.claimed)
      this.#count(channel, snapshot)
      this.#followLeaving(channel, snapshot)
    }
  }

  #count(channel: PayeeChannel, { latest, safe, finalized }: ChannelSnapshot, price = 0n): void {
    const { payeeFunds } = channel
    this.#onLatest -= channel.onLatest
    const { limit, onLatest } = channelLimit({
      view: {
        balance: { latest: latest.balance, safe: safe.balance, finalized: finalized.balance },
        withdrawing: latest.withdrawal?.amount ?? 0n
      },
      used: payeeFunds.captured + payeeFunds.reserved + price,
      refunding: refunding(channel, latest.refundNonce),
      latestRoom: COUNTED_LATEST_OWNER_ATOMS_MAX - this.#onLatest
    })
    payeeFunds.limitTo(limit)
    channel.onLatest = onLatest
    this.#onLatest += onLatest
  }

  /**
   * The chain shows more claimed than the ledger shows captured, because the ledger was lost or restored from a backup. The
   * claimed amount was captured, so it is booked. Otherwise the payer could spend it twice, and the owner could not claim the
   * same amount of later calls.
   */
  #recover({ info, payeeFunds }: PayeeChannel, claimed: Atoms): void {
    const { channelId } = info
    const amount = payeeFunds.recover(claimed)
    if (amount === 0n) return
    const postings = [
      { account: receivableOf(channelId), amount },
      { account: earnedOf(channelId), amount: -amount }
    ]
    const entry = { kind: 'recovered', reference: `${channelId}/${claimed}`, at: this.#init.clock.now(), postings }
    this.#unbooked.add(entry)
    // The store keeps the order of writes, so this entry comes before later captures. A crash before the write is repaired by the
    // next read.
    this.#bookRecovered(entry)
  }

  /** The next read of the chain tries it again where this fails. An entry is booked once, however often it is written. */
  #bookRecovered(entry: Entry): void {
    this.#init.ledger.book(entry).then(() => this.#unbooked.delete(entry), ignore)
  }

  /** Follows a payer's own withdrawal. If it ends with money left in the channel, the channel is open again. */
  #followLeaving(channel: PayeeChannel, { latest, finalized }: ChannelSnapshot): void {
    const { phase } = channel
    channel.isUnchanging = isDeepStrictEqual(latest, finalized)
    channel.isFunded ||= finalized.balance > 0n
    const { isUnchanging, isFunded } = channel
    const isWithdrawn = latest.withdrawal === undefined
    const isEmpty = latest.balance <= latest.claimed
    if (phase === 'closed') this.#followClaims(channel, finalized.claimed)
    else if (phase === 'open' && !isWithdrawn) this.#moveBehind(channel, 'withdrawing')
    else if (phase === 'withdrawing' && isWithdrawn && !isEmpty) this.#moveBehind(channel, 'open')
    else if (phase === 'withdrawing' && isEmpty && isFunded && isUnchanging) this.close(channel).catch(ignore)
  }

  #followClaims(channel: PayeeChannel, claimed: Atoms): void {
    if (channel.claimedAt(claimed)) this.save(channel).catch(ignore)
  }

  #moveBehind(channel: PayeeChannel, phase: ChannelPhase): void {
    channel.move(phase)
    this.save(channel).catch(ignore)
  }
}

/** The amount of a decided refund that is not mined. */
function refunding({ channelState }: PayeeChannel, nonce: bigint): Atoms {
  const { refund } = channelState
  return refund !== undefined && nonce <= refund.nonce ? refund.amount : 0n
}
