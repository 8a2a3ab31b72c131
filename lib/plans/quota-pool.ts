import type { Atoms } from '../base/money.ts'
import type { Quota } from '../interface/subscription.ts'
import { type Band, callsIn } from './bands.ts'

/** A quota reservation for one call. Call `use` if the call succeeds, then `end` once. */
export interface Place {
  readonly price: Atoms
  /** Counts the call as used. */
  use(): void
  /**
   * Ends the reservation. `isKept` is false where the use was not stored, or the call failed: then the reservation is
   * free again.
   */
  end(isKept: boolean): void
}

export interface QuotaPoolInit {
  readonly bands: readonly Band[]
  /** Calls granted to this process, by band. Without sharing, all calls of the period. */
  readonly granted: readonly number[]
  /** Used calls of these, by band. */
  readonly used: readonly number[]
  readonly included?: number
  readonly resetsAt: number
}

/**
 * The quota of one period in this process, by price band. A call reserves from the cheapest band with a free call, and
 * returns it on failure. So every call of the quota is charged once, in whatever order calls end.
 */
export class QuotaPool {
  readonly bands: readonly Band[]
  readonly #init: QuotaPoolInit
  readonly #granted: number[]
  readonly #used: number[]
  readonly #reserved: number[]
  #open = 0
  /** Calls taken by other processes, by band, as last read. */
  #others: readonly number[] = []

  constructor(init: QuotaPoolInit) {
    this.#init = init
    this.bands = init.bands
    this.#granted = [...init.granted]
    this.#used = init.bands.map((_, i) => init.used[i] ?? 0)
    this.#reserved = init.bands.map(() => 0)
  }

  get used(): readonly number[] {
    return this.#used
  }
  /** No reservation is open, so all counts are stored. */
  get isIdle(): boolean {
    return this.#open === 0
  }

  /**
   * Reserves the cheapest free call. Returns a band's number where more calls must be granted from it first, and
   * undefined where the quota is used up.
   */
  reserve(): Place | number | undefined {
    for (const [i, { size, price }] of this.bands.entries()) {
      if (at(this.#used, i) + at(this.#reserved, i) < at(this.#granted, i)) return this.#place(i, price)
      if (at(this.#granted, i) + at(this.#others, i) < size) return i
    }
    return undefined
  }

  /** @param taken - total granted to this process. @param others - total granted to others */
  grant(taken: readonly number[], others: readonly number[]): void {
    for (const [i, places] of taken.entries()) this.#granted[i] = Math.max(at(this.#granted, i), places)
    this.#others = others
  }

  /**
   * Returns unused shared quota; keeps what is used or reserved. Returns the kept calls by band, or undefined where
   * nothing changed.
   */
  letGo(): readonly number[] | undefined {
    const kept = this.bands.map(({ size }, i) => (size === Infinity ? 0 : at(this.#used, i) + at(this.#reserved, i)))
    const isShared = (i: number) => this.bands[i]?.size !== Infinity
    if (!kept.some((places, i) => isShared(i) && places < at(this.#granted, i))) return undefined
    for (const [i, places] of kept.entries()) if (isShared(i)) this.#granted[i] = places
    return kept
  }

  /** Included calls that are used or reserved. The rest has a value when the plan changes. */
  get freeTaken(): number {
    return at(this.#used, 0) + at(this.#reserved, 0) + at(this.#others, 0)
  }

  quota(): Quota {
    const { included, resetsAt } = this.#init
    const limit = callsIn(this.bands)
    const used = sum(this.#used) + sum(this.#others)
    return {
      used,
      resetsAt,
      ...(included === undefined ? {} : { included }),
      ...(limit === undefined ? {} : { limit })
    }
  }

  #place(band: number, price: Atoms): Place {
    const add = (to: number[], places: number) => void (to[band] = at(to, band) + places)
    let isUsed = false
    add(this.#reserved, 1)
    this.#open++
    return {
      price,
      use: () => {
        isUsed = true
        add(this.#reserved, -1)
        add(this.#used, 1)
      },
      end: (isKept) => {
        this.#open--
        if (!isUsed) add(this.#reserved, -1)
        else if (!isKept) add(this.#used, -1)
      }
    }
  }
}

const at = (list: readonly number[], i: number): number => list[i] ?? 0

const sum = (list: readonly number[]): number => list.reduce((all, each) => all + each, 0)
