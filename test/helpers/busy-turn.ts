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

  get longestMs(): number {
    this.#tick()
    return this.#longestUs / 1_000
  }

  #tick(): void {
    const { user, system } = process.threadCpuUsage(this.#before)
    this.#before = process.threadCpuUsage()
    this.#longestUs = Math.max(this.#longestUs, user + system)
  }
}
