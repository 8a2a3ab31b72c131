import type { Encoding } from './encoding.ts'
import { MEMBER_STEPS } from '../schema/steps.ts'

/**
 * The order of elements that JSON states as `$order`: their names in the order of the document, where each takes the next value of
 * its field. Names without a value left are skipped. Values that no name takes follow at the end.
 */
export class Order {
  /** The group of each name. */
  readonly #groups: ReadonlyMap<string, number>
  /** The names that are left of each group, the next one last. */
  readonly #left: ReadonlyMap<number, string[]>
  readonly #hasValues: (name: string) => boolean

  private constructor(
    groups: ReadonlyMap<string, number>,
    names: readonly string[],
    hasValues: (name: string) => boolean
  ) {
    this.#groups = groups
    this.#left = Map.groupBy(names.toReversed(), (name) => groups.get(name) ?? 0)
    this.#hasValues = hasValues
  }

  /** Undefined if `given` is not a list of names, which is reported. */
  static of(
    encoder: Encoding,
    known: ReadonlyMap<string, number>,
    given: unknown,
    hasValues: (name: string) => boolean
  ): Order | undefined {
    const names: unknown[] | undefined = Array.isArray(given) ? given : undefined
    encoder.spend(MEMBER_STEPS * (names?.length ?? 0))
    const isValid = (name: unknown): name is string => typeof name === 'string' && known.has(name)
    if (names?.every(isValid) === true) return new Order(known, names, hasValues)
    encoder.at('$order', () => {
      const shown = [...known.keys()].slice(0, 20).join(', ')
      throw encoder.refuse(`must be an array of these names: ${shown}${known.size > 20 ? ', …' : ''}`)
    })
    return undefined
  }

  /** The name that has to come next in the group of this one; undefined if any may. */
  next(name: string): string | undefined {
    const left = this.#leftOf(name)
    for (let next = left.at(-1); next !== undefined; next = left.at(-1)) {
      if (this.#hasValues(next)) return next
      left.pop()
    }
    return undefined
  }

  /** True if an element with this name may be written now. */
  allows(name: string): boolean {
    return (this.next(name) ?? name) === name
  }

  take(name: string): void {
    if (this.next(name) === name) this.#leftOf(name).pop()
  }

  /** Takes the name up to `max` times in a row. */
  count(name: string, max: number): number {
    if (this.next(name) === undefined) return max
    const left = this.#leftOf(name)
    let taken = 0
    while (taken < max && left.at(-1) === name) {
      left.pop()
      taken++
    }
    return taken
  }

  #leftOf(name: string): string[] {
    const group = this.#groups.get(name)
    return (group === undefined ? undefined : this.#left.get(group)) ?? []
  }
}
