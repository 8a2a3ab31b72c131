import { max } from '../../base/bigints.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import { BOOKS_POLL_MS, PROVIDERS_READ_AT_ONCE, WATCHED_AT_ONCE } from '../../base/limits/chain.ts'
import type { Atoms } from '../../base/money.ts'
import type { Block, Chain, ReceiverState, SplitterState } from '../../interface/chain.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { DocumentPut, Ledger } from '../../interface/ledger.ts'
import type { ChannelWatch, OwnedChannel, OwnerBooks } from '../../interface/redeem.ts'
import type { Address } from '../../interface/signer.ts'
import type { Documents } from '../../interface/store.ts'
import { type BookedChannel, BookedMoney, type BookedSplitter } from './booked-money.ts'
import {
  claimEntry,
  directEntry,
  distributeEntry,
  type MoneyEntry,
  othersEntry,
  settleEntry,
  writeOffEntry
} from './settlement-entries.ts'
import type { SplitterFactory } from '../chain/splitter.ts'

export interface BookkeeperInit {
  readonly chain: Pick<Chain, 'parameters' | 'block' | 'channels' | 'receiver' | 'splitter'>
  readonly clock: Clock
  readonly documents: Documents
  readonly ledger: Pick<Ledger, 'book'>
  readonly books: OwnerBooks
  /** The last known state of the chain. */
  readonly watch: Pick<ChannelWatch, 'snapshot'>
  readonly factory: SplitterFactory
  readonly onError: (error: SoukError) => void
}

/**
 * Books an owner's money after its capture. Reads the chain's counters at one final block and books their growth. The ledger
 * therefore agrees with the chain after claims, settlements and payouts by others, and after any downtime. Only final blocks
 * count, so no booking is ever reversed by a reorganisation.
 */
export class Bookkeeper {
  readonly #init: BookkeeperInit
  readonly #booked: BookedMoney
  /** Channels that hold less than was charged, with the newest block when that was first seen. */
  readonly #shortSince = new Map<ChannelId, bigint>()
  readonly #named = new Set<Address>()
  #asOf: Block | undefined
  #looking: Promise<void> | undefined
  #timer: Timer | undefined
  #isRunning = false

  constructor(init: BookkeeperInit) {
    this.#init = init
    this.#booked = new BookedMoney(init.documents, init.chain.parameters.chainId)
  }

  /** The last final block in the ledger. */
  get asOf(): Block | undefined {
    return this.#asOf
  }

  /** All splitters with entries, and their booked totals. */
  splitters(): ReadonlyMap<Address, BookedSplitter> {
    return this.#booked.splitters
  }

  /** The claimed amount of a channel, as booked. */
  claimedOf(channelId: ChannelId): Atoms {
    return this.#booked.claimedOf(channelId)
  }

  /** The written-off amount of a channel's charges, which cannot be collected any more. */
  writtenOffOf(channelId: ChannelId): Atoms {
    return this.#booked.writtenOffOf(channelId)
  }

  /**
   * Stores a payout address. Call it before a call earns for it: its splitter does not reveal it, and the provider may change it at any
   * time. Durable when it resolves; undefined if it is stored already.
   */
  name(payout: Address): Promise<void> | undefined {
    if (this.#named.has(payout)) return undefined
    const naming = this.#booked.name(this.#init.factory.splitterOf(payout), payout)
    return naming.then(() => void this.#named.add(payout))
  }

  /** Loads the totals of an earlier process. The first read of the chain runs in the background. */
  async start(): Promise<void> {
    if (this.#isRunning) return
    await this.#booked.start()
    await this.#load()
    this.#isRunning = true
    void this.#poll()
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.#timer?.cancel()
    await this.#looking?.catch(() => undefined)
  }

  /**
   * Books everything that is final by now. Concurrent callers share one read.
   * @throws SoukError `settlement_unavailable` if the endpoint does not respond
   */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #poll(): Promise<void> {
    await this.look().catch((error: unknown) => this.#init.onError(asSoukError(error)))
    if (this.#isRunning) this.#timer = this.#init.clock.after(BOOKS_POLL_MS, () => void this.#poll())
  }

  async #look(): Promise<void> {
    const block = await this.#init.chain.block('finalized')
    if (block === undefined) throw new SoukError('settlement_unavailable', 'The chain has no finalized block.')
    await this.#load()
    // An endpoint that fell behind has nothing new.
    if (this.#asOf !== undefined && block.number <= this.#asOf.number) return
    await this.#nameProviders()
    await this.#writeOff(block)
    const channels = this.#channelsBySplitter()
    const splitters = [...new Set([...channels.keys(), ...this.#booked.splitters.keys()])]
    for (let i = 0; i < splitters.length; i += PROVIDERS_READ_AT_ONCE) {
      const some = splitters.slice(i, i + PROVIDERS_READ_AT_ONCE)
      await Promise.all(some.map((splitter) => this.#follow(splitter, channels.get(splitter) ?? [], block)))
    }
    this.#asOf = block
  }

  async #load(): Promise<void> {
    const { books } = this.#init
    await this.#booked.load([...books.channels(), ...books.closed()].map(({ channelId }) => channelId))
  }

  /** Earlier versions stored no payout address at the first paid call. */
  async #nameProviders(): Promise<void> {
    for (const payout of new Set(this.#init.books.payouts())) await this.name(payout)
  }

  #channelsBySplitter(): Map<Address, ChannelId[]> {
    const found = new Map<Address, ChannelId[]>()
    const { books } = this.#init
    const unbooked = [...books.closed()].filter(({ channelId, captured }) => this.claimedOf(channelId) < captured)
    for (const { channelId, config } of [...books.channels(), ...unbooked]) {
      const own = found.get(config.receiver)
      if (own === undefined) found.set(config.receiver, [channelId])
      else own.push(channelId)
    }
    return found
  }

  async #follow(splitter: Address, channels: readonly ChannelId[], block: Block): Promise<void> {
    const { chain } = this.#init
    const [receiver, split] = await Promise.all([
      chain.receiver(splitter, block.number),
      chain.splitter(splitter, block.number)
    ])
    const { claimed, others } = this.#booked.of(splitter)
    // The contract's total over all channels of a receiver. While it is unchanged, no channel was claimed from.
    if (receiver.claimed > claimed + others) await this.#bookClaims(splitter, channels, receiver, block)
    await this.#bookMoves(splitter, receiver, split, block)
  }

  async #bookClaims(
    splitter: Address,
    channels: readonly ChannelId[],
    receiver: ReceiverState,
    block: Block
  ): Promise<void> {
    for (let i = 0; i < channels.length; i += WATCHED_AT_ONCE) {
      const some = channels.slice(i, i + WATCHED_AT_ONCE)
      const { channels: states } = await this.#init.chain.channels(some, block.number)
      for (const [j, channelId] of some.entries()) {
        await this.#bookClaim(splitter, channelId, states[j]?.claimed ?? 0n, block)
      }
    }
    const { claimed, others } = this.#booked.of(splitter)
    const amount = receiver.claimed - claimed - others
    if (amount === 0n) return
    await this.#book(othersEntry({ splitter, block, amount }), block, splitter, { others: others + amount })
  }

  async #bookClaim(splitter: Address, channelId: ChannelId, total: Atoms, block: Block): Promise<void> {
    const amount = total - this.#booked.claimedOf(channelId)
    if (amount <= 0n) return
    const { claimed } = this.#booked.of(splitter)
    const entry = claimEntry({ splitter, channelId, total, amount })
    await this.#book(entry, block, splitter, { claimed: claimed + amount }, { channelId, claimed: total })
  }

  // Uncollectable charges.

  /**
   * Writes off charges that no channel holds money for: a reorganisation removed the deposit, or the payer withdrew before the
   * claim. Waits until the newest block that showed it is final.
   */
  async #writeOff(block: Block): Promise<void> {
    // All charges of these are claimed for good, which reverses any earlier write-off.
    for (const { channelId, config } of this.#init.books.closed()) {
      await this.#bookLoss(config.receiver, channelId, 0n, block)
    }
    const short = [...this.#init.books.channels()].filter((channel) => this.#seemsShort(channel))
    const ids = new Set(short.map(({ channelId }) => channelId))
    for (const id of this.#shortSince.keys()) if (!ids.has(id)) this.#shortSince.delete(id)
    for (let i = 0; i < short.length; i += WATCHED_AT_ONCE) {
      await this.#writeOffSome(short.slice(i, i + WATCHED_AT_ONCE), block)
    }
  }

  #seemsShort({ channelId, captured }: OwnedChannel): boolean {
    if (this.writtenOffOf(channelId) > 0n) return true
    const snapshot = this.#init.watch.snapshot(channelId)
    return snapshot !== undefined && snapshot.latest.balance < captured
  }

  async #writeOffSome(channels: readonly OwnedChannel[], block: Block): Promise<void> {
    const { chain } = this.#init
    const ids = channels.map(({ channelId }) => channelId)
    const [head, final] = await Promise.all([chain.channels(ids, 'latest'), chain.channels(ids, block.number)])
    for (const [i, { channelId, config, captured }] of channels.entries()) {
      const [latest, finalized] = [head.channels[i], final.channels[i]]
      if (latest === undefined || finalized === undefined) continue
      const atHead = above(captured, max(latest.balance, finalized.balance))
      const forGood = above(captured, finalized.balance)
      // An earlier read must have found it, so that an endpoint that fell behind causes no write-off.
      const since = this.#shortSince.get(channelId)
      if (atHead === 0n) this.#shortSince.delete(channelId)
      else if (since === undefined) this.#shortSince.set(channelId, head.block.number)
      const before = this.writtenOffOf(channelId)
      const isFinal = since !== undefined && since <= block.number
      // Recovered money counts once it is final, as everything in the ledger.
      const after = isFinal && atHead > before ? atHead : before > forGood ? forGood : before
      await this.#bookLoss(config.receiver, channelId, after, block)
    }
  }

  async #bookLoss(splitter: Address, channelId: ChannelId, total: Atoms, block: Block): Promise<void> {
    const amount = total - this.writtenOffOf(channelId)
    if (amount === 0n) return
    const entry = writeOffEntry({ channelId, block, total, amount })
    const change = { writtenOff: this.#booked.of(splitter).writtenOff + amount }
    await this.#book(entry, block, splitter, change, { channelId, writtenOff: total })
  }

  async #bookMoves(splitter: Address, { settled }: ReceiverState, split: SplitterState, block: Block): Promise<void> {
    const booked = this.#booked.of(splitter)
    const newlySettled = settled - booked.settled
    if (newlySettled > 0n) {
      await this.#book(settleEntry({ splitter, total: settled, amount: newlySettled }), block, splitter, { settled })
    }
    const direct = split.received - settled
    const newlyDirect = direct - booked.direct
    if (newlyDirect > 0n) {
      await this.#book(directEntry({ splitter, total: direct, amount: newlyDirect }), block, splitter, { direct })
    }
    const { toProvider, toTreasury } = split
    const amounts = { provider: toProvider - booked.toProvider, treasury: toTreasury - booked.toTreasury }
    if (amounts.provider < 0n || amounts.treasury < 0n || amounts.provider + amounts.treasury === 0n) return
    const entry = distributeEntry({ splitter, totals: split, amounts })
    await this.#book(entry, block, splitter, { toProvider, toTreasury })
  }

  /** The entry and the new totals become durable together. */
  async #book(
    entry: MoneyEntry,
    { at }: Block,
    splitter: Address,
    change: Partial<BookedSplitter>,
    of?: { readonly channelId: ChannelId } & Partial<BookedChannel>
  ): Promise<void> {
    const write = (documents: readonly DocumentPut[]) => this.#init.ledger.book({ ...entry, at }, documents)
    await this.#booked.change(splitter, change, write, of)
  }
}

/** How much `a` exceeds `b`; at least 0. */
const above = (a: Atoms, b: Atoms): Atoms => (a > b ? a - b : 0n)
