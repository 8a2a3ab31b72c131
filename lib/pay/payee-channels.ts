import { CHAIN_VIEW_PART, COUNTED_LATEST_OWNER_ATOMS_MAX } from '../base/limits.ts'
import type { Atoms } from '../base/money.ts'
import type { ChannelId } from '../interface/channel.ts'
import type { Ledger } from '../interface/ledger.ts'
import type { ChannelWatch, OwnedChannel, OwnerBooks } from '../interface/redeem.ts'
import type { Address } from '../interface/signer.ts'
import type { Documents } from '../interface/store.ts'
import { channelLimit } from './channel-limit.ts'
import {
  channelDocument,
  earnedOf,
  PAYEE_CHANNELS,
  PAYEE_VOUCHERS,
  PayeeChannel,
  type PayeeChannelInfo,
  readChannel,
  readVoucher
} from './payee-channel.ts'

export interface PayeeChannelsInit {
  readonly documents: Documents
  readonly ledger: Pick<Ledger, 'balance'>
  readonly payouts: () => Iterable<Address>
}

/** The channels of an owner. What each is good for follows the chain once it is watched. */
export class PayeeChannels implements OwnerBooks {
  readonly #init: PayeeChannelsInit
  readonly #channels = new Map<ChannelId, PayeeChannel>()
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
    return this.#channels.get(channelId)
  }

  countOf(peer: string): number {
    return [...this.#channels.values()].filter(({ info }) => info.peer === peer).length
  }

  *channels(): Iterable<OwnedChannel> {
    for (const { info, tab, voucher } of this.#channels.values()) {
      const { channelId, config } = info
      yield { channelId, config, captured: tab.captured, ...(voucher === undefined ? {} : { voucher }) }
    }
  }

  payouts(): Iterable<Address> {
    return this.#init.payouts()
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
    const { collection, key, value } = channelDocument(info)
    await documents.put(collection, key, value)
    // One that was forgotten and comes again goes on where it was.
    const channel = await this.#load(info, await documents.get(PAYEE_VOUCHERS, info.channelId))
    this.#channels.set(info.channelId, channel)
    return channel
  }

  /** Forgets a channel that never had anything in it. */
  async remove(channelId: ChannelId): Promise<void> {
    this.#channels.delete(channelId)
    await this.#init.documents.delete(PAYEE_CHANNELS, channelId)
  }

  /** Reads what an earlier process left. */
  async start(): Promise<void> {
    const { documents } = this.#init
    const vouchers = new Map((await documents.list(PAYEE_VOUCHERS)).map(({ key, value }) => [key, value]))
    for (const { key, value } of await documents.list(PAYEE_CHANNELS)) {
      const channelId = key as ChannelId
      this.#channels.set(channelId, await this.#load(readChannel(channelId, value), vouchers.get(key)))
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

  async #load(info: PayeeChannelInfo, voucher: string | undefined): Promise<PayeeChannel> {
    const captured = -(await this.#init.ledger.balance(earnedOf(info.channelId)))
    return new PayeeChannel(info, captured, voucher === undefined ? undefined : readVoucher(info.channelId, voucher))
  }

  #see(watch: ChannelWatch, ids: readonly ChannelId[]): void {
    for (const id of ids) {
      const [channel, snapshot] = [this.#channels.get(id), watch.snapshot(id)]
      if (channel === undefined || snapshot === undefined) continue
      const { latest, safe, finalized } = snapshot
      this.#onLatest -= channel.onLatest
      const { limit, onLatest } = channelLimit({
        view: {
          balance: { latest: latest.balance, safe: safe.balance, finalized: finalized.balance },
          withdrawing: latest.withdrawal?.amount ?? 0n
        },
        refunding: 0n,
        latestRoom: COUNTED_LATEST_OWNER_ATOMS_MAX - this.#onLatest
      })
      channel.tab.limitTo(limit)
      channel.onLatest = onLatest
      this.#onLatest += onLatest
    }
  }
}
