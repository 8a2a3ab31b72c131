import type { Logger } from '@libp2p/interface'
import type { Clock, Timer } from '../base/clock.ts'
import { reasonOf } from '../base/component-log.ts'
import { REACH_SETTLE_MS, REACH_SETTLE_MS_MAX } from '../base/limits/reach.ts'

export interface RepeatedCheckInit {
  /** `signal` aborts when the checks stop. */
  readonly check: (signal: AbortSignal) => Promise<void>
  /** Time from the end of a check to the next one, in milliseconds. */
  readonly pauseMs: () => number
  readonly clock: Clock
  readonly log: Logger
}

/** Repeats a check of this node's connections, also when something changes. Only one check runs at a time. */
export class RepeatedCheck {
  readonly #init: RepeatedCheckInit
  #timer: Timer | undefined
  /** Time at which the next check starts, whatever changes meanwhile. */
  #latest = Number.POSITIVE_INFINITY
  #isChecking = false
  /** Something changed during the running check. */
  #isDue = false
  /** Absent before the start, and after the end. */
  #stopping: AbortController | undefined

  constructor(init: RepeatedCheckInit) {
    this.#init = init
  }

  /** The first check is in `delayMs`. */
  start(delayMs: number): void {
    this.#stopping = new AbortController()
    this.#latest = Number.POSITIVE_INFINITY
    this.again(delayMs)
  }

  stop(): void {
    this.#stopping?.abort()
    this.#stopping = undefined
    this.#timer?.cancel()
  }

  /**
   * The next check is in `delayMs`. Further calls postpone it by `REACH_SETTLE_MS_MAX` at most. If one is running, another
   * follows it. Does nothing while stopped.
   */
  again(delayMs = REACH_SETTLE_MS): void {
    if (this.#isChecking) this.#isDue = true
    else if (this.#stopping !== undefined) {
      this.#timer?.cancel()
      const { signal } = this.#stopping
      const { clock } = this.#init
      this.#latest = Math.min(this.#latest, clock.elapsed() + delayMs + REACH_SETTLE_MS_MAX)
      const waitMs = Math.min(delayMs, this.#latest - clock.elapsed())
      this.#timer = clock.after(waitMs, () => void this.#check(signal))
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { check, pauseMs, log } = this.#init
    this.#isChecking = true
    this.#isDue = false
    this.#latest = Number.POSITIVE_INFINITY
    try {
      await check(signal)
    } catch (error) {
      if (!signal.aborted) log('the check failed: %s', reasonOf(error))
    }
    this.#isChecking = false
    this.again(this.#isDue ? REACH_SETTLE_MS : pauseMs())
  }
}
