/**
 * Time as a seam: library code takes a `Clock` and never touches `Date`, `performance` or timers itself, so that tests and
 * the simulator can run it on a clock of their own. This file and `random.ts` are the only places in `lib/` that do.
 */

/** A running timer. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall time, milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds on a clock that never goes back; only differences mean something. */
  elapsed(): number
  /** Runs `task` once after `delayMs`. Never keeps the process alive by itself. */
  after(delayMs: number, task: () => void): Timer
  /** Runs `task` once, after the I/O events that are waiting now. */
  soon(task: () => void): void
}

/** What Node's timers can count; they take a longer delay for none at all. */
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

/** A time limit that is also ended by another signal. */
export interface Deadline {
  readonly signal: AbortSignal
  /** No time-out from now on; the parent still ends it. */
  stop(): void
  /** Ends it now. */
  abort(reason: Error): void
  /** Lets go of timer and parent. */
  clear(): void
}

/** A signal that aborts with `reason()` after `delayMs`, or with the parent's reason when `parent` does. */
export function deadline(clock: Clock, delayMs: number, reason: () => Error, parent?: AbortSignal): Deadline {
  const controller = new AbortController()
  const timer = clock.after(delayMs, () => controller.abort(reason()))
  const onAbort = () => controller.abort(parent?.reason)
  if (parent?.aborted === true) onAbort()
  else parent?.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    stop: () => timer.cancel(),
    abort: (reason) => controller.abort(reason),
    clear() {
      timer.cancel()
      parent?.removeEventListener('abort', onAbort)
    }
  }
}
