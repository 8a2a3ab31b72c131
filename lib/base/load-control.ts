import type { Clock } from './clock.ts'
import {
  LOAD_ADMITTED_MIN,
  LOAD_CALM_MS,
  LOAD_LATE_MS,
  LOAD_LATE_TICKS,
  LOAD_TARGET_MS,
  LOAD_TICK_MS,
  LOAD_TURN_MS_MAX
} from './limits/admission.ts'

/** Factors by which the admission rate shrinks or grows per tick. */
const [SHRINK, GROW] = [0.9, 1.1]
/** Initial and minimum admission rate under overload, as parts of the rate measured while the loop was late. */
const [FIRST_PART, LEAST_PART] = [0.75, 0.5]

/**
 * Admission control by event-loop delay, which is the time a request waits before this process reads it. While the loop
 * is on time, all requests are admitted, however many are running. A slow upstream is therefore no overload.
 *
 * When the loop is late several ticks in a row, requests are admitted at a lower rate and the rest is refused at once.
 * The rate adapts until a turn takes `LOAD_TARGET_MS` again. It never falls below half of the measured rate, because
 * refusals cost time too. Every turn reads all arrived requests, so each is admitted or refused within one turn and
 * none waits in a queue.
 *
 * A tick's allowance is divided equally among the callers of the tick before. So a caller that sends ten times as much
 * does not displace the others.
 *
 * A timer runs only while requests come. At least `LOAD_ADMITTED_MIN` requests a tick are admitted, so that an idle
 * node on a busy machine refuses nothing.
 */
export class LoadControl {
  readonly #clock: Pick<Clock, 'elapsed' | 'after'>
  /** Undefined while no timer runs. */
  #tickDueAt: number | undefined
  /** Requests admitted per tick. Infinite while the loop is on time. */
  #allowance = Infinity
  /**
   * Requests per millisecond under overload: `#rate` is the admitted rate, `#capacity` the rate measured while the loop
   * was late.
   */
  #rate = 0
  #capacity = 0
  #admitted = 0
  #refused = 0
  #lateTicks = 0
  /** Sum over the late ticks in a row. */
  #lateAdmitted = 0
  #lateMs = 0
  #calmMs = 0
  readonly #byCaller = new Map<string, number>()
  #callersBefore = 1

  constructor(clock: Pick<Clock, 'elapsed' | 'after'>) {
    this.#clock = clock
  }

  /** True while requests are refused, and shortly after. */
  get isOverloaded(): boolean {
    return this.#allowance !== Infinity
  }

  /** Whether to admit one more request. @param caller - returns the caller's name; called under overload only */
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
    // A refused caller also gets a share of the next tick.
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
    // An idle node needs no timer. A remaining allowance is removed after a calm period.
    if (isIdle && this.#allowance === Infinity) this.#tickDueAt = undefined
    else this.#start()
  }

  /**
   * A single long turn can have any cause, such as a large document. Several late and busy turns in a row are overload.
   */
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
    // Calm means that the refused requests would also have been served in time.
    const isCalm = lateMs + this.#refused / this.#capacity <= LOAD_LATE_MS
    this.#calmMs = isCalm ? this.#calmMs + LOAD_TICK_MS + lateMs : 0
    if (this.#calmMs >= LOAD_CALM_MS) this.#allowance = Infinity
  }

  /** Assumes that the next tick takes as long as this one. */
  #allow(lateMs: number): void {
    this.#allowance = Math.max(LOAD_ADMITTED_MIN, this.#rate * (LOAD_TICK_MS + lateMs))
  }
}
