import { boundedMap, type RecentMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'
import { SoukError } from './errors.ts'
import { RATE_CALLS_MAX, RATE_PER_MS_MAX, RATE_SHARES } from './limits/admission.ts'

/** A rate limit: `calls` per `perMs`. Up to `burst` calls may come at once, then one per `perMs / calls`. */
export interface RateLimit {
  /** 1 to `RATE_CALLS_MAX`. */
  readonly calls: number
  /** Milliseconds, 1 to `RATE_PER_MS_MAX`. */
  readonly perMs: number
  /** Calls that may come at once. Default `calls`. */
  readonly burst?: number
}

/** The rate-limit status of one call. */
export interface Rating {
  readonly isWithin: boolean
  /** Calls that may still come at once after this one. */
  readonly remaining: number
  /** Milliseconds until one more call is allowed; 0 where the whole burst is available. */
  readonly resetMs: number
}

/**
 * The used part of a limit. A call adds `perMs`; the level falls by `calls` per time unit. The unit is microseconds
 * times calls, which keeps all values integers below 2⁵³, so nothing is rounded.
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
 * Rate limits by the generic cell rate algorithm (ITU-T I.371, as a leaky bucket). It is exact and needs two numbers
 * per key, and no timers.
 *
 * The limiter stores up to `keysMax` keys. Idle keys are evicted without loss. While all keys are active none is evicted,
 * because an evicted key would start with its full limit again. New keys then share one limit per `group`.
 *
 * @example
 * ```ts
 * import { RateLimiter, systemClock } from 'souk'
 *
 * const limiter = new RateLimiter(systemClock, 1_000)
 * const limit = { calls: 2, perMs: 60_000 }
 * limiter.take('ann', limit)
 * limiter.take('ann', limit)
 * console.log(limiter.take('ann', limit).isWithin) // false
 * ```
 */
export class RateLimiter {
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #keysMax: number
  readonly #buckets: RecentMap<string, Bucket>
  readonly #shared = new Map<number, Bucket>()

  constructor(clock: Pick<Clock, 'elapsed'>, keysMax: number) {
    this.#clock = clock
    this.#keysMax = keysMax
    this.#buckets = boundedMap(keysMax)
  }

  /** True until the first `take`. */
  get isUnused(): boolean {
    return this.#buckets.size === 0
  }

  /** Counts one call if the limit allows it. A changed limit keeps the same used fraction. */
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

  /** The result that `take` would return. Counts nothing. */
  peek(key: string, limit: RateLimit, group = ''): Rating {
    const now = Math.round(this.#clock.elapsed() * 1_000)
    const bucket = this.#knownOf(key, group)
    return rating(limit, bucket === undefined ? 0 : levelAt(bucket, now, limit))
  }

  /** Reverts the last counted call. */
  giveBack(key: string, limit: RateLimit, group = ''): void {
    const now = Math.round(this.#clock.elapsed() * 1_000)
    const bucket = this.#knownOf(key, group)
    if (bucket === undefined) return
    bucket.level = Math.max(0, levelAt(bucket, now, limit) - sizes(limit).perCall)
    bucket.at = now
    bucket.limit = limit
  }

  #bucketOf(key: string, limit: RateLimit, group: string, now: number): Bucket {
    const buckets = this.#buckets
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

  /** The bucket of a key, if it exists. */
  #knownOf(key: string, group: string): Bucket | undefined {
    return this.#buckets.get(key) ?? this.#shared.get(hash(group) % RATE_SHARES)
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

/** The status of the next call when `used` of the limit is used. */
function rating(limit: RateLimit, used: number): Rating {
  const { perCall, whole } = sizes(limit)
  const remaining = Math.floor((whole - used) / perCall)
  // Rounded up: a caller that returns after a time rounded down would be refused again.
  const resetMs = Math.ceil(Math.max(0, used - whole + (remaining + 1) * perCall) / limit.calls) / 1_000
  return { isWithin: used <= whole - perCall, remaining, resetMs: used === 0 ? 0 : resetMs }
}

/** The current level of a bucket, converted to the limit `under`. */
function levelAt({ level, at, limit }: Bucket, now: number, under: RateLimit): number {
  // A product above 2⁵³ is inexact, but larger than any level.
  const left = Math.max(0, level - (now - at) * limit.calls)
  if (left === 0 || limit === under || isSame(limit, under)) return left
  return Math.floor((left / sizes(limit).whole) * sizes(under).whole)
}

function isSame(a: RateLimit, b: RateLimit): boolean {
  return a.calls === b.calls && a.perMs === b.perMs && (a.burst ?? a.calls) === (b.burst ?? b.calls)
}

/** FNV-1a hash. */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193) >>> 0
  return sum
}
