import { afterLimit, type Clock, type Timer } from './clock.ts'

/**
 * Many time limits on one timer, which runs at the earliest of them. Most calls end long before their limit, so a limit
 * costs an entry in a map instead of a timer.
 */
export class Deadlines<K> {
  readonly #clock: Pick<Clock, 'after' | 'elapsed'>
  readonly #onLate: (key: K) => void
  /** When each limit is over, by the monotonic clock. */
  readonly #dueAt = new Map<K, number>()
  #timer: Timer | undefined
  #timerAt = Infinity
  #isRetired = false

  constructor(clock: Pick<Clock, 'after' | 'elapsed'>, onLate: (key: K) => void) {
    this.#clock = clock
    this.#onLate = onLate
  }

  add(key: K, delayMs: number): void {
    const now = this.#clock.elapsed()
    const at = now + delayMs
    this.#dueAt.set(key, at)
    if (at < this.#timerAt) this.#arm(at, now)
  }

  delete(key: K): void {
    this.#dueAt.delete(key)
    // Otherwise the timer keeps running, because the next limit would start it again.
    if (this.#isRetired) this.#stopIfIdle()
  }

  /** No limit will be added. The timer ends with the last one. */
  retire(): void {
    this.#isRetired = true
    this.#stopIfIdle()
  }

  #stopIfIdle(): void {
    if (this.#dueAt.size === 0) this.#timer?.cancel()
  }

  #arm(at: number, now: number): void {
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = afterLimit(this.#clock, at - now, this.#onTimer)
  }

  readonly #onTimer = (): void => {
    const now = this.#clock.elapsed()
    this.#timerAt = Infinity
    let next = Infinity
    for (const [key, at] of this.#dueAt) {
      if (at <= now) {
        this.#dueAt.delete(key)
        this.#onLate(key)
      } else if (at < next) next = at
    }
    if (next < this.#timerAt) this.#arm(next, now)
  }
}
