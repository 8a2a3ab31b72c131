import type { Clock } from '../../lib/base/clock.ts'
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
   * Runs a request. A request that its caller aborted does not count, nor does an invalid one.
   * @throws SoukError `upstream_unreachable`, not accepted, while the circuit is open; else the error of `send`
   */
  run<T extends Answered>(send: () => Promise<T>, signal: AbortSignal): Promise<T>
}

/** @param breakMs default `UPSTREAM_BREAK_MS`; after it, one request is tried */
export function breaker(clock: Clock, breakMs: number = UPSTREAM_BREAK_MS): Breaker {
  let failuresInARow = 0
  /** While the circuit is open: when a request may be tried, on the clock’s `elapsed`. */
  let openUntil: number | undefined
  let isTrying = false

  const isRefused = () => openUntil !== undefined && (isTrying || clock.elapsed() < openUntil)

  /**
   * Counts an outcome; undefined if it says nothing about the API. While the circuit is open, only the trial counts: the other requests
   * were sent before.
   */
  const end = (isTrial: boolean, isGood: boolean | undefined): void => {
    if (isTrial) isTrying = false
    if (isGood === undefined || (openUntil !== undefined && !isTrial)) return
    if (isGood) {
      failuresInARow = 0
      openUntil = undefined
    } else if (++failuresInARow >= UPSTREAM_FAILURES_MAX) {
      openUntil = clock.elapsed() + breakMs
    }
  }

  return {
    run(send, signal) {
      if (isRefused()) return Promise.reject(leftAlone(breakMs))
      const isTrial = openUntil !== undefined
      isTrying = isTrial
      return send().then(
        (value) => {
          end(isTrial, !UNWELL.has(value.response.status))
          return value
        },
        (error: unknown) => {
          end(isTrial, isItsFault(error, signal) ? false : undefined)
          throw error
        }
      )
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
