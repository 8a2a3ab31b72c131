import { type Clock, systemClock } from '../../lib/base/clock.ts'

const HASTE = 100

/** Timers run a hundred times as fast, so that a test against a real server waits for no polls. The date stays true. */
export const hastyClock: Clock = {
  ...systemClock,
  elapsed: () => systemClock.elapsed() * HASTE,
  after: (delayMs, task) => systemClock.after(delayMs / HASTE, task)
}
