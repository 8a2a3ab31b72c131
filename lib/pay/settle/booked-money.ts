import type { Atoms } from '../../base/money.ts'
import { KeyedMutex } from '../../base/mutex.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Address } from '../../interface/signer.ts'
import type { Documents } from '../../interface/store.ts'

/** The totals that the ledger has booked for one splitter. Each only grows, except `others` and `writtenOff`. */
export interface BookedSplitter {
  readonly payout?: Address
  /** From this owner's channels; `others` is from channels that it does not know. */
  readonly claimed: Atoms
  readonly others: Atoms
  readonly settled: Atoms
  /** Money that the splitter received without a channel. */
  readonly direct: Atoms
  readonly toProvider: Atoms
  readonly toTreasury: Atoms
  /** Charges that cannot be collected any more. The amount may fall again. */
  readonly writtenOff: Atoms
}

/** The totals that the ledger has booked for one channel. */
export interface BookedChannel {
  readonly claimed: Atoms
  readonly writtenOff: Atoms
}

/** The totals of a splitter without entries. */
export const NOTHING_BOOKED: BookedSplitter = {
  claimed: 0n,
  others: 0n,
  settled: 0n,
  direct: 0n,
  toProvider: 0n,
  toTreasury: 0n,
  writtenOff: 0n
}

/** The booked totals by splitter and by channel. They are written together with the entries that change them. */
export class BookedMoney {
  readonly #documents: Documents
  readonly #splitterCollection: string
  readonly #channelCollection: string
  readonly #splitters = new Map<Address, BookedSplitter>()
  readonly #lossCollection: string
  readonly #channels = new Map<ChannelId, Atoms>()
  readonly #losses = new Map<ChannelId, Atoms>()
  readonly #turns = new KeyedMutex()

  constructor(documents: Documents, chainId: number) {
    this.#documents = documents
    this.#splitterCollection = `booked-splitters/${chainId}`
    this.#channelCollection = `booked-claims/${chainId}`
    this.#lossCollection = `booked-losses/${chainId}`
  }

  get splitters(): ReadonlyMap<Address, BookedSplitter> {
    return this.#splitters
  }

  of(splitter: Address): BookedSplitter {
    return this.#splitters.get(splitter) ?? NOTHING_BOOKED
  }

  /** The channel must be loaded. */
  claimedOf(channelId: ChannelId): Atoms {
    return this.#channels.get(channelId) ?? 0n
  }

  writtenOffOf(channelId: ChannelId): Atoms {
    return this.#losses.get(channelId) ?? 0n
  }

  async start(): Promise<void> {
    for (const { key, value } of await this.#documents.list(this.#splitterCollection)) {
      this.#splitters.set(key as Address, readSplitter(value))
    }
  }

  /** Loads the totals of these channels and drops all others, because most channels are closed. */
  async load(channels: Iterable<ChannelId>): Promise<void> {
    const wanted = new Set(channels)
    for (const id of this.#channels.keys()) if (!wanted.has(id)) this.#channels.delete(id)
    for (const id of wanted) {
      if (this.#channels.has(id)) continue
      this.#channels.set(id, BigInt((await this.#documents.get(this.#channelCollection, id)) ?? 0))
    }
    for (const { key, value } of await this.#documents.list(this.#lossCollection)) {
      this.#losses.set(key as ChannelId, BigInt(value))
    }
  }

  /** Stores the provider's payout address of a splitter. Durable when it resolves. */
  async name(splitter: Address, payout: Address): Promise<void> {
    if (this.of(splitter).payout === payout) return
    await this.change(splitter, { payout }, (documents) => this.#documents.putAll(documents))
  }

  /**
   * Applies a change once it is durable. Each change of a splitter waits for the one before, because both write the same document.
   * @param write writes the documents of the change
   */
  change(
    splitter: Address,
    change: Partial<BookedSplitter>,
    write: (documents: readonly DocumentPut[]) => Promise<unknown>,
    of?: { readonly channelId: ChannelId } & Partial<BookedChannel>
  ): Promise<void> {
    return this.#turns.run(splitter, async () => {
      const next = { ...this.of(splitter), ...change }
      const documents = [{ collection: this.#splitterCollection, key: splitter as string, value: splitterText(next) }]
      const note = (collection: string, total: Atoms | undefined) => {
        if (of !== undefined && total !== undefined) {
          documents.push({ collection, key: of.channelId, value: total.toString() })
        }
      }
      note(this.#channelCollection, of?.claimed)
      note(this.#lossCollection, of?.writtenOff)
      await write(documents)
      this.#splitters.set(splitter, next)
      if (of?.claimed !== undefined) this.#channels.set(of.channelId, of.claimed)
      if (of?.writtenOff !== undefined) this.#losses.set(of.channelId, of.writtenOff)
    })
  }
}

function splitterText({ payout, ...totals }: BookedSplitter): string {
  const texts = Object.fromEntries(Object.entries(totals).map(([name, total]) => [name, String(total)]))
  return JSON.stringify({ ...texts, ...(payout === undefined ? {} : { payout }) })
}

function readSplitter(document: string): BookedSplitter {
  const { payout, claimed, others, settled, direct, toProvider, toTreasury, writtenOff } = JSON.parse(
    document
  ) as Record<keyof Omit<BookedSplitter, 'payout' | 'writtenOff'>, string> & { payout?: Address; writtenOff?: string }
  return {
    ...(payout === undefined ? {} : { payout }),
    claimed: BigInt(claimed),
    others: BigInt(others),
    settled: BigInt(settled),
    direct: BigInt(direct),
    toProvider: BigInt(toProvider),
    toTreasury: BigInt(toTreasury),
    // Absent in documents of earlier versions.
    writtenOff: BigInt(writtenOff ?? 0)
  }
}
