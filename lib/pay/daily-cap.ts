import { DAY_MS } from '../base/limits.ts'
import type { Atoms } from '../base/money.ts'

/**
 * What may be signed for in one day (UTC), over all channels of a node. It is spent when a promise is signed, not when it is
 * drawn on: what is signed can be claimed.
 */
export class DailyCap {
  readonly #cap: Atoms
  #day: number
  #signed: Atoms

  /** `signed` is what was signed in the day of `at` before a restart. */
  constructor(cap: Atoms, signed: Atoms = 0n, at = 0) {
    this.#cap = cap
    this.#signed = signed
    this.#day = dayOf(at)
  }

  left(now: number): Atoms {
    this.#turn(now)
    return this.#cap > this.#signed ? this.#cap - this.#signed : 0n
  }

  /** The caller has looked at `left`. */
  spend(amount: Atoms, now: number): void {
    this.#turn(now)
    this.#signed += amount
  }

  #turn(now: number): void {
    // A clock set back does not open the cap again.
    if (dayOf(now) <= this.#day) return
    this.#day = dayOf(now)
    this.#signed = 0n
  }
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS)
