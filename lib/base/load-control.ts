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

/** A rate that was too much shrinks by this factor each tick, and one that was not grows by this one. */
const [SHRINK, GROW] = [0.9, 1.1]
/** What is admitted at first under overload, and at least, as parts of what was admitted while the loop was late. */
const [FIRST_PART, LEAST_PART] = [0.75, 0.5]

/**
 * Admission control by the lag of the event loop, which is how long a request waits before this process looks at it. While the
 * loop keeps up, all work is admitted, however many requests are under way: a slow upstream is no overload here.
 *
 * When the loop is late again and again, requests are admitted at a rate below that of the late turns, and the rest is refused at once.
 * The rate adapts until the loop turns in `LOAD_TARGET_MS` again; it never falls below half of what was admitted before, as refusals take
 * time too and would displace all work. Every turn reads what has arrived, so a request is admitted or refused within one turn,
 * and nothing admitted waits behind a queue of older requests.
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
  /** Requests in a millisecond, under overload: admitted now, and what the loop did when it was late. */
  #rate = 0
  #capacity = 0
  #admitted = 0
  #refused = 0
  #lateTicks = 0
  /** Of the late ticks in a row. */
  #lateAdmitted = 0
  #lateMs = 0
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
    const isLate = lateMs > LOAD_LATE_MS && this.#admitted >= LOAD_ADMITTED_MIN
    this.#lateTicks = isLate ? this.#lateTicks + 1 : 0
    this.#lateAdmitted = isLate ? this.#lateAdmitted + this.#admitted : 0
    this.#lateMs = isLate ? this.#lateMs + LOAD_TICK_MS + lateMs : 0
    if (this.#lateTicks < LOAD_LATE_TICKS && this.#refused === 0) return
    this.#capacity = this.#lateAdmitted / this.#lateMs
    this.#rate = FIRST_PART * this.#capacity
    this.#allow(lateMs)
    this.#lateTicks = 0
    this.#calmMs = 0
  }

  #adapt(lateMs: number): void {
    if (lateMs > LOAD_TARGET_MS) this.#rate = Math.max(LEAST_PART * this.#capacity, this.#rate * SHRINK)
    else if (this.#refused > 0) this.#rate *= GROW
    this.#allow(lateMs)
    // What was refused would have been done in time as well.
    const isCalm = lateMs + this.#refused / this.#capacity <= LOAD_LATE_MS
    this.#calmMs = isCalm ? this.#calmMs + LOAD_TICK_MS + lateMs : 0
    if (this.#calmMs >= LOAD_CALM_MS) this.#allowance = Infinity
  }

  /** The next tick takes as long as this one did, as far as anybody knows. */
  #allow(lateMs: number): void {
    this.#allowance = Math.max(LOAD_ADMITTED_MIN, this.#rate * (LOAD_TICK_MS + lateMs))
  }
}
