import type { Clock, Timer } from './clock.ts'
import { CLOCK_CHANGE_MS, CLOCK_CHECK_MS } from './limits/directory.ts'

/** Runs `task` after this machine's clock was set, or the machine slept: its wall time and monotonic time no longer agree. */
export function onClockChange(clock: Clock, task: () => void): Timer {
  const zero = () => clock.now() - clock.elapsed()
  let before = zero()
  const watch = () =>
    clock.after(CLOCK_CHECK_MS, () => {
      const now = zero()
      const isChanged = Math.abs(now - before) > CLOCK_CHANGE_MS
      before = now
      timer = watch()
      if (isChanged) task()
    })
  let timer = watch()
  return { cancel: () => timer.cancel() }
}
