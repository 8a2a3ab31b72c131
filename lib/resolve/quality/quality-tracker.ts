import { type ApiId, isApiName, isProviderId } from '../../base/api-name.ts'
import { RecentMap } from '../../base/bounded-map.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import { QUALITY_APIS_MAX, QUALITY_WRITE_MS, SERVERS_MAX } from '../../base/limits/directory.ts'
import type { Grade, ListingIndex } from '../../interface/listing-index.ts'
import type { CallOutcomeSeen } from '../../base/outcome-seen.ts'
import type { Quality } from '../../interface/quality.ts'
import type { Documents } from '../../interface/store.ts'
import {
  type CallCounts,
  countCall,
  fade,
  isNothing,
  noCalls,
  percentile,
  together
} from '../../base/call-statistics.ts'
import { ignore } from '../../base/ignore.ts'
import { splitId } from '../directory/keys.ts'

const QUALITY = 'quality'
/** Assumed score before the first call: most APIs work, and one failed call must not rank an API below unknown ones. */
const PRIOR_SCORE = 0.8
const PRIOR_CALLS = 10
/** Assumed latency before the first call. Latencies are averaged by logarithm. */
const PRIOR_MS = 300
const PRIOR_MS_CALLS = 5

export interface QualityTrackerInit {
  readonly documents: Documents
  readonly index: Pick<ListingIndex, 'grade'>
  readonly clock: Clock
}

/**
 * Quality of APIs from this node's own calls, by owner. Counts are small, decay, and are written asynchronously. A
 * crash loses a few seconds of counts.
 */
export class QualityTracker {
  readonly #init: QualityTrackerInit
  readonly #apis: RecentMap<ApiId, Map<string, CallCounts>>
  readonly #changed = new Set<ApiId>()
  #writing: Timer | undefined

  constructor(init: QualityTrackerInit) {
    this.#init = init
    this.#apis = new RecentMap({
      maxSize: QUALITY_APIS_MAX,
      sizeCalculation: () => 1,
      dispose: (_counts, id, reason) => {
        if (reason === 'evict') void init.documents.delete(QUALITY, id).catch(ignore)
      }
    })
  }

  /** Loads the stored counts. */
  async start(): Promise<void> {
    for (const { key, value } of await this.#init.documents.list(QUALITY)) {
      const { name, provider } = splitId(key as ApiId)
      if (!isApiName(name) || !isProviderId(provider)) continue
      this.#apis.set(key as ApiId, new Map(Object.entries(JSON.parse(value) as Record<string, CallCounts>)))
    }
  }

  /** Writes pending counts. */
  async stop(): Promise<void> {
    this.#writing?.cancel()
    this.#writing = undefined
    await this.#write()
  }

  observe(id: ApiId, owner: string, outcome: CallOutcomeSeen): void {
    const { clock } = this.#init
    const now = clock.now()
    const owners = this.#apis.get(id) ?? this.#added(id)
    const counts = owners.get(owner) ?? noCalls(now)
    countCall(counts, outcome, now)
    // Owners change, so the least recently called one is dropped. Most APIs have one owner, which is in its place already.
    if (owners.size !== 1 || !owners.has(owner)) {
      owners.delete(owner)
      owners.set(owner, counts)
      const [oldest] = owners.keys()
      if (owners.size > SERVERS_MAX && oldest !== undefined) owners.delete(oldest)
    }
    this.#changed.add(id)
    this.#writing ??= clock.after(QUALITY_WRITE_MS, () => {
      this.#writing = undefined
      void this.#write().catch(ignore)
    })
  }

  #added(id: ApiId): Map<string, CallCounts> {
    const owners = new Map<string, CallCounts>()
    this.#apis.set(id, owners)
    return owners
  }

  of(id: ApiId): Quality {
    const counts = this.#countsOf(id)
    const calls = counts.good + counts.bad
    const score = (counts.good + PRIOR_SCORE * PRIOR_CALLS) / (calls + PRIOR_CALLS)
    if (isNothing(counts)) return { score, calls: 0 }
    const [p50Ms, p95Ms] = [percentile(counts, 0.5), percentile(counts, 0.95)]
    return {
      score,
      calls,
      successRate: counts.good / calls,
      ...(p50Ms === undefined ? {} : { p50Ms }),
      ...(p95Ms === undefined ? {} : { p95Ms })
    }
  }

  gradeOf(id: ApiId): Grade {
    const { score, p50Ms } = this.of(id)
    if (p50Ms === undefined) return { quality: score }
    const { good } = this.#countsOf(id)
    const log = (good * Math.log(p50Ms) + PRIOR_MS_CALLS * Math.log(PRIOR_MS)) / (good + PRIOR_MS_CALLS)
    return { quality: score, latencyMs: Math.exp(log) }
  }

  #countsOf(id: ApiId): CallCounts {
    const now = this.#init.clock.now()
    return together([...(this.#apis.peek(id)?.values() ?? [])], now)
  }

  async #write(): Promise<void> {
    const { documents, index, clock } = this.#init
    const ids = [...this.#changed]
    this.#changed.clear()
    const now = clock.now()
    await Promise.all(
      ids.map(async (id) => {
        const owners = this.#apis.peek(id)
        if (owners === undefined) return
        for (const counts of owners.values()) fade(counts, now)
        const rounded = [...owners].map(([owner, counts]) => [owner, shortened(counts)])
        await documents.put(QUALITY, id, JSON.stringify(Object.fromEntries(rounded)))
      })
    )
    if (ids.length > 0) await index.grade(ids.map((id) => ({ id, ...this.gradeOf(id) })))
  }
}

/** Rounds to three decimals, which is enough for these counts. */
function shortened({ good, bad, latencies, at }: CallCounts): CallCounts {
  const short = (count: number) => Math.round(count * 1_000) / 1_000
  return { good: short(good), bad: short(bad), latencies: latencies.map(short), at }
}
