import type { ApiId } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { type RateLimit, RateLimiter, type Rating } from '../base/gcra.ts'
import { OVERLOAD_PAUSE_MS, RATED_CONSUMERS_MAX } from '../base/limits.ts'
import type { IncomingCall } from '../interface/call.ts'
import { RATE_MEMBER, type RateStanding } from '../interface/rate.ts'
import { FailureLimits } from './failure-limits.ts'

/** What one consumer may do at one API: by its listing, or by the plan that the call is made under. */
export interface CallLimits {
  /** Names them in headers: `default` for the listing's own, `plan-` and its id for a plan's. What is counted is counted by it. */
  readonly policy: string
  readonly rateLimit?: RateLimit
  /** Calls under way at once. */
  readonly inFlightMax: number
  /** Calls that fail, and are not charged. */
  readonly failureLimit: RateLimit
}

/** One call that was let through. */
export interface Pass {
  readonly rate?: RateStanding
  /** The call is over. Once. */
  leave(): void
  /** It was refused further on, and does not count. Before `leave`. */
  giveBack(): void
  succeeded(): void
  /** It failed after its API may have been asked. */
  failed(): void
}

/**
 * Whom a call counts for: the account that its consumer node names, or that node itself. A node could name an account for each
 * call; names are not to be guessed, so it can be nobody else's.
 */
export function callerOf({ consumer, peer }: Pick<IncomingCall, 'consumer' | 'peer'>): string {
  return consumer === undefined ? peer : Buffer.from(consumer).toString('latin1')
}

/** Holds each consumer of each API to its limits, before anything of a call is reserved, or is heard of by the API. */
export class Gate {
  readonly #rates: RateLimiter
  readonly #failures: FailureLimits
  readonly #inFlight = new Map<ApiId, Map<string, number>>()

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#rates = new RateLimiter(clock, RATED_CONSUMERS_MAX)
    this.#failures = new FailureLimits(clock)
  }

  /** @throws SoukError `overloaded`, `rate_limited`; nothing is counted then */
  enter(api: ApiId, call: Pick<IncomingCall, 'consumer' | 'peer'>, limits: CallLimits): Pass {
    const { policy, rateLimit, inFlightMax, failureLimit } = limits
    const caller = callerOf(call)
    const counts = this.#inFlight.get(api) ?? new Map<string, number>()
    const inFlight = counts.get(caller) ?? 0
    if (inFlight >= inFlightMax) {
      throw new SoukError('overloaded', `At most ${inFlightMax} calls of one consumer are under way here at once.`, {
        notAccepted: true,
        retryAfterMs: OVERLOAD_PAUSE_MS
      })
    }
    this.#failures.check(api, call, failureLimit)
    const rated = rateLimit && this.#rate(`${api} ${policy} `, caller, call.peer, policy, rateLimit)
    counts.set(caller, inFlight + 1)
    this.#inFlight.set(api, counts)
    return {
      giveBack() {},
      ...rated,
      leave: () => this.#leave(api, counts, caller),
      succeeded: () => this.#failures.succeeded(api, call, failureLimit),
      failed: () => this.#failures.failed(api, call, failureLimit)
    }
  }

  #rate(
    prefix: string,
    caller: string,
    peer: string,
    policy: string,
    limit: RateLimit
  ): Pick<Pass, 'rate' | 'giveBack'> {
    const [key, group] = [prefix + caller, prefix + peer]
    return {
      rate: standing(policy, limit, this.#rates.take(key, limit, group)),
      giveBack: () => this.#rates.giveBack(key, limit, group)
    }
  }

  #leave(api: ApiId, counts: Map<string, number>, caller: string): void {
    const left = (counts.get(caller) ?? 0) - 1
    if (left > 0) counts.set(caller, left)
    else counts.delete(caller)
    if (counts.size === 0 && this.#inFlight.get(api) === counts) this.#inFlight.delete(api)
  }
}

/** @throws SoukError `rate_limited` */
function standing(policy: string, { calls, perMs }: RateLimit, { isWithin, remaining, resetMs }: Rating): RateStanding {
  const rate = { policy, calls, perMs, remaining, resetMs }
  if (isWithin) return rate
  throw new SoukError('rate_limited', 'Too many calls in a short time.', {
    // Not for another owner to take: each counts by itself, and the limit would be as many times as high.
    notAccepted: true,
    retryAfterMs: resetMs,
    members: { [RATE_MEMBER]: { policy, calls, per_ms: perMs, remaining, reset_ms: resetMs } }
  })
}
