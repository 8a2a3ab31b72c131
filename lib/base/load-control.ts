import type { Clock } from './clock.ts'
import {
  LOAD_ADMITTED_MIN,
  LOAD_CALM_MS,
  LOAD_LATE_MS,
  LOAD_LATE_TICKS,
  LOAD_TARGET_MS,
  LOAD_TICK_MS,
  LOAD_TURN_MS_MAX
} from './limits.ts'

/** An allowance that was too much shrinks by this factor, and one that was not grows by this part, each tick. */
const [SHRINK, GROW] = [0.7, 0.1]

/**
 * Admission control by the lag of the event loop, which is how long a request waits before this process looks at it. While the
 * loop keeps up, all work is admitted, however many requests are under way: a slow upstream is no overload here.
 *
 * When the loop is late again and again, each tick admits a number of requests that adapts (additive increase, multiplicative
 * decrease) until the loop turns in `LOAD_TARGET_MS` again. The rest is refused at once. Requests are read in every turn, so a request is
 * admitted or refused within one turn of its arrival, and nothing admitted waits behind a queue of older requests.
 *
 * The allowance of a tick is shared equally by the callers of the tick before: one that sends ten times as much does not
 * displace the others.
 *
 * A timer runs only while requests come. At least `LOAD_ADMITTED_MIN` requests a tick are always admitted, so that a node with little
 * to do on a machine that is busy with something else refuses nothing.
 */
export class LoadControl {
  readonly #clock: Pick<Clock, 'elapsed' | 'after'>
  /** Undefined while no timer runs. */
  #tickDueAt: number | undefined
  /** Of one tick. Infinite while the loop keeps up. */
  #allowance = Infinity
  #admitted = 0
  #refused = 0
  #lateTicks = 0
  #calmMs = 0
  readonly #byCaller = new Map<string, number>()
  #callersBefore = 1

  constructor(clock: Pick<Clock, 'elapsed' | 'after'>) {
    this.#clock = clock
  }

  /** Requests are being refused at present, or were a moment ago. */
  get isOverloaded(): boolean {
    return this.#allowance !== Infinity
  }

  /** Whether one more request is taken. @param caller - names whose it is; asked under overload only */
  admit(caller: () => string): boolean {
    const dueAt = this.#tickDueAt ?? this.#start()
    const isWithin =
      this.#allowance === Infinity
        ? this.#admitted < LOAD_ADMITTED_MIN || this.#clock.elapsed() - dueAt <= LOAD_TURN_MS_MAX
        : this.#isWithinShare(caller())
    if (isWithin) this.#admitted++
    else this.#refused++
    return isWithin
  }

  #isWithinShare(caller: string): boolean {
    const taken = this.#byCaller.get(caller) ?? 0
    const share = Math.max(1, this.#allowance / this.#callersBefore)
    const isWithin = this.#admitted < this.#allowance && taken < share
    // A caller that is refused counts among those that share the next tick.
    this.#byCaller.set(caller, isWithin ? taken + 1 : taken)
    return isWithin
  }

  #start(): number {
    const dueAt = this.#clock.elapsed() + LOAD_TICK_MS
    this.#tickDueAt = dueAt
    this.#clock.after(LOAD_TICK_MS, () => this.#tick(dueAt))
    return dueAt
  }

  #tick(dueAt: number): void {
    const lateMs = this.#clock.elapsed() - dueAt
    if (this.#allowance === Infinity) this.#watch(lateMs)
    else this.#adapt(lateMs)
    const isIdle = this.#admitted === 0 && this.#refused === 0
    this.#callersBefore = Math.max(1, this.#byCaller.size)
    this.#byCaller.clear()
    this.#admitted = 0
    this.#refused = 0
    // Without requests nothing has to be measured. An allowance that is left is forgotten when it has been calm for long enough.
    if (isIdle && this.#allowance === Infinity) this.#tickDueAt = undefined
    else this.#start()
  }

  /** One long turn may be anything, such as a large document; several in a row in which much came are too much work. */
  #watch(lateMs: number): void {
    const isLate = lateMs > LOAD_LATE_MS && this.#admitted > LOAD_ADMITTED_MIN
    this.#lateTicks = isLate ? this.#lateTicks + 1 : 0
    if (this.#lateTicks < LOAD_LATE_TICKS && this.#refused === 0) return
    this.#allowance = Math.max(LOAD_ADMITTED_MIN, this.#admitted / 2)
    this.#lateTicks = 0
    this.#calmMs = 0
  }

  #adapt(lateMs: number): void {
    if (lateMs > LOAD_TARGET_MS) this.#allowance = Math.max(LOAD_ADMITTED_MIN, this.#allowance * SHRINK)
    else if (this.#refused > 0) this.#allowance += Math.max(1, this.#allowance * GROW)
    this.#calmMs = this.#refused > 0 ? 0 : this.#calmMs + LOAD_TICK_MS + lateMs
    if (this.#calmMs >= LOAD_CALM_MS) this.#allowance = Infinity
  }
}
