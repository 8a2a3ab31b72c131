import { SoukError } from '../../base/errors.ts'
import type { Atoms } from '../../base/money.ts'

/** Why a call is not let in: the payer has not signed for as much, or the channel is not good for as much. */
export type TabRefusal = 'ceiling' | 'limit'

/** What is durable of a tab. */
export interface TabState {
  /** Of the highest voucher: A. */
  readonly ceiling: Atoms
  /** S. */
  readonly captured: Atoms
}

/** Money set aside for one call. Exactly one of `capture` and `release` ends it. */
export interface Hold {
  /** What may be captured at most. */
  readonly amount: Atoms
  /** More for the same call, as with prices per event; undefined when it was granted. */
  extend(more: Atoms): TabRefusal | undefined
  /** Up to what is held; the rest is free again. */
  capture(amount: Atoms): void
  release(): void
}

/**
 * One channel as its owner sees it, without any I/O. With A the highest ceiling signed, S what was captured and R what is
 * set aside for calls under way, a call is let in exactly when `S + R + price ≤ min(A, limit)`.
 */
export class Tab {
  #ceiling: Atoms
  #captured: Atoms
  #reserved: Atoms = 0n
  #limit: Atoms = 0n

  constructor({ ceiling, captured }: TabState) {
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

  /** The ceiling of a voucher that was found sound. Vouchers come in any order: a lower one changes nothing. Tells whether it was higher. */
  raise(ceiling: Atoms): boolean {
    if (ceiling <= this.#ceiling) return false
    this.#ceiling = ceiling
    return true
  }

  /** So much was captured at least. Returns by how much that is more than was known. */
  recover(captured: Atoms): Atoms {
    const more = captured - this.#captured
    if (more <= 0n) return 0n
    this.#captured = captured
    return more
  }

  /** What the channel is good for, as the chain shows it now. It may fall below what is out already: then nothing more is let in. */
  limitTo(limit: Atoms): void {
    this.#limit = limit < 0n ? 0n : limit
  }

  /** @param ceiling of a voucher that counts only if the call is charged; default: A */
  reserve(price: Atoms, ceiling = this.#ceiling): Hold | TabRefusal {
    const refusal = this.#set(price, ceiling)
    if (refusal !== undefined) return refusal
    let amount = price
    let isOpen = true
    const end = (captured: Atoms): void => {
      if (!isOpen) throw new SoukError('internal_error', 'The call was settled before.')
      if (captured < 0n || captured > amount) throw new SoukError('internal_error', 'More was charged than was held.')
      isOpen = false
      this.#reserved -= amount
      this.#captured += captured
    }
    return {
      get amount() {
        return amount
      },
      extend: (more) => {
        if (!isOpen) throw new SoukError('internal_error', 'The call was settled before.')
        const refusal = this.#set(more, this.#ceiling)
        if (refusal === undefined) amount += more
        return refusal
      },
      capture: end,
      release: () => end(0n)
    }
  }

  #set(price: Atoms, ceiling: Atoms): TabRefusal | undefined {
    if (price < 0n) throw new SoukError('internal_error', 'A price is below zero.')
    const sum = this.#captured + this.#reserved + price
    if (sum > this.#limit) return 'limit'
    if (sum > ceiling) return 'ceiling'
    this.#reserved += price
    return undefined
  }
}
