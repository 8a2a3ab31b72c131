import { SoukError } from '../../base/errors.ts'
import type { Atoms } from '../../base/money.ts'
import type { DailyCap } from './daily-cap.ts'

/** How far a payer goes with one owner. */
export interface PurseRules {
  /** Signed for ahead of the calls made: so many calls, or so much, whichever is less. 0 signs each call by itself. */
  readonly windowCalls: number
  readonly windowAtoms: Atoms
  /** What an owner could take without having earned it, at most. */
  readonly exposureMax: Atoms
}

/** What is durable of a purse. */
export interface PurseState {
  /** Highest ceiling ever signed. */
  readonly ceiling: Atoms
  /** What the owner captured, as it said. */
  readonly spent: Atoms
  /** What the channel holds in all. */
  readonly deposit: Atoms
  /** Nothing was ever signed that this does not know of: true in the process that opened the channel, false after a restart. */
  readonly isWhole: boolean
}

/** An answer to "may this call be paid for?" where it is no: wait for calls under way, deposit so much more, or not on what the day's cap is leased for. */
export type PurseRefusal =
  | { readonly why: 'exposure'; readonly mayPass: boolean }
  | { readonly why: 'deposit'; readonly missing: Atoms }
  | { readonly why: 'day' }

/** The money promised for one call. Exactly one method ends it. */
export interface Promised {
  /** The ceiling that has to be signed for this call to be let in. */
  readonly ceiling: Atoms
  /** The owner answered, and charged so much; never more than was promised counts. */
  settle(charged: Atoms): void
  /** It was certainly not charged: not taken, or the owner signed so. */
  release(): void
  /** It failed, and nobody signed that it was not charged: a later word of the owner may show that it was. */
  doubt(): void
  /** Nobody knows. It stays promised until the owner's books are heard. */
  lose(): void
}

/**
 * One channel as its payer sees it: the mirror of the owner's `Tab`, without any I/O. It never promises above the deposit,
 * the day's cap, or `exposureMax` beyond what was captured.
 *
 * What the owner says it captured is believed as far as calls that were sent and whose end was not heard explain it.
 */
export class Purse {
  readonly #rules: PurseRules
  readonly #cap: DailyCap
  #ceiling: Atoms
  #spent: Atoms
  #deposit: Atoms
  #promised: Atoms = 0n
  #lost: Atoms = 0n
  /** Of calls that failed without a signed word on it. */
  #doubtful: Atoms = 0n
  /** Promised for fees: each was agreed to as such, and is no part of what an owner may hold unearned. */
  #fees: Atoms = 0n
  /** Fees whose end was not heard: they may be charged later, whole. */
  #openFees: Atoms = 0n
  /** State is written behind: after a restart calls are missing from it, and any of them may have been charged. */
  #isWhole: boolean

  constructor({ ceiling, spent, deposit, isWhole }: PurseState, rules: PurseRules, cap: DailyCap) {
    this.#rules = rules
    this.#cap = cap
    this.#ceiling = ceiling
    this.#spent = spent
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
  /** False after a restart, until the owner's books were heard. */
  get isWhole(): boolean {
    return this.#isWhole
  }
  /** Promised to calls that are over here, and may have been captured. */
  get lost(): Atoms {
    return this.#lost
  }
  /** Promised to calls whose end is not known. */
  get promised(): Atoms {
    return this.#promised + this.#lost
  }
  /** Of calls that are under way now. */
  get isIdle(): boolean {
    return this.#promised === 0n
  }
  /** What is left to promise before more has to be deposited. */
  get left(): Atoms {
    return this.#deposit - this.#spent - this.promised
  }

  /** What the channel holds now: more after a deposit, less after a withdrawal or refund. */
  hold(deposit: Atoms): void {
    this.#deposit = deposit
  }

  /** Promises a call's price. When the ceiling it answers with is new, it has to be signed before the call is sent. */
  promise(price: Atoms, now: number, isFee = false): Promised | PurseRefusal {
    const { exposureMax } = this.#rules
    const promised = this.promised + price
    const needed = this.#spent + promised
    const fees = isFee ? this.#fees + price : this.#fees
    if (promised - fees > exposureMax) {
      return { why: 'exposure', mayPass: this.#promised > 0n && this.#lost + (isFee ? 0n : price) <= exposureMax }
    }
    if (needed > this.#deposit) return { why: 'deposit', missing: needed - this.#deposit }
    if (needed > this.#ceiling) {
      const most = this.#ceiling + this.#cap.left(now)
      if (needed > most) return { why: 'day' }
      const ceiling = min(needed + this.#window(price, isFee), this.#deposit, this.#spent + fees + exposureMax, most)
      this.#cap.spend(ceiling - this.#ceiling)
      this.#ceiling = ceiling
    }
    this.#promised += price
    this.#fees = fees
    return this.#promiseOf(price, isFee)
  }

  /**
   * The owner's word on what it has captured and set aside on this channel. Takes it over as far as it can be explained, and
   * tells whether it could be: where not, this owner charges for what was never sent. What it set aside for calls that this
   * purse knows nothing of may still come back.
   *
   * @param price Promised for the call that was not let in, where one was, and not ended yet
   */
  hear(captured: Atoms, reserved: Atoms, price: Atoms): boolean {
    const owed = captured + reserved
    const gap = owed - (this.#spent + this.promised - price)
    if (owed > this.#ceiling || (gap > this.#doubtful && this.#isWhole)) return false
    this.#isWhole = true
    if (gap <= 0n) return true
    const running = min(gap, reserved)
    this.#doubtful -= min(gap, this.#doubtful)
    this.#lost += running
    this.#spent += gap - running
    return true
  }

  /**
   * What the owner had captured in all when it had set nothing aside: no promise holds money any more. A call that was lost may
   * still be on its way there, or wait for the owner's look at the chain, and be charged after all: that stays explained.
   */
  reconcile(captured: Atoms): boolean {
    if (this.#promised > 0n) return true
    const explained = this.#isWhole ? this.#spent + this.#lost + this.#doubtful : this.#ceiling
    if (captured > explained || captured > this.#ceiling) return false
    this.#isWhole = true
    const heard = captured > this.#spent ? captured - this.#spent : 0n
    const open = this.#lost + this.#doubtful
    this.#spent += heard
    this.#lost = 0n
    this.#openFees -= min(heard, this.#openFees)
    this.#doubtful = open > heard ? min(open - heard, this.#rules.exposureMax + this.#openFees) : 0n
    return true
  }

  /** Nobody can take any more of it than the owner kept in the end. */
  end(kept: Atoms): void {
    if (kept > this.#spent) this.#spent = kept
    this.#lost = 0n
    this.#doubtful = 0n
    this.#openFees = 0n
  }

  /** A ceiling that turned up with the payer's own signature on it: signed before a restart that forgot it. */
  recall(ceiling: Atoms): void {
    if (ceiling > this.#ceiling) this.#ceiling = ceiling
  }

  /** Nobody signs ahead for fees. */
  #window(price: Atoms, isFee: boolean): Atoms {
    if (isFee) return 0n
    return min(BigInt(this.#rules.windowCalls) * price, this.#rules.windowAtoms)
  }

  #promiseOf(price: Atoms, isFee: boolean): Promised {
    let isOpen = true
    const end = (): void => {
      if (!isOpen) throw new SoukError('internal_error', 'The call was settled before.')
      isOpen = false
      this.#promised -= price
      if (isFee) this.#fees -= price
    }
    return {
      ceiling: this.#ceiling,
      settle: (charged) => {
        end()
        this.#spent += min(charged, price)
      },
      release: end,
      doubt: () => {
        end()
        if (isFee) this.#openFees += price
        this.#doubtful += price
      },
      lose: () => {
        end()
        if (isFee) this.#openFees += price
        this.#lost += price
      }
    }
  }
}

function min(first: Atoms, ...others: readonly Atoms[]): Atoms {
  return others.reduce((least, each) => (each < least ? each : least), first)
}
