import { type Atoms, boundedMap, cappedDay, formatUsdc, leaseSize, limits, SoukError } from '../../lib/index.ts'
import type { Clock, Documents } from '../../lib/interface/index.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import { Slices, type SliceSource } from './slices.ts'

/** The daily cap of one key on one day (UTC). */
export interface KeyDay {
  /** Id of key, day and cap together. */
  readonly id: string
  readonly key: string
  /** Days since the epoch. */
  readonly day: number
  readonly cap: Atoms
}

/** A cap that is nearly spent, or for which a call was refused. */
export interface CapLevel {
  readonly day: KeyDay
  readonly left: Atoms
  readonly isReached: boolean
}

export interface DailyCapsInit {
  readonly clock: Clock
  readonly documents: Documents
  /** Called for each level once a day, by one of the processes that share the store. Default: no call. */
  readonly onLevel?: (level: CapLevel) => void
}

/** By key. Slices that processes took from a day’s cap count as spent until they are returned. */
const COLLECTION = 'consumer-key-spending'

type Told = 'nearly' | 'reached'

interface SpentDocument {
  readonly day: number
  /** Atoms, as decimal digits. */
  readonly taken: string
  /** The last level that was reported. */
  readonly told?: Told
}

/**
 * Enforces the daily cap of a key, across all processes that share the store. Each process takes slices of the cap and records them before
 * spending. A restart therefore never resets a cap, and a killed process wastes at most its slices.
 */
export class DailyCaps {
  readonly #clock: Clock
  readonly #documents: Documents
  readonly #slices: Slices<KeyDay>
  readonly #onLevel: DailyCapsInit['onLevel']
  /** Levels that this process reported, by key and day. */
  readonly #told = boundedMap<string, Told>(limits.KEYS_CACHED_MAX)

  constructor(init: DailyCapsInit) {
    this.#onLevel = init.onLevel
    this.#clock = init.clock
    this.#documents = init.documents
    const source: SliceSource<KeyDay> = {
      take: (day, needed, wanted, last) => this.#take(day, [needed, wanted, leaseSize(day.cap, last)]),
      giveBack: (day, amount) => this.#giveBack(day, amount)
    }
    this.#slices = new Slices(init.clock, source)
  }

  today({ id: key, dailyCap: cap }: Pick<KeyHolder, 'id' | 'dailyCap'>): KeyDay {
    const day = Math.floor(this.#clock.now() / limits.DAY_MS)
    // A cap that has changed takes its own slices.
    return { id: `${key}/${day}/${cap}`, key, day, cap }
  }

  /** @throws SoukError `spend_cap_reached`, with `left` and `resets_at`; may reject instead */
  reserve(day: KeyDay, amount: Atoms): void | Promise<void> {
    return this.#slices.reserve(day, amount)
  }

  release(day: KeyDay, amount: Atoms): void {
    this.#slices.release(day, amount)
  }

  /** The rest of today’s cap. Slices of other processes count as spent. */
  left(holder: Pick<KeyHolder, 'id' | 'dailyCap'>): Promise<Atoms> {
    const day = this.today(holder)
    return this.#slices.betweenTurns(day, async () => {
      const value = await this.#documents.get(COLLECTION, day.key)
      const last = value === undefined ? undefined : (JSON.parse(value) as SpentDocument)
      const taken = last === undefined || last.day < day.day ? 0n : BigInt(last.taken)
      return (day.cap > taken ? day.cap - taken : 0n) + this.#slices.atHand(day)
    })
  }

  /** Returns unspent slices. */
  stop(): Promise<void> {
    return this.#slices.stop()
  }

  async #take(day: KeyDay, sizes: readonly [needed: Atoms, wanted: Atoms, usual: Atoms]): Promise<Atoms> {
    const [needed] = sizes
    return this.#change(day, (taken) => {
      const free = day.cap > taken ? day.cap - taken : 0n
      const left = free + this.#slices.atHand(day)
      if (left * 100n <= day.cap * (100n - limits.CAP_NEARLY_PERCENT)) this.#noteBehind(day, 'nearly', left)
      if (free < needed) {
        this.#noteBehind(day, 'reached', left)
        throw reached(day, left)
      }
      const size = sizes.reduce((most, each) => (each > most ? each : most))
      return size < free ? size : free
    })
  }

  /** Runs in the background: calls neither wait for it nor fail with it. */
  #noteBehind(day: KeyDay, level: Told, left: Atoms): void {
    if (this.#onLevel === undefined || this.#told.get(day.id) === level || this.#told.get(day.id) === 'reached') return
    this.#told.set(day.id, level)
    this.#note(day, level, left).catch(() => this.#told.delete(day.id))
  }

  /** Only the process whose write succeeds reports the level. */
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

  /** Adds the result of `change` to the amount taken on the day, and returns it. */
  async #change({ key, day }: KeyDay, change: (taken: Atoms, isToday: boolean) => Atoms): Promise<Atoms> {
    for (;;) {
      const before = await this.#documents.get(COLLECTION, key)
      const last = before === undefined ? { day, taken: '0' } : (JSON.parse(before) as SpentDocument)
      const counted = cappedDay(last.day, day)
      if (before !== undefined && counted < last.day) {
        // Stored also if nothing is taken, so that the cap is free again tomorrow.
        await this.#documents.replace(COLLECTION, key, before, JSON.stringify({ ...last, day: counted }))
        continue
      }
      const isToday = last.day === day
      const current: SpentDocument = counted === last.day ? last : { day: counted, taken: '0' }
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
  const detail = `The daily cap is ${formatUsdc(cap)} USDC; ${formatUsdc(left)} of it is left until ${resetsAt}.`
  return new SoukError('spend_cap_reached', detail, { members: { left: formatUsdc(left), resets_at: resetsAt } })
}
