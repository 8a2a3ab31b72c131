import { type Atoms, limits } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import type { Feed } from './feed.ts'
import type { EndedCall } from './watch-calls.ts'

export type CallRole = EndedCall['role']

const MINUTE_MS = 60_000
const QUARTER_MS = 15 * MINUTE_MS
/** Durations are counted in logarithmic steps, eight per doubling. A quantile is accurate to a tenth. */
const STEPS_PER_DOUBLING = 8
/** Shorter durations count as this. */
const MS_MIN = 1 / 8
const STEPS_MAX = STEPS_PER_DOUBLING * 20

/** Statistics of calls over one or more time steps. */
export interface Span {
  readonly calls: number
  /** Calls with a status of 400 or more. */
  readonly errors: number
  readonly charged: Atoms
  /** Milliseconds; undefined if there were no calls. */
  readonly p50: number | undefined
  readonly p95: number | undefined
}

export interface Point extends Span {
  /** Start of the step, milliseconds since the epoch. */
  readonly at: number
}

export interface SeriesReading {
  readonly stepMs: number
  /** One point per step, oldest first, including steps without calls. */
  readonly points: readonly Point[]
  readonly total: Span
}

/** Statistics of this node’s calls since its start, per minute and per quarter of an hour. In memory only: the ledger has the totals. */
export class Series {
  readonly #started: { readonly at: number; readonly elapsed: number }
  readonly #clock: Clock
  readonly #rings: Readonly<Record<CallRole, readonly [minutes: Ring, quarters: Ring]>>
  readonly #end: () => void

  constructor({ calls, clock }: { readonly calls: Feed<EndedCall>; readonly clock: Clock }) {
    this.#clock = clock
    this.#started = { at: clock.now(), elapsed: clock.elapsed() }
    const rings = () =>
      [new Ring(MINUTE_MS, limits.SERIES_MINUTES_MAX), new Ring(QUARTER_MS, limits.SERIES_QUARTERS_MAX)] as const
    this.#rings = { owner: rings(), payer: rings() }
    this.#end = calls.listen((line) => {
      const now = clock.now()
      for (const ring of this.#rings[line.role]) ring.add(now, line)
    })
  }

  /** Start of the data, also after the clock was set back. The monotonic clock may stop while the machine sleeps. */
  get startedAt(): number {
    const { at, elapsed } = this.#started
    return Math.min(at, Math.floor(this.#clock.now() - (this.#clock.elapsed() - elapsed)))
  }

  /** Statistics since `since`, per minute as far back as minutes are kept. */
  read(role: CallRole, since: number): SeriesReading {
    const now = this.#clock.now()
    const [minutes, quarters] = this.#rings[role]
    return (now - since <= limits.SERIES_MINUTES_MAX * MINUTE_MS ? minutes : quarters).read(since, now)
  }

  stop(): void {
    this.#end()
  }
}

/** The last steps of one length. */
class Ring {
  readonly #stepMs: number
  readonly #lengthMax: number
  /** Oldest first. */
  readonly #buckets: Bucket[] = []

  constructor(stepMs: number, lengthMax: number) {
    this.#stepMs = stepMs
    this.#lengthMax = lengthMax
  }

  add(now: number, line: EndedCall): void {
    this.#present(now).add(line)
  }

  read(since: number, now: number): SeriesReading {
    const stepMs = this.#stepMs
    const last = this.#present(now).at
    const first = Math.max(this.#stepOf(since), last - (this.#lengthMax - 1) * stepMs)
    const known = new Map(this.#buckets.filter(({ at }) => at >= first).map((each) => [each.at, each]))
    const points: Point[] = []
    for (let at = first; at <= last; at += stepMs) points.push({ at, ...spanOf(known.get(at) ?? new Bucket(at)) })
    const total = new Bucket(first)
    for (const bucket of known.values()) total.merge(bucket)
    return { stepMs, points, total: spanOf(total) }
  }

  /** The bucket of this step. Later ones, from before the clock was set back, become part of it. */
  #present(now: number): Bucket {
    const at = this.#stepOf(now)
    const last = this.#buckets.at(-1)
    if (last?.at === at) return last
    const present = new Bucket(at)
    const earlier = this.#buckets.findLastIndex((bucket) => bucket.at < at) + 1
    for (const later of this.#buckets.splice(earlier)) present.merge(later)
    this.#buckets.push(present)
    if (this.#buckets.length > this.#lengthMax) this.#buckets.shift()
    return present
  }

  #stepOf(now: number): number {
    return now - (now % this.#stepMs)
  }
}

class Bucket {
  readonly at: number
  calls = 0
  errors = 0
  charged: Atoms = 0n
  /** Number of calls by duration step. */
  readonly #times = new Map<number, number>()

  constructor(at: number) {
    this.at = at
  }

  add({ status, charged, ms }: EndedCall): void {
    this.calls++
    if (status >= 400) this.errors++
    this.charged += charged
    const step = Math.min(STEPS_MAX, Math.round(Math.log2(Math.max(MS_MIN, ms)) * STEPS_PER_DOUBLING))
    this.#count(step, 1)
  }

  merge(other: Bucket): void {
    this.calls += other.calls
    this.errors += other.errors
    this.charged += other.charged
    for (const [step, count] of other.#times) this.#count(step, count)
  }

  quantile(part: number): number | undefined {
    let left = Math.ceil(this.calls * part)
    for (const [step, count] of [...this.#times].toSorted(([a], [b]) => a - b)) {
      left -= count
      if (left <= 0) return Math.round(2 ** (step / STEPS_PER_DOUBLING) * 10) / 10
    }
    return undefined
  }

  #count(step: number, count: number): void {
    this.#times.set(step, (this.#times.get(step) ?? 0) + count)
  }
}

function spanOf(bucket: Bucket): Span {
  const { calls, errors, charged } = bucket
  return { calls, errors, charged, p50: bucket.quantile(0.5), p95: bucket.quantile(0.95) }
}
