import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../lib/base/clock.ts'

/** A clock that stands still until it is moved. What is due `soon` runs by itself, as I/O does. */
export interface ManualClock extends Clock {
  /** Moves on by `ms`; every timer that falls due fires at its own time, with room for what it sets off. */
  advance(ms: number): Promise<void>
  /** Timers that wait. */
  readonly pending: number
}

const TURNS_TO_SETTLE = 8

/** Lets everything happen that needs no time. */
export async function settle(turns = TURNS_TO_SETTLE): Promise<void> {
  for (let i = 0; i < turns; i++) await turn()
}

/** When manual clocks start. */
export const MANUAL_START = Date.UTC(2026, 0, 2, 3, 4, 5)

export function manualClock(startMs = MANUAL_START): ManualClock {
  let at = 0
  const timers = new Set<{ readonly due: number; readonly task: () => void }>()
  const nextBefore = (end: number) => [...timers].filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due)[0]
  return {
    now: () => startMs + at,
    elapsed: () => at,
    after(delayMs, task) {
      const timer = { due: at + Math.max(0, delayMs), task }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
    soon: (task) => void setImmediate(task),
    get pending() {
      return timers.size
    },
    async advance(ms) {
      const end = at + ms
      await settle()
      for (let timer = nextBefore(end); timer !== undefined; timer = nextBefore(end)) {
        timers.delete(timer)
        at = Math.max(at, timer.due)
        timer.task()
        await settle()
      }
      at = end
    }
  }
}
