import assert from 'node:assert/strict'
import { commonMs, RUNS_MAX } from './cpu-time.ts'

const TICK_MS = 5

/**
 * The longest time that this thread has computed between two timer ticks, in CPU milliseconds. Unlike a delay by the clock, it
 * does not blame the event loop for other processes on a busy machine.
 */
export class BusyTurn {
  #timer: NodeJS.Timeout | undefined
  #before = process.threadCpuUsage()
  #longestUs = 0

  start(): void {
    this.reset()
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  reset(): void {
    this.#before = process.threadCpuUsage()
    this.#longestUs = 0
  }

  /** The longest turn, on a common machine if it took `maxMs` or more. */
  longestMs(maxMs: number): number {
    this.#tick()
    return commonMs(this.#longestUs / 1_000, maxMs)
  }

  /** Fails if one turn took `maxMs` or more, on a common machine. */
  assertBelow(maxMs: number): void {
    const ms = this.longestMs(maxMs)
    assert.ok(ms < maxMs, `the event loop was busy for ${Math.round(ms)} ms`)
  }

  #tick(): void {
    const { user, system } = process.threadCpuUsage(this.#before)
    this.#before = process.threadCpuUsage()
    this.#longestUs = Math.max(this.#longestUs, user + system)
  }
}

/**
 * Fails if the work has a turn of `maxMs` or more in each of several runs. In one run, it may be the collection of a heap that other
 * tests have filled.
 */
export async function assertTurnsBelow(maxMs: number, work: () => Promise<unknown>): Promise<void> {
  let leastMs = Infinity
  for (let run = 0; run < RUNS_MAX && leastMs >= maxMs; run++) {
    const turns = new BusyTurn()
    turns.start()
    try {
      await work()
      leastMs = Math.min(leastMs, turns.longestMs(maxMs))
    } finally {
      turns.stop()
    }
  }
  assert.ok(leastMs < maxMs, `the event loop was busy for ${Math.round(leastMs)} ms`)
}
