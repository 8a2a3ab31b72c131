import type { ApiId } from '../base/api-name.ts'
import { latin1 } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import { CONNECTION_LOST, isSoukError, SoukError } from '../base/errors.ts'
import { type RateLimit, RateLimiter } from '../base/gcra.ts'
import { FAILURES_PER_PEER, RATE_CALLS_MAX, RATED_CONSUMERS_MAX } from '../base/limits/admission.ts'
import type { IncomingCall } from '../interface/call.ts'

type Caller = Pick<IncomingCall, 'consumer' | 'peer'>

/**
 * Limits the failed calls of one consumer at one API. A failed call is free, but costs the provider work, so a loop of
 * failing calls would hurt the provider only. A successful call offsets a failed one.
 *
 * A consumer node can invent a new account for each call. Its calls are therefore also counted together, up to
 * `FAILURES_PER_PEER` times the limit.
 */
export class FailureLimits {
  readonly #rates: RateLimiter

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#rates = new RateLimiter(clock, RATED_CONSUMERS_MAX)
  }

  /** @throws SoukError `rate_limited` while the limit is used up; nothing is counted */
  check(api: ApiId, caller: Caller, limit: RateLimit): void {
    if (this.#rates.isUnused) return
    for (const [key, each] of counters(api, caller, limit)) {
      const { isWithin, resetMs } = this.#rates.peek(key, each, caller.peer)
      if (isWithin) continue
      throw new SoukError(
        'rate_limited',
        'Too many of your calls to this API failed. Correct them before you call again.',
        {
          // Consumers do not try another owner on `rate_limited`. Each owner counts separately, so that would multiply
          // the limit.
          notAccepted: true,
          retryAfterMs: resetMs,
          members: { reason: 'failed_calls' }
        }
      )
    }
  }

  failed(api: ApiId, caller: Caller, limit: RateLimit): void {
    for (const [key, each] of counters(api, caller, limit)) this.#rates.take(key, each, caller.peer)
  }

  succeeded(api: ApiId, caller: Caller, limit: RateLimit): void {
    if (this.#rates.isUnused) return
    for (const [key, each] of counters(api, caller, limit)) this.#rates.giveBack(key, each, caller.peer)
  }
}

/**
 * Whether a failed call may have cost its provider something: the API received it, or the consumer cancelled meanwhile.
 */
export function mayHaveReachedApi(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || !isSoukError(error)) return true
  if (error.source !== 'upstream') return false
  return error.code !== 'upstream_unreachable' || error.members?.['reason'] === CONNECTION_LOST
}

function counters(api: ApiId, { consumer, peer }: Caller, limit: RateLimit): Array<readonly [string, RateLimit]> {
  const { calls, perMs } = limit
  // Calls without an account share the limit of their consumer node.
  const ofPeer = [`${api} ${peer}`, { calls: Math.min(calls * FAILURES_PER_PEER, RATE_CALLS_MAX), perMs }] as const
  if (consumer === undefined) return [ofPeer]
  return [[`${api} ${latin1(consumer)}`, limit], ofPeer]
}
