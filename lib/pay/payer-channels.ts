import type { Clock, Timer } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { PAYER_ENTRIES_MAX, PAYER_WRITE_MS } from '../base/limits.ts'
import type { ChannelId } from '../interface/channel.ts'
import type { DocumentPut, Entry, Ledger } from '../interface/ledger.ts'
import type { Documents } from '../interface/store.ts'
import type { CapLease, DailyCap } from './daily-cap.ts'
import {
  depositedIn,
  PAYER_CHANNELS,
  PAYER_STATE,
  PayerChannel,
  payerDocument,
  readPayerChannel,
  spentThrough
} from './payer-channel.ts'
import { Purse, type PurseRules } from './purse.ts'

export interface PayerChannelsInit {
  readonly documents: Documents
  readonly ledger: Pick<Ledger, 'book' | 'balance'>
  readonly rules: PurseRules
  readonly cap: DailyCap
  readonly clock: Clock
}

const COUNTER = 'counter'
const CAP = 'cap'

/** What an earlier process leased of the daily cap. */
export async function lastLease(documents: Documents): Promise<CapLease | undefined> {
  const kept = await documents.get(PAYER_STATE, CAP)
  if (kept === undefined) return undefined
  const { day, leased } = JSON.parse(kept) as { day: number; leased: string }
  return { day, leased: BigInt(leased) }
}

/**
 * A payer's channels and books, and how they are kept. What calls change is written behind, many at once, and what a crash
 * loses of it, the owners' books tell. What money depends on is waited for.
 */
export class PayerChannels {
  readonly #init: PayerChannelsInit
  readonly #byPlace = new Map<string, PayerChannel>()
  readonly #changed = new Set<PayerChannel>()
  #entries: Array<readonly [Entry, readonly DocumentPut[]]> = []
  #timer: Timer | undefined
  #counter = 0n
  #leasing: Promise<boolean> | undefined

  constructor(init: PayerChannelsInit) {
    this.#init = init
  }

  /** The channel to one owner for one receiver. */
  get(owner: string, receiver: string): PayerChannel | undefined {
    return this.#byPlace.get(placeOf(owner, receiver))
  }

  all(): Iterable<PayerChannel> {
    return this.#byPlace.values()
  }

  async start(): Promise<void> {
    const { documents, ledger, rules, cap } = this.#init
    this.#counter = BigInt((await documents.get(PAYER_STATE, COUNTER)) ?? 0)
    for (const { key, value } of await documents.list(PAYER_CHANNELS)) {
      const { info, ceiling, spent, deposit, pending, isDisputed } = readPayerChannel(key as ChannelId, value)
      const booked = await ledger.balance(spentThrough(info.channelId))
      const state = { ceiling, spent: spent > booked ? spent : booked, deposit, isWhole: false }
      const channel = new PayerChannel(info, new Purse(state, rules, cap), pending, isDisputed)
      channel.booked = booked
      this.#place(channel)
    }
  }

  /** Writes what is waiting. */
  async stop(): Promise<void> {
    await this.#flush()
  }

  /** A number that no channel of this node had before, nor will have: durable when it resolves. */
  async nextCounter(): Promise<bigint> {
    const counter = ++this.#counter
    await this.#init.documents.put(PAYER_STATE, COUNTER, counter.toString())
    return counter
  }

  /** Takes the next slice of the daily cap; false where there is none. Durable when it resolves. */
  lease(): Promise<boolean> {
    this.#leasing ??= this.#lease().finally(() => {
      this.#leasing = undefined
    })
    return this.#leasing
  }

  /** Durable when it resolves. */
  async add(channel: PayerChannel): Promise<void> {
    await this.save(channel)
    this.#place(channel)
  }

  /** Durable when it resolves. */
  async save(channel: PayerChannel): Promise<void> {
    await this.#init.documents.put(PAYER_CHANNELS, channel.info.channelId, payerDocument(channel))
  }

  /** Nothing more is paid through it. */
  dispute(channel: PayerChannel): void {
    channel.isDisputed = true
    this.touch(channel)
  }

  /** Has the channel written behind, with an entry where there is one. */
  touch(channel: PayerChannel, entry?: Entry, documents: readonly DocumentPut[] = []): void {
    this.#changed.add(channel)
    if (entry !== undefined) this.#entries.push([entry, documents])
    if (this.#entries.length >= PAYER_ENTRIES_MAX) void this.#flush()
    else this.#timer ??= this.#init.clock.after(PAYER_WRITE_MS, () => void this.#flush())
  }

  /** All in one turn, so that it is one commit. The store tells whoever has to stop the process when it fails. */
  async #flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    const { ledger } = this.#init
    const writes: Array<Promise<unknown>> = []
    for (const channel of this.#changed) {
      this.#bookUnheard(channel)
      writes.push(this.save(channel))
    }
    for (const [entry, documents] of this.#entries) writes.push(ledger.book(entry, documents))
    this.#changed.clear()
    this.#entries = []
    await Promise.allSettled(writes)
  }

  /** What an owner captured without this node ever hearing the answer, or remembering it: its books said so. */
  #bookUnheard(channel: PayerChannel): void {
    const { channelId } = channel.info
    const { spent } = channel.purse
    const amount = spent - channel.booked
    if (amount <= 0n) return
    channel.booked = spent
    const postings = [
      { account: spentThrough(channelId), amount },
      { account: depositedIn(channelId), amount: -amount }
    ]
    const reference = `${channelId}/${spent}`
    this.#entries.push([{ kind: 'unheard', reference, at: this.#init.clock.now(), postings }, []])
  }

  async #lease(): Promise<boolean> {
    const { cap, clock, documents } = this.#init
    const lease = cap.next(clock.now())
    if (lease === undefined) return false
    await documents.put(PAYER_STATE, CAP, JSON.stringify({ day: lease.day, leased: lease.leased.toString() }))
    cap.grant(lease)
    return true
  }

  #place(channel: PayerChannel): void {
    const { owner, config } = channel.info
    this.#byPlace.set(placeOf(owner, config.receiver), channel)
  }
}

const placeOf = (owner: string, receiver: string): string => `${owner}/${receiver}`

export function disputed(): SoukError {
  return new SoukError(
    'settlement_unavailable',
    'This owner says that more was paid than this node ever promised; nothing more is paid to it.'
  )
}
