import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel'
import { SoukError, isSoukError } from '../../lib/base/errors.ts'
import { UPSTREAM_BREAK_MS, UPSTREAM_FAILURES_MAX } from '../../lib/base/limits.ts'

/** Statuses by which servers say that they, and not the request, are the trouble (RFC 9110 §15.6). */
const UNWELL: ReadonlySet<number> = new Set([502, 503, 504])

interface Answered {
  readonly response: { readonly status: number }
}

/** Leaves an API alone for a while after it failed many times in a row, so that it can recover and callers do not wait. */
export interface Breaker {
  /**
   * Runs a request. What its own caller broke off says nothing of the API.
   * @throws SoukError `upstream_unreachable`, not accepted, while the API is left alone; else what `send` throws
   */
  run<T extends { readonly response: { readonly status: number } }>(
    send: () => Promise<T>,
    signal: AbortSignal
  ): Promise<T>
}

/** @param breakMs - default `UPSTREAM_BREAK_MS`; then one request is let through to see. */
export function breaker(breakMs: number = UPSTREAM_BREAK_MS): Breaker {
  const policy = circuitBreaker(handleAll, {
    halfOpenAfter: breakMs,
    breaker: new ConsecutiveBreaker(UPSTREAM_FAILURES_MAX)
  })
  return {
    async run<T extends Answered>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
      if (policy.state === CircuitState.HalfOpen) throw leftAlone(breakMs)
      let outcome: { readonly value: T } | { readonly error: unknown } | undefined
      try {
        await policy.execute(async () => {
          try {
            const value = await send()
            outcome = { value }
            if (UNWELL.has(value.response.status)) throw new Error('unwell')
          } catch (error) {
            outcome ??= { error }
            if (!('error' in outcome) || isItsFault(outcome.error, signal)) throw error
          }
        })
      } catch {
        // Counted; what it was is in `outcome`.
      }
      if (outcome === undefined) throw leftAlone(breakMs)
      if ('error' in outcome) throw outcome.error
      return outcome.value
    }
  }
}

function isItsFault(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || !isSoukError(error)) return false
  return error.code === 'upstream_unreachable' || error.code === 'upstream_timeout'
}

function leftAlone(breakMs: number): SoukError {
  return new SoukError('upstream_unreachable', 'The API failed many times in a row and is left alone for a moment.', {
    source: 'upstream',
    notAccepted: true,
    retryAfterMs: breakMs
  })
}
