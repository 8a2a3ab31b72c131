import { cappedDay } from '../../base/capped-day.ts'
import { leaseSize } from '../../base/lease-size.ts'
import { DAY_MS } from '../../base/limits/time.ts'
import type { Atoms } from '../../base/money.ts'

/** A leased part of a day's cap. It counts as signed for, and it is durable before any of it is used. */
export interface CapLease {
  readonly day: number
  readonly leased: Atoms
}

/**
 * The cap on vouchers that a node signs in one day (UTC), over all channels. A voucher counts when it is signed, because the
 * owner can claim it from then on.
 *
 * The cap is used in leases. A slice is durable before any of it is signed for, so a restart does not reset the cap, and only the
 * first call of a slice waits for the disk. A process that stops returns the unused part.
 */
export class DailyCap {
  readonly #cap: Atoms
  #lease: CapLease
  /** Size of this process's last lease. */
  #size = 0n
  #signed: Atoms

  /** @param last the last lease of an earlier process */
  constructor(cap: Atoms, last: CapLease = { day: 0, leased: 0n }) {
    this.#cap = cap
    this.#lease = last
    this.#signed = last.leased
  }

  /** The unused part of the lease. */
  left(now: number): Atoms {
    if (dayOf(now) > this.#lease.day) return 0n
    const { leased } = this.#lease
    return leased > this.#signed ? leased - this.#signed : 0n
  }

  /** The caller has checked `left`. */
  spend(amount: Atoms): void {
    this.#signed += amount
  }

  /** The next slice, for `grant` once it is durable. Undefined if the whole cap of this day is leased. */
  next(now: number): CapLease | undefined {
    const day = cappedDay(this.#lease.day, dayOf(now))
    // The lease was taken by a wrong clock. It counts today.
    if (day < this.#lease.day) this.#lease = { day, leased: this.#lease.leased }
    const before = day > this.#lease.day ? 0n : this.#lease.leased
    if (before >= this.#cap) return undefined
    const leased = before + leaseSize(this.#cap, this.#size)
    return { day, leased: leased < this.#cap ? leased : this.#cap }
  }

  /** Returns the unused part of the lease; further use needs another lease. Undefined if nothing is unused. */
  giveBack(): CapLease | undefined {
    if (this.#signed >= this.#lease.leased) return undefined
    this.#lease = { day: this.#lease.day, leased: this.#signed }
    return this.#lease
  }

  grant(lease: CapLease): void {
    if (lease.day > this.#lease.day) this.#signed = 0n
    else if (lease.day < this.#lease.day || lease.leased <= this.#lease.leased) return
    this.#size = leaseSize(this.#cap, this.#size)
    this.#lease = lease
  }
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS)
