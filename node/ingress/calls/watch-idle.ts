import { limits } from '../../../lib/index.ts'
import type { Clock } from '../../../lib/interface/index.ts'

/** Calls `expire` after `STREAM_IDLE_MS` without a `touch`. Uses one timer for all of them. */
export function watchIdle(
  clock: Pick<Clock, 'after' | 'elapsed'>,
  expire: () => void
): { touch(): void; cancel(): void } {
  let movedAt = clock.elapsed()
  const arm = (delayMs: number) =>
    clock.after(delayMs, () => {
      const restMs = movedAt + limits.STREAM_IDLE_MS - clock.elapsed()
      if (restMs <= 0) expire()
      else timer = arm(restMs)
    })
  let timer = arm(limits.STREAM_IDLE_MS)
  return {
    touch() {
      movedAt = clock.elapsed()
    },
    cancel: () => timer.cancel()
  }
}
