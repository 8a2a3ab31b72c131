import type { Clock, Timer } from '../../lib/base/clock.ts'

/** Time that moves while work is done only, and one timer, which fires late where a turn of work took longer than it. */
export class BusyClock implements Pick<Clock, 'elapsed' | 'after'> {
  #at = 0
  #due: { readonly at: number; readonly task: () => void } | undefined

  /** A timer runs. */
  get isTimed(): boolean {
    return this.#due !== undefined
  }

  readonly elapsed = (): number => this.#at

  readonly after = (delayMs: number, task: () => void): Timer => {
    this.#due = { at: this.#at + delayMs, task }
    return { cancel: () => (this.#due = undefined) }
  }

  work(ms: number): void {
    this.#at += ms
  }

  /** The turn is over, and the timer is due at the earliest. */
  turn(): void {
    const due = this.#due
    this.#due = undefined
    if (due === undefined) return
    this.#at = Math.max(this.#at, due.at)
    due.task()
  }
}
