import type { ApiId } from '../base/api-name.ts'
import { addTally, noTally, percentile, tally, type Tally } from '../base/call-statistics.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { asSoukError } from '../base/errors.ts'
import {
  SELF_REPORT_CALLS_MIN,
  SELF_REPORT_DAYS,
  SELF_REPORT_MS_MAX,
  SELF_REPORT_PATIENCE_MS,
  SELF_REPORT_WRITE_MS
} from '../base/limits/directory.ts'
import { DAY_MS } from '../base/limits/time.ts'
import { type CallOutcomeSeen, seenResponse, seenError } from '../base/outcome-seen.ts'
import type { CallResponse, CallWatcher, IncomingCall } from '../interface/call.ts'
import type { SelfReport } from '../interface/manifest.ts'
import type { Documents } from '../interface/store.ts'

const TRACK_RECORD = 'track_record'

/** Rounding steps: down for calls and success, up for latency. So a report is never better than the counts. */
const CALL_STEPS = [1, 2, 5]
const MS_STEPS = [1, 1.5, 2, 3, 5, 7, 10]
const PER_MILLE_STEPS = [1_000, 999, 995, 990, 980, 950, 900, 800, 500, 0]

export interface TrackRecordInit {
  readonly documents: Documents
  readonly clock: Clock
  /** Whether this provider owns the API and this node serves it. */
  readonly isOwn: (api: ApiId) => boolean
}

/**
 * Counts the results of own listings' calls per UTC day, for the self-report in their manifests. Written
 * asynchronously: a crash loses up to a minute of counts.
 */
export class TrackRecord implements CallWatcher {
  readonly #init: TrackRecordInit
  /** Counts by API, then by day number. */
  readonly #apis = new Map<ApiId, Map<number, Tally>>()
  readonly #changed = new Set<ApiId>()
  #writing: Timer | undefined

  constructor(init: TrackRecordInit) {
    this.#init = init
  }

  async start(): Promise<void> {
    const { documents, clock } = this.#init
    for (const { key, value } of await documents.list(TRACK_RECORD)) {
      const kept = Object.entries(JSON.parse(value) as Record<string, Tally>)
      const days = kept.map(([day, counts]) => [Number(day), counts] as const)
      const isOver = !days.some(([day]) => isWithin(day, clock.now()))
      if (isOver) await documents.delete(TRACK_RECORD, key)
      else this.#apis.set(key as ApiId, new Map(days))
    }
  }

  /** Writes pending counts. */
  async stop(): Promise<void> {
    this.#writing?.cancel()
    this.#writing = undefined
    await this.#write()
  }

  /** Replayed responses are not counted. */
  onAnswer(call: IncomingCall, { status, replayed }: CallResponse, ms: number): void {
    if (isOfApi(call) && replayed !== true) this.#count(call.api, seenResponse(status, ms))
  }

  /** Early cancellations are not counted, because a caller may cancel at any time. After a long wait they count against the API. */
  onError(call: IncomingCall, error: unknown, ms: number, signal: AbortSignal): void {
    if (!isOfApi(call) || (signal.aborted && ms < SELF_REPORT_PATIENCE_MS)) return
    this.#count(call.api, seenError(asSoukError(error)))
  }

  /** Undefined where there are too few calls. */
  report(api: ApiId): SelfReport | undefined {
    const now = this.#init.clock.now()
    const all = noTally()
    for (const [day, counts] of this.#apis.get(api) ?? []) if (isWithin(day, now)) addTally(all, counts)
    const calls = all.good + all.bad
    if (calls < SELF_REPORT_CALLS_MIN) return undefined
    const perMille = Math.floor((1_000 * all.good) / calls)
    const [p50Ms, p95Ms] = [percentile(all, 0.5), percentile(all, 0.95)]
    return {
      until: now,
      days: SELF_REPORT_DAYS,
      calls: stepDown(calls),
      goodPerMille: PER_MILLE_STEPS.find((step) => step <= perMille) ?? 0,
      ...(p50Ms === undefined ? {} : { p50Ms: stepUp(p50Ms) }),
      ...(p95Ms === undefined ? {} : { p95Ms: stepUp(p95Ms) })
    }
  }

  #count(api: ApiId, outcome: CallOutcomeSeen | undefined): void {
    const { clock, isOwn } = this.#init
    if (outcome === undefined || !isOwn(api)) return
    const day = dayOf(clock.now())
    const days = this.#apis.get(api) ?? new Map<number, Tally>()
    this.#apis.set(api, days)
    const counts = days.get(day) ?? noTally()
    days.set(day, counts)
    tally(counts, outcome)
    this.#changed.add(api)
    this.#writing ??= clock.after(SELF_REPORT_WRITE_MS, () => {
      this.#writing = undefined
      void this.#write().catch(() => {})
    })
  }

  async #write(): Promise<void> {
    const { clock, documents } = this.#init
    const changed = [...this.#changed]
    this.#changed.clear()
    const now = clock.now()
    for (const api of changed) {
      const days = this.#apis.get(api) ?? new Map<number, Tally>()
      for (const day of days.keys()) if (!isWithin(day, now)) days.delete(day)
      await documents.put(TRACK_RECORD, api, JSON.stringify(Object.fromEntries(days)))
    }
  }
}

/** False for calls about subscriptions, and for payments for running streams. */
function isOfApi({ service, stream }: IncomingCall): boolean {
  return service === undefined && stream === undefined
}

/** True where two reports have the same figures, whatever their dates. */
export function sameReport(a: SelfReport | undefined, b: SelfReport | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  const { calls, goodPerMille, p50Ms, p95Ms } = a
  return calls === b.calls && goodPerMille === b.goodPerMille && p50Ms === b.p50Ms && p95Ms === b.p95Ms
}

const dayOf = (now: number): number => Math.floor(now / DAY_MS)

/** True for today and the days before it, `SELF_REPORT_DAYS` in all. */
function isWithin(day: number, now: number): boolean {
  return day <= dayOf(now) && day > dayOf(now) - SELF_REPORT_DAYS
}

function stepDown(calls: number): number {
  const scale = 10 ** Math.floor(Math.log10(calls))
  return scale * (CALL_STEPS.findLast((step) => step * scale <= calls) ?? 1)
}

function stepUp(ms: number): number {
  const scale = 10 ** Math.floor(Math.log10(Math.max(1, ms)))
  const step = MS_STEPS.find((each) => each * scale >= ms) ?? 10
  return Math.min(SELF_REPORT_MS_MAX, Math.ceil(step * scale))
}
