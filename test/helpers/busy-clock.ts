import type { Clock, Timer } from '../../lib/base/clock.ts'

/** A clock that advances only while work runs, with one timer. The timer fires late if a turn of work took longer. */
export class BusyClock implements Pick<Clock, 'elapsed' | 'after'> {
  #at = 0
  #due: { readonly at: number; readonly task: () => void } | undefined

  /** True while a timer runs. */
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

  /** Ends the turn and fires the timer, at its due time or later. */
  turn(): void {
    const due = this.#due
    this.#due = undefined
    if (due === undefined) return
    this.#at = Math.max(this.#at, due.at)
    due.task()
  }
}
