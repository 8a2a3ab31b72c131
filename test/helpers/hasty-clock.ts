import { type Clock, systemClock } from '../../lib/base/clock.ts'

/** Timers run `haste` times faster, so that a test against a real server does not wait for polls. The date is real. */
export const hasted = (haste: number): Clock => ({
  ...systemClock,
  elapsed: () => systemClock.elapsed() * haste,
  after: (delayMs, task) => systemClock.after(delayMs / haste, task)
})

export const hastyClock = hasted(100)
