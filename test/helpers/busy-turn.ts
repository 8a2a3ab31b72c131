import assert from 'node:assert/strict'
import { commonMs } from './cpu-time.ts'

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

  /** Fails if one turn took `maxMs` or more, on a common machine. */
  assertBelow(maxMs: number): void {
    this.#tick()
    const ms = commonMs(this.#longestUs / 1_000, maxMs)
    assert.ok(ms < maxMs, `the event loop was busy for ${Math.round(ms)} ms`)
  }

  #tick(): void {
    const { user, system } = process.threadCpuUsage(this.#before)
    this.#before = process.threadCpuUsage()
    this.#longestUs = Math.max(this.#longestUs, user + system)
  }
}
