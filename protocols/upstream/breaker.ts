import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel'
import { SoukError, isSoukError } from '../../lib/base/errors.ts'
import { UPSTREAM_BREAK_MS, UPSTREAM_FAILURES_MAX } from '../../lib/base/limits/upstream.ts'

/** Statuses for which the server is at fault, not the request (RFC 9110 §15.6). */
const UNWELL: ReadonlySet<number> = new Set([502, 503, 504])

interface Answered {
  readonly response: { readonly status: number }
}

/**
 * A circuit breaker: after many failures in a row, rejects requests for a while, so that the API can recover and callers do not
 * wait.
 */
export interface Breaker {
  /**
   * Runs a request. A request that its caller aborted does not count.
   * @throws SoukError `upstream_unreachable`, not accepted, while the circuit is open; else the error of `send`
   */
  run<T extends { readonly response: { readonly status: number } }>(
    send: () => Promise<T>,
    signal: AbortSignal
  ): Promise<T>
}

/** @param breakMs default `UPSTREAM_BREAK_MS`; after it, one request is tried */
export function breaker(breakMs: number = UPSTREAM_BREAK_MS): Breaker {
  const policy = circuitBreaker(handleAll, {
    halfOpenAfter: breakMs,
    breaker: new ConsecutiveBreaker(UPSTREAM_FAILURES_MAX)
  })
  /** No request has failed since the last success. The policy makes ten promises for a request, so it hears only of changes. */
  let isWell = true
  const hear = async (isGood: boolean): Promise<void> => {
    isWell = isGood
    await policy
      .execute(() => (isGood ? Promise.resolve() : Promise.reject(new Error('unwell'))))
      .catch(() => undefined)
  }
  const afterSuccess = (): Promise<void> | undefined =>
    isWell || policy.state !== CircuitState.Closed ? undefined : hear(true)

  const afterAnswer = <T extends Answered>(value: T): T | Promise<T> => {
    const hearing = UNWELL.has(value.response.status) ? hear(false) : afterSuccess()
    return hearing === undefined ? value : hearing.then(() => value)
  }
  const afterError = async (error: unknown, signal: AbortSignal): Promise<never> => {
    if (isItsFault(error, signal)) await hear(false)
    throw error
  }

  async function afterFailure<T extends Answered>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
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
      isWell = policy.state === CircuitState.Closed
    } catch {
      // Counted; the error is in `outcome`.
    }
    if (outcome === undefined) throw leftAlone(breakMs)
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }

  return {
    run: (send, signal) => {
      if (policy.state === CircuitState.HalfOpen) return Promise.reject(leftAlone(breakMs))
      return isWell
        ? send().then(afterAnswer, (error: unknown) => afterError(error, signal))
        : afterFailure(send, signal)
    }
  }
}

function isItsFault(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || !isSoukError(error)) return false
  return error.code === 'upstream_unreachable' || error.code === 'upstream_timeout'
}

function leftAlone(breakMs: number): SoukError {
  return new SoukError(
    'upstream_unreachable',
    'The API failed many times in a row, so this node does not call it for a while. Try again later.',
    {
      source: 'upstream',
      notAccepted: true,
      retryAfterMs: breakMs
    }
  )
}
