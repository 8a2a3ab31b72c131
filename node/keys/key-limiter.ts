import { limits, RateLimiter, SoukError } from '../../lib/index.ts'
import { type Clock, RATE_MEMBER, type RateLimitStatus } from '../../lib/interface/index.ts'
import type { KeyHolder } from './verifier.ts'

/** A permit for one call of a key. */
export interface KeyPermit {
  readonly rate?: RateLimitStatus
  /** Must be called once, when the call is over. */
  leave(): void
}

/**
 * Limits the rate and the concurrent calls of each key, before a call reserves anything. A rotated key shares the limits of its
 * predecessors. Each process counts separately.
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
   * Takes a permit. Without a holder, the call counts for its host and for all unauthenticated callers.
   * @param host - undefined if it identifies no client
   * @throws SoukError `overloaded`, `rate_limited`
   */
  enter(holder: Pick<KeyHolder, 'id' | 'rateLimit'> | undefined, host?: string): KeyPermit {
    if (this.#all >= limits.IN_FLIGHT_PER_INGRESS_MAX) throw busy('This ingress has too many calls in progress.')
    if (holder === undefined) return this.#enterUnauthenticated(host)
    const { id, rateLimit } = holder
    if ((this.#inFlight.get(id) ?? 0) >= limits.IN_FLIGHT_PER_KEY_MAX) {
      throw busy(`A key may have at most ${limits.IN_FLIGHT_PER_KEY_MAX} calls in progress here.`)
    }
    const rate = rateLimit && this.#rate(id, rateLimit)
    const leave = this.#count(id)
    return rate === undefined ? { leave } : { rate, leave }
  }

  #enterUnauthenticated(host: string | undefined): KeyPermit {
    if (this.#unauthenticated >= limits.IN_FLIGHT_STRANGERS_MAX) {
      throw busy('This ingress has too many calls without a key in progress.')
    }
    // Key ids contain no space, so this cannot collide.
    const id = host === undefined ? undefined : `host ${host}`
    if (id !== undefined && (this.#inFlight.get(id) ?? 0) >= limits.IN_FLIGHT_PER_HOST_MAX) {
      throw busy(`A host may have at most ${limits.IN_FLIGHT_PER_HOST_MAX} calls without a key in progress here.`)
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
    throw new SoukError('rate_limited', 'This key exceeds its rate limit.', {
      notAccepted: true,
      retryAfterMs: resetMs,
      members: { [RATE_MEMBER]: { policy: KEY_POLICY, calls, per_ms: perMs, remaining, reset_ms: resetMs } }
    })
  }
}

/** Policy name of a key’s own limit, next to those of listings and plans. */
const KEY_POLICY = 'key'

function busy(detail: string): SoukError {
  return new SoukError('overloaded', detail, { notAccepted: true, retryAfterMs: limits.OVERLOAD_PAUSE_MS })
}
