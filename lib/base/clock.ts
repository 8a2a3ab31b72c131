/**
 * The clock interface. Library code uses a `Clock`, so that tests and the simulator can supply their own. Only this
 * file uses `Date`, `performance` or timers; only `random.ts` uses system randomness.
 */

import { TIMER_LATE_MS } from './limits/time.ts'

/** A running timer. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall time, milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds on a monotonic clock. Use differences only. */
  elapsed(): number
  /** Runs `task` once after `delayMs`. The timer does not keep the process alive. */
  after(delayMs: number, task: () => void): Timer
  /** Runs `task` once, after the pending I/O events. */
  soon(task: () => void): void
}

/** Longest delay of Node's timers. They treat a longer one as 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, task) {
    let handle: NodeJS.Timeout
    const arm = (leftMs: number) => {
      handle =
        leftMs > TIMER_MS_MAX
          ? setTimeout(() => arm(leftMs - TIMER_MS_MAX), TIMER_MS_MAX)
          : setTimeout(task, Math.max(0, leftMs))
      handle.unref()
    }
    arm(delayMs)
    return { cancel: () => clearTimeout(handle) }
  },
  soon: (task) => void setImmediate(task)
}

/** Resolves after `delayMs`; rejects with the signal's reason when it aborts first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason)
      return
    }
    const onAbort = () => {
      timer.cancel()
      reject(signal?.reason)
    }
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Resolves after the pending I/O events, so that long work does not hold the event loop. */
export function nextTurn(clock: Pick<Clock, 'soon'>): Promise<void> {
  return new Promise((resolve) => {
    clock.soon(resolve)
  })
}

/**
 * Runs `task` once when a time limit is over. If this process stood still meanwhile, on a busy machine, it has not read what
 * arrived, and its peers may have stood still as well. The limit is then extended once, by as long as it is late.
 */
export function afterLimit(clock: Pick<Clock, 'elapsed' | 'after'>, limitMs: number, task: () => void): Timer {
  const dueAt = clock.elapsed() + limitMs
  let timer = clock.after(limitMs, () => {
    const lateMs = clock.elapsed() - dueAt
    if (lateMs < TIMER_LATE_MS) task()
    else timer = clock.after(Math.min(lateMs, limitMs), task)
  })
  return { cancel: () => timer.cancel() }
}

/** A time limit that a parent signal can also end. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Ends after `delayMs` from now instead. */
  restart(delayMs: number): void
  /** Removes the time limit. The parent can still abort the signal. */
  stop(): void
  /** Aborts now. */
  abort(reason: Error): void
  /** Releases the timer and the parent listener. */
  clear(): void
}

/** A signal that aborts with `reason()` after `delayMs` (see `afterLimit`), or with the parent's reason when `parent` does. */
export function deadline(clock: Clock, delayMs: number, reason: () => Error, parent?: AbortSignal): Deadline {
  const controller = new AbortController()
  const start = (ms: number) => afterLimit(clock, ms, () => controller.abort(reason()))
  let timer = start(delayMs)
  const onAbort = () => controller.abort(parent?.reason)
  if (parent?.aborted === true) onAbort()
  else parent?.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    restart(ms) {
      timer.cancel()
      timer = start(ms)
    },
    stop: () => timer.cancel(),
    abort: (reason) => controller.abort(reason),
    clear() {
      timer.cancel()
      parent?.removeEventListener('abort', onAbort)
    }
  }
}
