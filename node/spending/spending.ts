import type { Atoms } from '../../lib/index.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { DailyCaps, KeyDay } from './daily-caps.ts'

/** What one call costs whoever holds its key. A reservation is a ceiling: at most that much is charged, and only on success. */
export interface Purchase {
  /** Before the call is sent, and again where its price has changed since. @throws SoukError `spend_cap_reached` (or rejects) */
  reserve(price: Atoms): void | Promise<void>
  /** The call succeeded; the rest is free again. */
  capture(charged: Atoms): void
  /** It did not. Nothing happens after a capture. */
  release(): void
}

/** Holds the calls of keys to what their keys may spend. */
export class Spending {
  readonly #caps: DailyCaps

  constructor({ caps }: { readonly caps: DailyCaps }) {
    this.#caps = caps
  }

  begin(holder: KeyHolder): Purchase {
    return new CappedPurchase(this.#caps, holder)
  }
}

class CappedPurchase implements Purchase {
  readonly #caps: DailyCaps
  readonly #holder: KeyHolder
  #day: KeyDay | undefined
  #reserved = 0n

  constructor(caps: DailyCaps, holder: KeyHolder) {
    this.#caps = caps
    this.#holder = holder
  }

  reserve(price: Atoms): void | Promise<void> {
    const more = price - this.#reserved
    if (more <= 0n) return
    const day = (this.#day ??= this.#caps.today(this.#holder))
    const reserving = this.#caps.reserve(day, more)
    if (reserving === undefined) this.#reserved += more
    else return reserving.then(() => void (this.#reserved += more))
  }

  capture(charged: Atoms): void {
    this.#end(charged)
  }

  release(): void {
    this.#end(0n)
  }

  #end(charged: Atoms): void {
    if (this.#day !== undefined && charged < this.#reserved) this.#caps.release(this.#day, this.#reserved - charged)
    this.#day = undefined
    this.#reserved = 0n
  }
}
