import type { Atoms } from '../base/money.ts'
import type { Quota } from '../interface/subscription.ts'
import { type Band, callsIn } from './bands.ts'

/** A place for one call in the period: `end` is called once, `use` before it where the call succeeded. */
export interface Place {
  readonly price: Atoms
  /** It is used from now on. */
  use(): void
  /** It is written down that it was used; or it was not, and is free again. */
  end(isKept: boolean): void
}

export interface QuotaBookInit {
  readonly bands: readonly Band[]
  /** Places in hand, by band: of a period that nobody shares, all. */
  readonly granted: readonly number[]
  /** Those of them that calls have used. */
  readonly used: readonly number[]
  readonly included?: number
  readonly resetsAt: number
}

/**
 * The calls of one period in this process, by band. A call takes a place in the cheapest band that has one, and gives it back where
 * it fails: so each place is paid for once, whatever order calls end in.
 */
export class QuotaBook {
  readonly bands: readonly Band[]
  readonly #init: QuotaBookInit
  readonly #granted: number[]
  readonly #used: number[]
  readonly #reserved: number[]
  #open = 0
  /** Places that other processes took, by band, as they were seen last. */
  #others: readonly number[] = []

  constructor(init: QuotaBookInit) {
    this.#init = init
    this.bands = init.bands
    this.#granted = [...init.granted]
    this.#used = init.bands.map((_, i) => init.used[i] ?? 0)
    this.#reserved = init.bands.map(() => 0)
  }

  get used(): readonly number[] {
    return this.#used
  }
  /** No place is out: all of it is on disk. */
  get isIdle(): boolean {
    return this.#open === 0
  }

  /** The cheapest place in hand; the number of the band that more have to be taken in first; or nothing, as all are gone. */
  reserve(): Place | number | undefined {
    for (const [i, { size, price }] of this.bands.entries()) {
      if (at(this.#used, i) + at(this.#reserved, i) < at(this.#granted, i)) return this.#place(i, price)
      if (at(this.#granted, i) + at(this.#others, i) < size) return i
    }
    return undefined
  }

  /** @param taken - by this process in all, and by the others */
  grant(taken: readonly number[], others: readonly number[]): void {
    for (const [i, places] of taken.entries()) this.#granted[i] = Math.max(at(this.#granted, i), places)
    this.#others = others
  }

  /** Keeps of what it shares with others only what is used or may be. Returns that, by band; undefined where it had no more. */
  letGo(): readonly number[] | undefined {
    const kept = this.bands.map(({ size }, i) => (size === Infinity ? 0 : at(this.#used, i) + at(this.#reserved, i)))
    const isShared = (i: number) => this.bands[i]?.size !== Infinity
    if (!kept.some((places, i) => isShared(i) && places < at(this.#granted, i))) return undefined
    for (const [i, places] of kept.entries()) if (isShared(i)) this.#granted[i] = places
    return kept
  }

  /** Calls of the first band that are used or may be: what is left of it is worth something. */
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
