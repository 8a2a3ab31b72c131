import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../base/clock.ts'
import { CHAIN_VIEW_PART, CLOSED_CHANNELS_KEPT_MAX, COUNTED_LATEST_OWNER_ATOMS_MAX } from '../../base/limits.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelId, ChannelPhase } from '../../interface/channel.ts'
import type { Ledger } from '../../interface/ledger.ts'
import type { ChannelSnapshot, ChannelWatch, ClosedChannel, OwnedChannel, OwnerBooks } from '../../interface/redeem.ts'
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
  type PayeeStanding,
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

/** The channels of an owner. What each is good for follows the chain once it is watched. */
export class PayeeChannels implements OwnerBooks {
  readonly #init: PayeeChannelsInit
  readonly #channels = new Map<ChannelId, PayeeChannel>()
  /** The oldest first, as far as it is known. */
  readonly #closed = new Map<ChannelId, PayeeChannel>()
  #watch: ChannelWatch | undefined
  #forget: (() => void) | undefined
  /** What counts on the newest block only, over all channels. */
  #onLatest: Atoms = 0n

  constructor(init: PayeeChannelsInit) {
    this.#init = init
  }

  get size(): number {
    return this.#channels.size
  }

  get(channelId: ChannelId): PayeeChannel | undefined {
    return this.#channels.get(channelId) ?? this.#closed.get(channelId)
  }

  /** Closed ones as well. */
  *all(): Iterable<PayeeChannel> {
    yield* this.#channels.values()
    yield* this.#closed.values()
  }

  countOf(peer: string): number {
    return [...this.#channels.values()].filter(({ info }) => info.peer === peer).length
  }

  *channels(): Iterable<OwnedChannel> {
    for (const { info, tab, voucher, isFinal } of this.all()) {
      const { channelId, config } = info
      if (!isFinal) yield { channelId, config, captured: tab.captured, ...(voucher === undefined ? {} : { voucher }) }
    }
  }

  *closed(): Iterable<ClosedChannel> {
    for (const { info, standing, tab, isFinal } of this.#closed.values()) {
      if (!isFinal) continue
      const { channelId, config } = info
      const { claimed } = standing
      if (claimed === undefined) yield { channelId, config, captured: 0n }
      else yield { channelId, config, captured: claimed, lost: claimed < tab.captured ? tab.captured - claimed : 0n }
    }
  }

  payouts(): Iterable<Address> {
    return this.#init.payouts()
  }

  snapshot(channelId: ChannelId): ChannelSnapshot | undefined {
    return this.#watch?.snapshot(channelId)
  }

  /** What the head of the chain shows of a channel, a withdrawal that has begun taken off; 0 where it was not looked at. */
  shownAt(channelId: ChannelId): Atoms {
    const latest = this.#watch?.snapshot(channelId)?.latest
    return (latest?.balance ?? 0n) - (latest?.withdrawal?.amount ?? 0n)
  }

  /** The view is younger than what a withdrawal takes, by far. */
  isFresh({ info }: PayeeChannel): boolean {
    const age = this.#watch?.age(info.channelId) ?? Number.POSITIVE_INFINITY
    return age < (info.config.withdrawDelay * 1_000) / CHAIN_VIEW_PART
  }

  /** Durable when it resolves. */
  async add(info: PayeeChannelInfo): Promise<PayeeChannel> {
    const { documents } = this.#init
    // One that was forgotten and comes again goes on where it was.
    const channel = await this.#load(info, await documents.get(PAYEE_VOUCHERS, info.channelId))
    await this.save(channel)
    this.#channels.set(info.channelId, channel)
    return channel
  }

  /** Durable when it resolves. */
  async save(channel: PayeeChannel): Promise<void> {
    const { collection, key, value } = channelDocument(channel)
    await this.#init.documents.put(collection, key, value)
  }

  /** Nothing of it is owed either way any more. It is watched until that is final. Durable when it resolves. */
  async close(channel: PayeeChannel): Promise<void> {
    const { channelId } = channel.info
    channel.move('closed', this.snapshot(channelId)?.latest.claimed ?? channel.tab.captured)
    this.#channels.delete(channelId)
    this.#closed.set(channelId, channel)
    await this.save(channel)
    const [oldest] = this.#closed.keys()
    if (this.#closed.size > CLOSED_CHANNELS_KEPT_MAX && oldest !== undefined) await this.remove(oldest)
  }

  /** Forgets a channel, unless it is open and earned something: what it held may have been taken back, and come again. */
  async remove(channelId: ChannelId): Promise<void> {
    const tab = this.#channels.get(channelId)?.tab
    if (tab !== undefined && tab.captured + tab.reserved > 0n) return
    this.#channels.delete(channelId)
    this.#closed.delete(channelId)
    await this.#init.documents.delete(PAYEE_CHANNELS, channelId)
  }

  /** Reads what an earlier process left. From channels made with another wallet nothing can be claimed: they are left alone. */
  async start(): Promise<void> {
    const { documents, settlement } = this.#init
    for (const { key, value } of await documents.list(PAYEE_CHANNELS)) {
      const channelId = key as ChannelId
      const { info, standing } = readChannel(channelId, value)
      if (info.config.receiverAuthorizer !== settlement) continue
      const channel = await this.#load(info, await documents.get(PAYEE_VOUCHERS, key), standing)
      const place = channel.phase === 'closed' ? this.#closed : this.#channels
      place.set(channelId, channel)
    }
  }

  /** From now on each look at the chain moves what channels are good for. */
  follow(watch: ChannelWatch): void {
    this.#watch = watch
    this.#forget = watch.onLook((ids) => this.#see(watch, ids))
  }

  stop(): void {
    this.#forget?.()
  }

  async #load(info: PayeeChannelInfo, voucher: string | undefined, standing?: PayeeStanding): Promise<PayeeChannel> {
    const captured = -(await this.#init.ledger.balance(earnedOf(info.channelId)))
    const known = voucher === undefined ? undefined : readVoucher(info.channelId, voucher)
    return new PayeeChannel(info, captured, known, standing)
  }

  #see(watch: ChannelWatch, ids: readonly ChannelId[]): void {
    for (const id of ids) {
      const [channel, snapshot] = [this.get(id), watch.snapshot(id)]
      if (channel === undefined || snapshot === undefined) continue
      const { latest, safe, finalized } = snapshot
      this.#onLatest -= channel.onLatest
      const { limit, onLatest } = channelLimit({
        view: {
          balance: { latest: latest.balance, safe: safe.balance, finalized: finalized.balance },
          withdrawing: latest.withdrawal?.amount ?? 0n
        },
        refunding: refunding(channel, latest.refundNonce),
        latestRoom: COUNTED_LATEST_OWNER_ATOMS_MAX - this.#onLatest
      })
      if (channel.phase !== 'closed') this.#recover(channel, latest.claimed)
      channel.tab.limitTo(limit)
      channel.onLatest = onLatest
      this.#onLatest += onLatest
      this.#followLeaving(channel, snapshot)
    }
  }

  /**
   * More was claimed than the books know to be captured: they are lost, or come from a backup. What was claimed was captured.
   * Without this the payer could spend it a second time, and of what he spends anew as much could not be claimed.
   */
  #recover({ info, tab }: PayeeChannel, claimed: Atoms): void {
    const { ledger, clock } = this.#init
    const { channelId } = info
    const amount = tab.recover(claimed)
    if (amount === 0n) return
    const postings = [
      { account: receivableOf(channelId), amount },
      { account: earnedOf(channelId), amount: -amount }
    ]
    // Before anything that is captured from now on, as the store keeps the order: what a crash leaves out is found again.
    ledger.book({ kind: 'recovered', reference: `${channelId}/${claimed}`, at: clock.now(), postings }).catch(ignore)
  }

  /** The payer leaves by himself: what he did not take, or was given back before, stays open. */
  #followLeaving(channel: PayeeChannel, { latest, finalized }: ChannelSnapshot): void {
    const { phase } = channel
    const isFinal = isDeepStrictEqual(latest, finalized)
    const isWithdrawn = latest.withdrawal === undefined
    const isEmpty = latest.balance <= latest.claimed
    if (phase === 'closed') channel.isFinal = isFinal
    else if (phase === 'open' && !isWithdrawn) this.#moveBehind(channel, 'withdrawing')
    else if (phase === 'withdrawing' && isWithdrawn && !isEmpty) this.#moveBehind(channel, 'open')
    else if (phase === 'withdrawing' && isEmpty && isFinal) this.close(channel).catch(ignore)
  }

  #moveBehind(channel: PayeeChannel, phase: ChannelPhase): void {
    channel.move(phase)
    this.save(channel).catch(ignore)
  }
}

/** The store tells whoever has to stop the process. */
const ignore = (): void => undefined

/** What was decided and is not mined. */
function refunding({ standing }: PayeeChannel, nonce: bigint): Atoms {
  const { refund } = standing
  return refund !== undefined && nonce <= refund.nonce ? refund.amount : 0n
}
