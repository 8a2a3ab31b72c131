import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'
import { SoukError } from './errors.ts'
import { RATE_CALLS_MAX, RATE_PER_MS_MAX, RATE_SHARES } from './limits.ts'

/** So many calls in so long. They may come at once, or as many as `burst` says; after that one each `perMs / calls`. */
export interface RateLimit {
  /** 1 to `RATE_CALLS_MAX`. */
  readonly calls: number
  /** Milliseconds, 1 to `RATE_PER_MS_MAX`. */
  readonly perMs: number
  /** Calls that may come at once. Default `calls`. */
  readonly burst?: number
}

/** What a limit says to one call. */
export interface Rating {
  readonly isWithin: boolean
  /** Calls that could come at once after this one. */
  readonly remaining: number
  /** Until there is room for one more, milliseconds; 0 where there is room for as many as ever. */
  readonly resetMs: number
}

/**
 * How much of a limit is used: each call fills in `perMs`, and it runs out at `calls`. In microseconds times calls, so that all of
 * it is whole numbers, below 2⁵³ by the limits: nothing is ever rounded.
 */
interface Bucket {
  level: number
  /** Microseconds on the monotonic clock. */
  at: number
  limit: RateLimit
}

/** @throws SoukError `invalid_request` */
export function checkRateLimit({ calls, perMs, burst = calls }: RateLimit): void {
  const isSound = isWithin(calls, RATE_CALLS_MAX) && isWithin(burst, RATE_CALLS_MAX) && isWithin(perMs, RATE_PER_MS_MAX)
  if (isSound) return
  throw new SoukError(
    'invalid_request',
    `A rate limit is 1 to ${RATE_CALLS_MAX} calls in 1 to ${RATE_PER_MS_MAX} milliseconds.`
  )
}

const isWithin = (value: number, most: number): boolean => Number.isInteger(value) && value >= 1 && value <= most

/**
 * Rate limits by the generic cell rate algorithm (ITU-T I.371, as a leaky bucket): exact, without timers, two numbers for each key.
 *
 * Of at most `keysMax` keys it knows what they used. A key that has used nothing for a while is forgotten at no loss. Where all of
 * them are in use, nobody known is forgotten for a newcomer, which would give it its whole limit anew: newcomers then share one
 * limit with others of their `group`.
 */
export class RateLimiter {
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #keysMax: number
  /** Made with the first key: it holds room for all of them. */
  #buckets: LRUCache<string, Bucket> | undefined
  readonly #shared = new Map<number, Bucket>()

  constructor(clock: Pick<Clock, 'elapsed'>, keysMax: number) {
    this.#clock = clock
    this.#keysMax = keysMax
  }

  /** Counts one call, unless it is one too many. A limit that differs from the last one leaves the same part of it used. */
  take(key: string, limit: RateLimit, group = ''): Rating {
    const now = Math.round(this.#clock.elapsed() * 1_000)
    const bucket = this.#bucketOf(key, limit, group, now)
    const level = levelAt(bucket, now, limit)
    const { isWithin } = rating(limit, level)
    bucket.level = isWithin ? level + sizes(limit).perCall : level
    bucket.at = now
    bucket.limit = limit
    return { ...rating(limit, bucket.level), isWithin }
  }

  /** What `take` would say. Nothing is counted. */
  peek(key: string, limit: RateLimit, group = ''): Rating {
    const now = Math.round(this.#clock.elapsed() * 1_000)
    const bucket = this.#knownOf(key, group)
    return rating(limit, bucket === undefined ? 0 : levelAt(bucket, now, limit))
  }

  /** The last call did not take place after all. */
  giveBack(key: string, limit: RateLimit, group = ''): void {
    const now = Math.round(this.#clock.elapsed() * 1_000)
    const bucket = this.#knownOf(key, group)
    if (bucket === undefined) return
    bucket.level = Math.max(0, levelAt(bucket, now, limit) - sizes(limit).perCall)
    bucket.at = now
    bucket.limit = limit
  }

  #bucketOf(key: string, limit: RateLimit, group: string, now: number): Bucket {
    const buckets = (this.#buckets ??= new LRUCache({ max: this.#keysMax }))
    const known = buckets.get(key)
    if (known !== undefined) return known
    if (buckets.size >= this.#keysMax) {
      const [oldestKey = ''] = buckets.rkeys()
      const oldest = buckets.peek(oldestKey)
      if (oldest !== undefined && levelAt(oldest, now, oldest.limit) > 0) return this.#sharedBy(group, limit, now)
      buckets.delete(oldestKey)
    }
    const bucket = { level: 0, at: now, limit }
    buckets.set(key, bucket)
    return bucket
  }

  /** Without making one. */
  #knownOf(key: string, group: string): Bucket | undefined {
    return this.#buckets?.get(key) ?? this.#shared.get(hash(group) % RATE_SHARES)
  }

  #sharedBy(group: string, limit: RateLimit, now: number): Bucket {
    const share = hash(group) % RATE_SHARES
    const bucket = this.#shared.get(share) ?? { level: 0, at: now, limit }
    this.#shared.set(share, bucket)
    return bucket
  }
}

function sizes({ calls, perMs, burst = calls }: RateLimit): { readonly perCall: number; readonly whole: number } {
  const perCall = perMs * 1_000
  return { perCall, whole: burst * perCall }
}

/** What a limit of which `used` is used says to the next call. */
function rating(limit: RateLimit, used: number): Rating {
  const { perCall, whole } = sizes(limit)
  const remaining = Math.floor((whole - used) / perCall)
  // Rounded up: a caller that comes back after a time rounded down is refused again.
  const resetMs = Math.ceil(Math.max(0, used - whole + (remaining + 1) * perCall) / limit.calls) / 1_000
  return { isWithin: used <= whole - perCall, remaining, resetMs: used === 0 ? 0 : resetMs }
}

/** What is left of it by now, under a limit that may be new. */
function levelAt({ level, at, limit }: Bucket, now: number, under: RateLimit): number {
  // A product past 2⁵³ is rounded, and larger than any level.
  const left = Math.max(0, level - (now - at) * limit.calls)
  if (left === 0 || limit === under || isSame(limit, under)) return left
  return Math.floor((left / sizes(limit).whole) * sizes(under).whole)
}

function isSame(a: RateLimit, b: RateLimit): boolean {
  return a.calls === b.calls && a.perMs === b.perMs && (a.burst ?? a.calls) === (b.burst ?? b.calls)
}

/** FNV-1a. */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193) >>> 0
  return sum
}
