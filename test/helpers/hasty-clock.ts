import { type Clock, systemClock } from '../../lib/base/clock.ts'

const HASTE = 100

/** Timers run a hundred times faster, so that a test against a real server does not wait for polls. The date is real. */
export const hastyClock: Clock = {
  ...systemClock,
  elapsed: () => systemClock.elapsed() * HASTE,
  after: (delayMs, task) => systemClock.after(delayMs / HASTE, task)
}
