import { SoukError } from './souk-error.ts'

/** Longest time limit that an ingress takes. */
const TIMEOUT_MS_MAX = 120_000
/** The ingress has a little longer to say itself that the time is over, and whether the call was charged. */
const GRACE_MS = 1_000

/** The time limit of one call, and the caller's signal. */
export interface TimeLimit {
  /** Aborts with the caller's reason, or with SoukError `timed_out`. */
  readonly signal: AbortSignal
  /** Infinity without a limit. */
  leftMs(): number
  /** @throws the reason of `signal` */
  pause(ms: number): Promise<void>
  /** Stops the clock. The caller's signal still counts. */
  clear(): void
}

/** @throws SoukError `invalid_request` */
export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX)) return
  const detail = `"timeoutMs" must be a whole number of milliseconds, 1 to ${TIMEOUT_MS_MAX}.`
  throw new SoukError('invalid_request', detail)
}

/** @throws SoukError `invalid_request`; the reason of an aborted signal */
export function timeLimit(timeoutMs: number | undefined, given: AbortSignal | undefined): TimeLimit {
  // An `AbortController` in place of its signal is a common mistake.
  if (given !== undefined && !(given instanceof AbortSignal)) {
    throw new SoukError('invalid_request', '"signal" must be an AbortSignal.')
  }
  given?.throwIfAborted()
  checkTimeout(timeoutMs)
  const endsAt = timeoutMs === undefined ? Infinity : performance.now() + timeoutMs
  const own = new AbortController()
  const expire = () => {
    const detail = `No response within ${timeoutMs} ms.`
    own.abort(new SoukError('timed_out', detail, { retryable: true, charged: null }))
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs + GRACE_MS)
  const signal = given === undefined ? own.signal : AbortSignal.any([given, own.signal])
  return {
    signal,
    leftMs: () => endsAt - performance.now(),
    pause: (ms) =>
      new Promise((resolve, reject) => {
        const over = () => {
          clearTimeout(pausing)
          reject(signal.reason as Error)
        }
        const pausing = setTimeout(() => {
          signal.removeEventListener('abort', over)
          resolve()
        }, ms)
        signal.addEventListener('abort', over, { once: true })
      }),
    clear: () => clearTimeout(timer)
  }
}
