import { systemClock } from '../../lib/index.ts'

/** Things that arrive, read one by one. */
export class Arrivals<T> {
  readonly #here: T[] = []
  #wake: (() => void) | undefined

  push(item: T): void {
    this.#here.push(item)
    this.#wake?.()
  }

  /** Forgets those that are here. */
  clear(): void {
    this.#here.length = 0
  }

  /** Undefined if nothing comes in time. */
  async next(timeoutMs: number): Promise<T | undefined> {
    const until = systemClock.elapsed() + timeoutMs
    for (;;) {
      const item = this.#here.shift()
      const leftMs = until - systemClock.elapsed()
      if (item !== undefined || leftMs <= 0) return item
      await new Promise<void>((resolve) => {
        const timer = systemClock.after(leftMs, resolve)
        this.#wake = () => {
          timer.cancel()
          resolve()
        }
      })
    }
  }
}
