import { SoukError } from '../../base/errors.ts'
import type { Atoms } from '../../base/money.ts'

/** Why a call is rejected: the voucher's ceiling is too low, or the channel's limit is. */
export type PayeeFundsRefusal = 'ceiling' | 'limit'

/** The durable state of `PayeeFunds`. */
export interface PayeeFundsState {
  /** Ceiling of the highest voucher: A. */
  readonly ceiling: Atoms
  /** Captured amount: S. */
  readonly captured: Atoms
}

/** Money reserved for one call. Exactly one of `capture` and `release` ends the hold. */
export interface Hold {
  /** The highest amount that can be captured. */
  readonly amount: Atoms
  /** Reserves more for the same call, as for prices per event. Returns undefined when it is granted. */
  extend(more: Atoms): PayeeFundsRefusal | undefined
  /** Captures up to the held amount; the rest becomes free. */
  capture(amount: Atoms): void
  release(): void
}

/**
 * The state of one channel at its owner, without I/O. With A the highest signed ceiling, S the captured and R the reserved
 * amount, a call is admitted exactly when `S + R + price ≤ min(A, limit)`. A credit for a deposit in progress replaces a lower
 * limit.
 */
export class PayeeFunds {
  #ceiling: Atoms
  #captured: Atoms
  #reserved: Atoms = 0n
  #limit: Atoms = 0n
  #credit: Atoms = 0n
  #isForgotten = false
  /** For all holds, so that a call needs no functions of its own. */
  readonly #heldFunds: HeldFunds = {
    extend: (more) => this.#set(more, this.#ceiling),
    end: (amount, captured) => {
      this.#reserved -= amount
      this.#captured += captured
    }
  }

  constructor({ ceiling, captured }: PayeeFundsState) {
    this.#ceiling = ceiling
    this.#captured = captured
  }

  get ceiling(): Atoms {
    return this.#ceiling
  }
  get captured(): Atoms {
    return this.#captured
  }
  get reserved(): Atoms {
    return this.#reserved
  }
  get limit(): Atoms {
    return this.#limit
  }
  get credit(): Atoms {
    return this.#credit
  }
  get isForgotten(): boolean {
    return this.#isForgotten
  }

  /**
   * Takes the ceiling of a valid voucher. Vouchers may come in any order; a lower one changes nothing. Returns true if it was
   * higher.
   */
  raise(ceiling: Atoms): boolean {
    if (ceiling <= this.#ceiling) return false
    this.#ceiling = ceiling
    return true
  }

  /** Sets the minimum of the captured amount. Returns the increase. */
  recover(captured: Atoms): Atoms {
    const more = captured - this.#captured
    if (more <= 0n) return 0n
    this.#captured = captured
    return more
  }

  /** Takes an earlier capture back. */
  giveBack(amount: Atoms): void {
    this.#captured -= amount
  }

  /** Sets the limit that the chain shows now. If it is below the current total, no more calls are admitted. */
  limitTo(limit: Atoms): void {
    this.#limit = limit < 0n ? 0n : limit
  }

  /** Sets the total of calls that is admitted whatever the chain shows, while the deposit is being submitted. 0 ends it. */
  lend(credit: Atoms): void {
    this.#credit = credit
  }

  /**
   * Admits no more calls. The payer may register a forgotten channel again, with funds of its own: they would lack the charge of a
   * call that was admitted here.
   */
  forget(): void {
    this.#isForgotten = true
  }

  /** @param ceiling of a voucher that counts only if the call is charged; default: A */
  reserve(price: Atoms, ceiling = this.#ceiling): Hold | PayeeFundsRefusal {
    const refusal = this.#set(price, ceiling)
    if (refusal !== undefined) return refusal
    return new FundsHold(price, this.#heldFunds)
  }

  #set(price: Atoms, ceiling: Atoms): PayeeFundsRefusal | undefined {
    if (price < 0n) throw new SoukError('internal_error', 'A price is below zero.')
    const sum = this.#captured + this.#reserved + price
    if (this.#isForgotten || (sum > this.#limit && sum > this.#credit)) return 'limit'
    if (sum > ceiling) return 'ceiling'
    this.#reserved += price
    return undefined
  }
}

/** The part of `PayeeFunds` that holds change. */
interface HeldFunds {
  extend(more: Atoms): PayeeFundsRefusal | undefined
  end(amount: Atoms, captured: Atoms): void
}

class FundsHold implements Hold {
  amount: Atoms
  readonly #funds: HeldFunds
  #isOpen = true

  constructor(amount: Atoms, funds: HeldFunds) {
    this.amount = amount
    this.#funds = funds
  }

  extend(more: Atoms): PayeeFundsRefusal | undefined {
    this.#checkOpen()
    const refusal = this.#funds.extend(more)
    if (refusal === undefined) this.amount += more
    return refusal
  }

  capture(amount: Atoms): void {
    this.#checkOpen()
    if (amount < 0n || amount > this.amount)
      throw new SoukError('internal_error', 'The charge is above the reserved amount.')
    this.#isOpen = false
    this.#funds.end(this.amount, amount)
  }

  release(): void {
    this.capture(0n)
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw new SoukError('internal_error', 'The call is already settled.')
  }
}
