import { boundedMap, type RecentMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'

/** A rate: `burst` at once, then `perSecond`. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

/**
 * One token bucket per key, for at most `keysMax` keys. The least recently used one is evicted, and starts full when it
 * returns.
 */
export class TokenBuckets {
  readonly #rate: Rate
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #buckets: RecentMap<string, { tokens: number; at: number }>

  constructor(rate: Rate, keysMax: number, clock: Pick<Clock, 'elapsed'>) {
    this.#rate = rate
    this.#clock = clock
    this.#buckets = boundedMap(keysMax)
  }

  /** Takes one token. Returns false where none is left. */
  take(key: string): boolean {
    const { burst, perSecond } = this.#rate
    const now = this.#clock.elapsed()
    const bucket = this.#buckets.get(key) ?? { tokens: burst, at: now }
    const tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond)
    const isAllowed = tokens >= 1
    this.#buckets.set(key, { tokens: isAllowed ? tokens - 1 : tokens, at: now })
    return isAllowed
  }
}
