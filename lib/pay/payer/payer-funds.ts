import { min } from '../../base/bigints.ts'
import { SoukError } from '../../base/errors.ts'
import type { Atoms } from '../../base/money.ts'
import type { DailyCap } from './daily-cap.ts'

/** The limits of a payer towards one owner. */
export interface PayerFundsRules {
  /** How far vouchers are signed ahead of the calls: a number of calls or an amount, whichever is less. 0 signs each call. */
  readonly windowCalls: number
  readonly windowAtoms: Atoms
  /** The maximum that an owner could take without having earned it. */
  readonly exposureMax: Atoms
}

/** The durable state of `PayerFunds`. */
export interface PayerFundsState {
  /** The highest ceiling ever signed. */
  readonly ceiling: Atoms
  /** The amount that the owner captured, by its own report. */
  readonly spent: Atoms
  /** The channel's total deposit. */
  readonly deposit: Atoms
  /**
   * True if this state includes everything that was ever signed. True in the process that opened the channel, false after a
   * restart.
   */
  readonly isWhole: boolean
}

/**
 * Why a call cannot be paid now: `exposure`, wait for running calls; `deposit`, deposit the missing amount; `day`, the leased
 * part of the daily cap is used up.
 */
export type PayerFundsRefusal =
  | { readonly why: 'exposure'; readonly mayPass: boolean }
  | { readonly why: 'deposit'; readonly missing: Atoms }
  | { readonly why: 'day' }

/** Money promised for one call. Exactly one method ends the promise. */
export interface Promised {
  /** The ceiling that must be signed before the call is sent. */
  readonly ceiling: Atoms
  /**
   * The owner responded and charged `charged`. At most the promised amount counts, and never more than the owner captured in all: the
   * charge of a repeat may count already, by the owner's books.
   * @param captured the owner's total, by its receipt. Default: no limit
   * @returns the amount that counts now
   */
  settle(charged: Atoms, captured?: Atoms): Atoms
  /** The owner charged `amount` without a valid receipt. It stays disputed until `uncontest`. */
  contest(amount: Atoms): void
  /** The call was certainly not charged: the owner never accepted it, or signed that it charged nothing. */
  release(): void
  /** The call failed without a signed statement that it was not charged. The owner may show a charge later. */
  doubt(): void
  /** The outcome is unknown. The money stays promised until the owner's books are read. */
  lose(): void
}

/**
 * The state of one channel at its payer, the mirror of the owner's `PayeeFunds`, without I/O. It never promises above the deposit, above
 * the daily cap, or more than `exposureMax` beyond the captured amount. An owner's credit replaces a lower deposit.
 *
 * The owner's report of captures is accepted as far as sent calls without a known outcome explain it.
 */
export class PayerFunds {
  readonly #rules: PayerFundsRules
  readonly #cap: DailyCap
  #ceiling: Atoms
  #spent: Atoms
  /** The highest total that the owner reported as captured. */
  #reported: Atoms
  #deposit: Atoms
  #credit: Atoms = 0n
  #promised: Atoms = 0n
  #lost: Atoms = 0n
  /** Charged by the owner without a valid receipt. The owner's captured amount may include it. */
  #disputed: Atoms = 0n
  /** Amount of calls that failed without a signed statement. */
  #doubtful: Atoms = 0n
  /** Promised fees. The caller agreed to each, so they do not count towards the exposure. */
  #fees: Atoms = 0n
  /** Fees without a known outcome. They may be charged later, in full. */
  #openFees: Atoms = 0n
  /** Writes are asynchronous, so after a restart the state may miss calls, and any of them may have been charged. */
  #isWhole: boolean
  /** Undefined until the end. Then: sent calls explain what the owner kept. */
  #isEndExplained: boolean | undefined
  /** For all promises, so that a call needs no functions of its own. */
  readonly #promisedFunds: PromisedFunds = {
    end: (price, isFee) => {
      if (this.hasEnded) return
      this.#promised -= price
      if (isFee) this.#fees -= price
    },
    spend: (charged, captured) => this.#spend(charged, captured),
    contest: (amount) => this.contest(amount),
    doubt: (price, isFee) => {
      if (this.hasEnded) return
      if (isFee) this.#openFees += price
      this.#doubtful += price
    },
    lose: (price, isFee) => {
      if (this.hasEnded) return
      if (isFee) this.#openFees += price
      this.#lost += price
    }
  }

  constructor({ ceiling, spent, deposit, isWhole }: PayerFundsState, rules: PayerFundsRules, cap: DailyCap) {
    this.#rules = rules
    this.#cap = cap
    this.#ceiling = ceiling
    this.#spent = spent
    this.#reported = spent
    this.#deposit = deposit
    this.#isWhole = isWhole
  }

  get ceiling(): Atoms {
    return this.#ceiling
  }
  get spent(): Atoms {
    return this.#spent
  }
  get deposit(): Atoms {
    return this.#deposit
  }
  /** The total of calls that the owner serves although the deposit is not mined. */
  get credit(): Atoms {
    return this.#credit
  }
  /** False after a restart, until the owner's books are read. */
  get isWhole(): boolean {
    return this.#isWhole
  }
  /** Promised to calls that ended here without an outcome. The owner may have captured it. */
  get lost(): Atoms {
    return this.#lost
  }
  get disputed(): Atoms {
    return this.#disputed
  }
  /** Promised to calls without a known outcome. */
  get promised(): Atoms {
    return this.#promised + this.#lost
  }
  /** True if no call is running. */
  get isIdle(): boolean {
    return this.#promised === 0n
  }
  /** True once the channel has ended. What comes later, such as the response of a slow call, changes nothing. */
  get hasEnded(): boolean {
    return this.#isEndExplained !== undefined
  }
  /** The amount that can be promised before another deposit. */
  get left(): Atoms {
    return this.#deposit - this.#spent - this.#disputed - this.promised
  }

  /** Adds a disputed charge of an earlier process. */
  contest(amount: Atoms): void {
    if (!this.hasEnded) this.#disputed += amount
  }

  /** Disputes a charge that counts as spent. */
  contestSpent(amount: Atoms): void {
    this.#spent -= amount
    this.#disputed += amount
  }

  /**
   * Ends the dispute of a charge: `charged` of its amount is spent, the rest is free.
   * @param captured as in `Promised.settle`
   * @returns the amount that counts now
   */
  uncontest(amount: Atoms, charged: Atoms, captured?: Atoms): Atoms {
    this.#disputed -= amount
    return this.#spend(charged, captured)
  }

  /** Sets the channel's current balance: more after a deposit, less after a withdrawal or refund. */
  hold(deposit: Atoms): void {
    this.#deposit = deposit
  }

  /** Sets the credit that the owner gives while it submits the deposit. 0 ends it. */
  lend(credit: Atoms): void {
    this.#credit = credit
  }

  /** Promises a call's price. If the returned ceiling is new, it must be signed before the call is sent. */
  promise(price: Atoms, now: number, isFee = false): Promised | PayerFundsRefusal {
    const { exposureMax } = this.#rules
    const promised = this.promised + price
    const needed = this.#spent + promised
    const fees = isFee ? this.#fees + price : this.#fees
    if (promised - fees > exposureMax) {
      return { why: 'exposure', mayPass: this.#promised > 0n && this.#lost + (isFee ? 0n : price) <= exposureMax }
    }
    const held = this.#credit > this.#deposit ? this.#credit : this.#deposit
    if (needed > held) return { why: 'deposit', missing: needed - this.#deposit }
    if (needed > this.#ceiling) {
      const most = this.#ceiling + this.#cap.left(now)
      if (needed > most) return { why: 'day' }
      const bound = min(min(held, this.#spent + fees + exposureMax), most)
      const ceiling = min(needed + this.#window(price, isFee), bound)
      this.#cap.spend(ceiling - this.#ceiling)
      this.#ceiling = ceiling
    }
    this.#promised += price
    this.#fees = fees
    return new FundsPromise(this.#ceiling, price, isFee, this.#promisedFunds)
  }

  /**
   * Applies the owner's report of its captured and reserved amounts, as far as it can be explained. Returns false if it cannot:
   * the owner charges for calls that were never sent. The unexplained part of its reservations may still be released.
   *
   * @param price promised for the rejected call that has not ended yet; 0 if there is none
   */
  hear(captured: Atoms, reserved: Atoms, price: Atoms): boolean {
    if (this.hasEnded) return true
    const owed = captured + reserved
    const known = this.#spent + this.promised - price
    // The owner counts disputed charges as captured, unless it took them back.
    const gap = owed - known - min(this.#disputed, owed > known ? owed - known : 0n)
    if (owed > this.#ceiling || (gap > this.#doubtful && this.#isWhole)) return false
    this.#isWhole = true
    this.#report(captured)
    if (gap <= 0n) return true
    const running = min(gap, reserved)
    this.#doubtful -= min(gap, this.#doubtful)
    this.#lost += running
    this.#spent += gap - running
    return true
  }

  /**
   * Applies the owner's captured total at a time when it had reserved nothing, so no promise holds money. A lost call may still
   * be on its way, or wait for the owner's read of the chain. A later charge for it therefore stays explained.
   */
  reconcile(captured: Atoms): boolean {
    if (this.#promised > 0n || this.hasEnded) return true
    const explained = this.#isWhole ? this.#spent + this.#disputed + this.#lost + this.#doubtful : this.#ceiling
    if (captured > explained || captured > this.#ceiling) return false
    this.#isWhole = true
    this.#report(captured)
    const heard = captured > this.#spent + this.#disputed ? captured - this.#spent - this.#disputed : 0n
    const open = this.#lost + this.#doubtful
    this.#spent += heard
    this.#lost = 0n
    this.#openFees -= min(heard, this.#openFees)
    this.#doubtful = open > heard ? min(open - heard, this.#rules.exposureMax + this.#openFees) : 0n
    return true
  }

  /**
   * Ends the channel's accounting: the owner can take no more than it finally kept.
   * @returns true if sent calls explain what it kept. After a restart they do until the owner's books are read: the contract accepts
   *   only this payer's vouchers
   */
  end(kept: Atoms): boolean {
    this.#isEndExplained ??= !this.#isWhole || kept <= this.#spent + this.#disputed + this.#doubtful + this.promised
    if (kept > this.#spent) this.#spent = kept
    this.#promised = 0n
    this.#lost = 0n
    this.#disputed = 0n
    this.#doubtful = 0n
    this.#fees = 0n
    this.#openFees = 0n
    return this.#isEndExplained
  }

  /** Takes over a ceiling that carries the payer's own signature. It was signed before a restart and not saved. */
  recall(ceiling: Atoms): void {
    if (ceiling > this.#ceiling) this.#ceiling = ceiling
  }

  #report(captured: Atoms): void {
    if (captured > this.#reported) this.#reported = captured
  }

  /** The owner cannot have earned more than it captured, unless its total is below what it earned: then it has lost books. */
  #spend(charged: Atoms, captured?: Atoms): Atoms {
    if (this.hasEnded) return 0n
    const isBound = captured !== undefined && captured >= this.#spent
    if (captured !== undefined) this.#report(captured)
    const counted = isBound ? min(charged, this.#reported - this.#spent) : charged
    this.#spent += counted
    return counted
  }

  /** Vouchers are not signed ahead for fees. */
  #window(price: Atoms, isFee: boolean): Atoms {
    if (isFee) return 0n
    return min(BigInt(this.#rules.windowCalls) * price, this.#rules.windowAtoms)
  }
}

/** The part of `PayerFunds` that promises change. `end` takes the promised amount back. */
interface PromisedFunds {
  end(price: Atoms, isFee: boolean): void
  spend(charged: Atoms, captured?: Atoms): Atoms
  contest(amount: Atoms): void
  doubt(price: Atoms, isFee: boolean): void
  lose(price: Atoms, isFee: boolean): void
}

class FundsPromise implements Promised {
  readonly ceiling: Atoms
  readonly #price: Atoms
  readonly #isFee: boolean
  readonly #funds: PromisedFunds
  #isOpen = true

  constructor(ceiling: Atoms, price: Atoms, isFee: boolean, funds: PromisedFunds) {
    this.ceiling = ceiling
    this.#price = price
    this.#isFee = isFee
    this.#funds = funds
  }

  settle(charged: Atoms, captured?: Atoms): Atoms {
    this.release()
    return this.#funds.spend(min(charged, this.#price), captured)
  }

  contest(amount: Atoms): void {
    this.release()
    this.#funds.contest(amount)
  }

  release(): void {
    if (!this.#isOpen) throw new SoukError('internal_error', 'The call is already settled.')
    this.#isOpen = false
    this.#funds.end(this.#price, this.#isFee)
  }

  doubt(): void {
    this.release()
    this.#funds.doubt(this.#price, this.#isFee)
  }

  lose(): void {
    this.release()
    this.#funds.lose(this.#price, this.#isFee)
  }
}
