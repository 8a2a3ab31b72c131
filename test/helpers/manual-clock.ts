import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../lib/base/clock.ts'

/** A clock that moves only on request. Tasks for `soon` run by themselves, like I/O. */
export interface ManualClock extends Clock {
  /** Advances by `ms`. Every due timer fires at its own time, and its effects settle before the next. */
  advance(ms: number): Promise<void>
  /** Number of pending timers. */
  readonly pending: number
}

const TURNS_TO_SETTLE = 8

/** Lets pending work finish that needs no time. */
export async function settle(turns = TURNS_TO_SETTLE): Promise<void> {
  for (let i = 0; i < turns; i++) await turn()
}

/** The start time of manual clocks. */
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
