import type { Encoding } from './encoding.ts'
import type { Shape } from '../schema/model.ts'

/** The items of `$any`, which the wildcards of one complex value take one after the other. Only elements count, not text. */
export class AnyItems {
  readonly items: readonly unknown[]
  #next = 0
  /** The number of elements taken beyond the minimum of their wildcard, which a later wildcard may lack. */
  #surplus = 0

  private constructor(items: readonly unknown[], surplus: number) {
    this.items = items
    this.#surplus = surplus
  }

  static of(encoder: Encoding, { wildcard, mixed }: Shape, given: unknown): AnyItems {
    if (given === undefined || wildcard === undefined) return new AnyItems([], 0)
    let items: readonly unknown[] | undefined
    encoder.at('$any', () => {
      if (!Array.isArray(given)) throw encoder.refuse('must be an array', given)
      items = given
      if (mixed) return
      for (const [index, item] of items.entries()) {
        if (typeof item === 'string')
          encoder.at(index, () => {
            throw encoder.refuse('must be an object with the name of an element: there can be no text here', item)
          })
      }
    })
    // A value that is refused already is not missing as well.
    return new AnyItems(items ?? [], items === undefined ? Number.POSITIVE_INFINITY : 0)
  }

  get isLeft(): boolean {
    return this.#next < this.items.length
  }

  /** The number of the next items that have at most `max` elements. */
  itemsWithin(max: number): number {
    let elements = 0
    let at = this.#next
    for (; at < this.items.length; at++) {
      if (typeof this.items[at] !== 'string' && ++elements > max) break
    }
    return at - this.#next
  }

  /** Takes the next items for a wildcard, and tells the number of elements that are missing to its minimum. */
  take(
    count: number,
    min: number
  ): { readonly range: { readonly from: number; readonly to: number }; readonly missing: number } {
    const range = { from: this.#next, to: this.#next + count }
    let elements = 0
    for (let at = range.from; at < range.to; at++) if (typeof this.items[at] !== 'string') elements++
    this.#next = range.to
    this.#surplus += elements - min
    if (this.#surplus >= 0) return { range, missing: 0 }
    const missing = -this.#surplus
    this.#surplus = 0
    return { range, missing }
  }

  /** Refuses the items that no wildcard took. */
  refuseRest(encoder: Encoding): void {
    if (!this.isLeft) return
    const taken = this.items.slice(0, this.#next).filter((item) => typeof item !== 'string').length
    encoder.at('$any', () => {
      throw encoder.refuse(
        taken === 0 ? 'cannot be given together with the other fields' : `can have only ${taken} elements`
      )
    })
  }
}
