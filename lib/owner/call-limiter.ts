import type { ApiId } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { type RateLimit, RateLimiter, type Rating } from '../base/gcra.ts'
import { OVERLOAD_PAUSE_MS, RATED_CONSUMERS_MAX } from '../base/limits/admission.ts'
import type { IncomingCall } from '../interface/call.ts'
import { RATE_MEMBER, type RateLimitStatus } from '../interface/rate.ts'
import { FailureLimits } from './failure-limits.ts'

/** A consumer's limits at one API: those of the listing, or of the call's plan. */
export interface CallLimits {
  /** Name of the limits in headers: `default`, or `plan-` and the plan's id. Each name has its own counters. */
  readonly policy: string
  readonly rateLimit?: RateLimit
  /** Concurrent calls. */
  readonly inFlightMax: number
  /** Failed calls, which are free. */
  readonly failureLimit: RateLimit
}

/** The permit of one admitted call. */
export interface CallPermit {
  readonly rate?: RateLimitStatus
  /** The call has ended. Call it exactly once. */
  leave(): void
  /** The call was refused later and does not count. Call it before `leave`. */
  giveBack(): void
  succeeded(): void
  /** The call failed after the API may have received it. */
  failed(): void
}

/**
 * The party that a call counts for: the account named by its consumer node, or the node itself. A node can invent
 * accounts, but cannot guess those of another node.
 */
export function callerOf({ consumer, peer }: Pick<IncomingCall, 'consumer' | 'peer'>): string {
  return consumer === undefined ? peer : Buffer.from(consumer).toString('latin1')
}

/** The concurrency and rate limiter per consumer and API. It runs before anything is reserved or sent to the API. */
export class CallLimiter {
  readonly #rates: RateLimiter
  readonly #failures: FailureLimits
  readonly #inFlight = new Map<ApiId, Map<string, number>>()

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#rates = new RateLimiter(clock, RATED_CONSUMERS_MAX)
    this.#failures = new FailureLimits(clock)
  }

  /** @throws SoukError `overloaded`, `rate_limited`; nothing is counted then */
  enter(api: ApiId, call: Pick<IncomingCall, 'consumer' | 'peer'>, limits: CallLimits): CallPermit {
    const { policy, rateLimit, inFlightMax, failureLimit } = limits
    const caller = callerOf(call)
    const counts = this.#inFlight.get(api) ?? new Map<string, number>()
    const inFlight = counts.get(caller) ?? 0
    if (inFlight >= inFlightMax) {
      throw new SoukError(
        'overloaded',
        `A consumer may run at most ${inFlightMax} calls here at once. Wait until some of them end.`,
        {
          notAccepted: true,
          retryAfterMs: OVERLOAD_PAUSE_MS
        }
      )
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
  ): Pick<CallPermit, 'rate' | 'giveBack'> {
    const [key, group] = [prefix + caller, prefix + peer]
    return {
      rate: rateStatus(policy, limit, this.#rates.take(key, limit, group)),
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
function rateStatus(
  policy: string,
  { calls, perMs }: RateLimit,
  { isWithin, remaining, resetMs }: Rating
): RateLimitStatus {
  const rate = { policy, calls, perMs, remaining, resetMs }
  if (isWithin) return rate
  throw new SoukError('rate_limited', 'You sent too many calls in a short time.', {
    // Consumers do not try another owner on `rate_limited`. Each owner counts separately, so that would multiply the
    // limit.
    notAccepted: true,
    retryAfterMs: resetMs,
    members: { [RATE_MEMBER]: { policy, calls, per_ms: perMs, remaining, reset_ms: resetMs } }
  })
}
