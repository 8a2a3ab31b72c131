import { CAP_LEASES, DAY_MS } from '../../base/limits.ts'
import type { Atoms } from '../../base/money.ts'

/** A part of a day's cap that is taken for signed, whether it is or not: what has to be durable before it may be. */
export interface CapLease {
  readonly day: number
  readonly leased: Atoms
}

/**
 * What may be signed for in one day (UTC), over all channels of a node. It is spent when a promise is signed, not when it is
 * drawn on: what is signed can be claimed.
 *
 * It is kept by leases: a slice of it is written down before any of it is signed for, so that a restart never opens the cap
 * again and no call waits for the disk but the first of each slice. What a process that stops has not signed for it gives back.
 */
export class DailyCap {
  readonly #cap: Atoms
  #lease: CapLease
  #signed: Atoms

  /** `last` is what an earlier process wrote down. */
  constructor(cap: Atoms, last: CapLease = { day: 0, leased: 0n }) {
    this.#cap = cap
    this.#lease = last
    this.#signed = last.leased
  }

  /** Of what is leased. */
  left(now: number): Atoms {
    if (dayOf(now) > this.#lease.day) return 0n
    const { leased } = this.#lease
    return leased > this.#signed ? leased - this.#signed : 0n
  }

  /** The caller has looked at `left`. */
  spend(amount: Atoms): void {
    this.#signed += amount
  }

  /** The next slice, for `grant` once it is durable; undefined where the whole cap of this day is out. */
  next(now: number): CapLease | undefined {
    // A clock set back does not open the cap again.
    const day = Math.max(dayOf(now), this.#lease.day)
    const before = day > this.#lease.day ? 0n : this.#lease.leased
    if (before >= this.#cap) return undefined
    const leased = before + (this.#cap + CAP_LEASES - 1n) / CAP_LEASES
    return { day, leased: leased < this.#cap ? leased : this.#cap }
  }

  /** What nothing was signed for; nothing more is from now on without another lease. Undefined where there is none. */
  giveBack(): CapLease | undefined {
    if (this.#signed >= this.#lease.leased) return undefined
    this.#lease = { day: this.#lease.day, leased: this.#signed }
    return this.#lease
  }

  grant(lease: CapLease): void {
    if (lease.day > this.#lease.day) this.#signed = 0n
    else if (lease.day < this.#lease.day || lease.leased <= this.#lease.leased) return
    this.#lease = lease
  }
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS)
