import { LRUCache } from 'lru-cache'
import { type Atoms, formatUsdc, limits, SoukError } from '../../lib/index.ts'
import type { Clock, Documents } from '../../lib/interface/index.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import { Slices, type SliceSource } from './slices.ts'

/** One day (UTC) of one key. */
export interface KeyDay {
  /** Of both. */
  readonly id: string
  readonly key: string
  /** Days since the epoch. */
  readonly day: number
  readonly cap: Atoms
}

/** A cap of which most is spent, or that a call was refused for. */
export interface CapLevel {
  readonly day: KeyDay
  readonly left: Atoms
  readonly isReached: boolean
}

export interface DailyCapsInit {
  readonly clock: Clock
  readonly documents: Documents
  /** Told of each level once a day, by one of the processes that share the store. Default: nobody is. */
  readonly onLevel?: (level: CapLevel) => void
}

/** By key. Slices that were taken of a day's cap count as spent, until they are given back. */
const COLLECTION = 'consumer-key-spending'

type Told = 'nearly' | 'reached'

interface SpentDocument {
  readonly day: number
  /** Atoms, as decimal digits. */
  readonly taken: string
  /** The level that was told of. */
  readonly told?: Told
}

/**
 * What the calls of a key may cost in a day, however many processes share the store: each takes slices of the cap, which are
 * written down before they are spent. So no restart opens a cap again, and a process that is killed leaves less of it, never more.
 */
export class DailyCaps {
  readonly #clock: Clock
  readonly #documents: Documents
  readonly #slices: Slices<KeyDay>
  readonly #onLevel: DailyCapsInit['onLevel']
  /** Levels told of by this process, by key and day. */
  readonly #told = new LRUCache<string, Told>({ max: limits.KEYS_CACHED_MAX })

  constructor(init: DailyCapsInit) {
    this.#onLevel = init.onLevel
    this.#clock = init.clock
    this.#documents = init.documents
    const source: SliceSource<KeyDay> = {
      take: (day, needed, wanted) => this.#take(day, needed, wanted),
      giveBack: (day, amount) => this.#giveBack(day, amount)
    }
    this.#slices = new Slices(init.clock, source)
  }

  today({ id: key, dailyCap: cap }: Pick<KeyHolder, 'id' | 'dailyCap'>): KeyDay {
    const day = Math.floor(this.#clock.now() / limits.DAY_MS)
    return { id: `${key}/${day}`, key, day, cap }
  }

  /** @throws SoukError `spend_cap_reached`, with what is `left` and when it `resets_at`; it rejects with it */
  reserve(day: KeyDay, amount: Atoms): void | Promise<void> {
    return this.#slices.reserve(day, amount)
  }

  release(day: KeyDay, amount: Atoms): void {
    this.#slices.release(day, amount)
  }

  /** Of today's cap. What other processes have taken to spend it counts as spent. */
  async left(holder: KeyHolder): Promise<Atoms> {
    const day = this.today(holder)
    const value = await this.#documents.get(COLLECTION, day.key)
    const last = value === undefined ? undefined : (JSON.parse(value) as SpentDocument)
    const taken = last === undefined || last.day < day.day ? 0n : BigInt(last.taken)
    return (day.cap > taken ? day.cap - taken : 0n) + this.#slices.atHand(day)
  }

  /** What is not spent counts as unspent from here on. */
  stop(): Promise<void> {
    return this.#slices.stop()
  }

  async #take(day: KeyDay, needed: Atoms, wanted: Atoms): Promise<Atoms> {
    const usual = day.cap / limits.KEY_CAP_SLICES
    return this.#change(day, (taken) => {
      const free = day.cap > taken ? day.cap - taken : 0n
      const left = free + this.#slices.atHand(day)
      if (left * 100n <= day.cap * (100n - limits.CAP_NEARLY_PERCENT)) this.#noteBehind(day, 'nearly', left)
      if (free < needed) {
        this.#noteBehind(day, 'reached', left)
        throw reached(day, left)
      }
      const size = [needed, wanted, usual].reduce((most, each) => (each > most ? each : most))
      return size < free ? size : free
    })
  }

  /** No call waits for it, or fails with it. */
  #noteBehind(day: KeyDay, level: Told, left: Atoms): void {
    if (this.#onLevel === undefined || this.#told.get(day.id) === level || this.#told.get(day.id) === 'reached') return
    this.#told.set(day.id, level)
    this.#note(day, level, left).catch(() => this.#told.delete(day.id))
  }

  /** The one process that writes it down tells. */
  async #note(day: KeyDay, told: Told, left: Atoms): Promise<void> {
    for (;;) {
      const before = await this.#documents.get(COLLECTION, day.key)
      const last: SpentDocument =
        before === undefined ? { day: day.day, taken: '0' } : (JSON.parse(before) as SpentDocument)
      if (last.day > day.day || (last.day === day.day && (last.told === told || last.told === 'reached'))) return
      const current = last.day === day.day ? last : { day: day.day, taken: '0' }
      const after = JSON.stringify({ ...current, told })
      const isWritten =
        before === undefined
          ? await this.#documents.insert(COLLECTION, day.key, after)
          : await this.#documents.replace(COLLECTION, day.key, before, after)
      if (isWritten) return this.#onLevel?.({ day, left, isReached: told === 'reached' })
    }
  }

  async #giveBack(day: KeyDay, amount: Atoms): Promise<void> {
    await this.#change(day, (taken, isToday) => (isToday ? -amount : 0n))
  }

  /** Adds what `change` says to what was taken of the day, and says it too. */
  async #change({ key, day }: KeyDay, change: (taken: Atoms, isToday: boolean) => Atoms): Promise<Atoms> {
    for (;;) {
      const before = await this.#documents.get(COLLECTION, key)
      const last = before === undefined ? { day, taken: '0' } : (JSON.parse(before) as SpentDocument)
      const isToday = last.day === day
      // A clock set back does not open the cap again.
      const current: SpentDocument = last.day >= day ? last : { day, taken: '0' }
      const added = change(BigInt(current.taken), isToday)
      if (added === 0n) return added
      const after = JSON.stringify({ ...current, taken: String(BigInt(current.taken) + added) })
      const isWritten =
        before === undefined
          ? await this.#documents.insert(COLLECTION, key, after)
          : await this.#documents.replace(COLLECTION, key, before, after)
      if (isWritten) return added
    }
  }
}

function reached({ day, cap }: KeyDay, left: Atoms): SoukError {
  const resetsAt = new Date((day + 1) * limits.DAY_MS).toISOString()
  const detail = `The daily cap of this key is ${formatUsdc(cap)} USDC; ${formatUsdc(left)} of it is left until ${resetsAt}.`
  return new SoukError('spend_cap_reached', detail, { members: { left: formatUsdc(left), resets_at: resetsAt } })
}
