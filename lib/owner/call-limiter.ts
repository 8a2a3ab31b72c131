import type { ApiId } from '../base/api-name.ts'
import { latin1 } from '../base/bytes.ts'
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
  readonly rateLimit?: RateLimit | undefined
  /** Concurrent calls. */
  readonly inFlightMax: number
  /** Failed calls, which are free. */
  readonly failureLimit: RateLimit
}

/**
 * The party that a call counts for: the account named by its consumer node, or the node itself. A node can invent
 * accounts, but cannot guess those of another node.
 */
export function callerOf({ consumer, peer }: Pick<IncomingCall, 'consumer' | 'peer'>): string {
  return consumer === undefined ? peer : latin1(consumer)
}

type Caller = Pick<IncomingCall, 'consumer' | 'peer'>

interface Counters {
  readonly rates: RateLimiter
  readonly failures: FailureLimits
  /** Concurrent calls by API and caller. */
  readonly inFlight: Map<ApiId, Map<string, number>>
}

/** The concurrency and rate limiter per consumer and API. It runs before anything is reserved or sent to the API. */
export class CallLimiter {
  readonly #counters: Counters

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#counters = {
      rates: new RateLimiter(clock, RATED_CONSUMERS_MAX),
      failures: new FailureLimits(clock),
      inFlight: new Map()
    }
  }

  /** @throws SoukError `overloaded`, `rate_limited`; nothing is counted then */
  enter(api: ApiId, call: Caller, limits: CallLimits): CallPermit {
    const { failures, inFlight } = this.#counters
    const { inFlightMax, failureLimit } = limits
    if ((inFlight.get(api)?.get(callerOf(call)) ?? 0) >= inFlightMax) {
      throw new SoukError(
        'overloaded',
        `A consumer may run at most ${inFlightMax} calls here at once. Wait until some of them end.`,
        {
          notAccepted: true,
          retryAfterMs: OVERLOAD_PAUSE_MS
        }
      )
    }
    failures.check(api, call, failureLimit)
    return new CallPermit(this.#counters, api, call, limits)
  }
}

/** The permit of one admitted call. */
export class CallPermit {
  readonly rate: RateLimitStatus | undefined
  readonly #counters: Counters
  readonly #api: ApiId
  readonly #call: Caller
  readonly #limits: CallLimits

  /** Counts the call. @throws SoukError `rate_limited`; nothing is counted then */
  constructor(counters: Counters, api: ApiId, call: Caller, limits: CallLimits) {
    this.#counters = counters
    this.#api = api
    this.#call = call
    this.#limits = limits
    const { policy, rateLimit } = limits
    this.rate = rateLimit && rateStatus(policy, rateLimit, counters.rates.take(...this.#rateKey(rateLimit)))
    const { inFlight } = counters
    const ofApi = inFlight.get(api) ?? new Map<string, number>()
    const caller = callerOf(call)
    ofApi.set(caller, (ofApi.get(caller) ?? 0) + 1)
    inFlight.set(api, ofApi)
  }

  /** The call has ended. Call it exactly once. */
  leave(): void {
    const { inFlight } = this.#counters
    const caller = callerOf(this.#call)
    const ofApi = inFlight.get(this.#api)
    const left = (ofApi?.get(caller) ?? 0) - 1
    if (left > 0) ofApi?.set(caller, left)
    else ofApi?.delete(caller)
    if (ofApi?.size === 0) inFlight.delete(this.#api)
  }

  /** The call was refused later and does not count. Call it before `leave`. */
  giveBack(): void {
    const { rateLimit } = this.#limits
    if (rateLimit !== undefined) this.#counters.rates.giveBack(...this.#rateKey(rateLimit))
  }

  succeeded(): void {
    this.#counters.failures.succeeded(this.#api, this.#call, this.#limits.failureLimit)
  }

  /** The call failed after the API may have received it. */
  failed(): void {
    this.#counters.failures.failed(this.#api, this.#call, this.#limits.failureLimit)
  }

  #rateKey(limit: RateLimit): [key: string, limit: RateLimit, group: string] {
    const prefix = `${this.#api} ${this.#limits.policy} `
    return [prefix + callerOf(this.#call), limit, prefix + this.#call.peer]
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
