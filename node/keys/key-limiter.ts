import { limits, RateLimiter, SoukError } from '../../lib/index.ts'
import { type Clock, RATE_MEMBER, type RateLimitStatus } from '../../lib/interface/index.ts'
import type { KeyHolder } from './verifier.ts'

/** A call of a key that was let through. */
export interface KeyPermit {
  readonly rate?: RateLimitStatus
  /** The call is over. Once. */
  leave(): void
}

/**
 * Holds keys to their rate and to the calls they may have under way, before anything of a call is reserved. Rotated keys count
 * with those they came of. Each process counts for itself.
 */
export class KeyLimiter {
  readonly #rates: RateLimiter
  readonly #inFlight = new Map<string, number>()
  #all = 0
  #unauthenticated = 0

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#rates = new RateLimiter(clock, limits.KEYS_CACHED_MAX)
  }

  /**
   * Without a holder, the call counts with those of its host, and of all who have no key.
   * @param host - undefined where it tells nobody apart
   * @throws SoukError `overloaded`, `rate_limited`
   */
  enter(holder: Pick<KeyHolder, 'id' | 'rateLimit'> | undefined, host?: string): KeyPermit {
    if (this.#all >= limits.IN_FLIGHT_PER_INGRESS_MAX) throw busy('This ingress has too many calls under way.')
    if (holder === undefined) return this.#enterUnauthenticated(host)
    const { id, rateLimit } = holder
    if ((this.#inFlight.get(id) ?? 0) >= limits.IN_FLIGHT_PER_KEY_MAX) {
      throw busy(`At most ${limits.IN_FLIGHT_PER_KEY_MAX} calls of one key are under way here at once.`)
    }
    const rate = rateLimit && this.#rate(id, rateLimit)
    const leave = this.#count(id)
    return rate === undefined ? { leave } : { rate, leave }
  }

  #enterUnauthenticated(host: string | undefined): KeyPermit {
    if (this.#unauthenticated >= limits.IN_FLIGHT_STRANGERS_MAX) {
      throw busy('This ingress has too many calls without a key under way.')
    }
    // No id of a key has a space.
    const id = host === undefined ? undefined : `host ${host}`
    if (id !== undefined && (this.#inFlight.get(id) ?? 0) >= limits.IN_FLIGHT_PER_HOST_MAX) {
      throw busy(
        `At most ${limits.IN_FLIGHT_PER_HOST_MAX} calls without a key are under way here at once for one host.`
      )
    }
    this.#unauthenticated++
    const leave = this.#count(id)
    return {
      leave: () => {
        this.#unauthenticated--
        leave()
      }
    }
  }

  #count(id: string | undefined): () => void {
    this.#all++
    if (id !== undefined) this.#inFlight.set(id, (this.#inFlight.get(id) ?? 0) + 1)
    return () => {
      this.#all--
      if (id === undefined) return
      const left = (this.#inFlight.get(id) ?? 0) - 1
      if (left > 0) this.#inFlight.set(id, left)
      else this.#inFlight.delete(id)
    }
  }

  #rate(id: string, limit: NonNullable<KeyHolder['rateLimit']>): RateLimitStatus {
    const { isWithin, remaining, resetMs } = this.#rates.take(id, limit)
    const { calls, perMs } = limit
    if (isWithin) return { policy: KEY_POLICY, calls, perMs, remaining, resetMs }
    throw new SoukError('rate_limited', 'Too many calls with this key in a short time.', {
      retryAfterMs: resetMs,
      members: { [RATE_MEMBER]: { policy: KEY_POLICY, calls, per_ms: perMs, remaining, reset_ms: resetMs } }
    })
  }
}

/** Name of a key's own limit, beside those of listings and plans. */
const KEY_POLICY = 'key'

function busy(detail: string): SoukError {
  return new SoukError('overloaded', detail, { retryAfterMs: limits.OVERLOAD_PAUSE_MS })
}
