import { type Atoms, limits } from '../../lib/index.ts'
import type { Address, BlockTag } from '../../lib/interface/index.ts'

interface Credited {
  readonly payer: Address
  readonly amount: Atoms
  /** Block depth at which the deposit was credited. */
  readonly depth: BlockTag
}

const DEPTHS: readonly BlockTag[] = ['latest', 'safe', 'finalized']

/**
 * Tracks deposits that were credited before they were final, and the depth that the next one needs. A small sum counts at once, a larger
 * one when `safe`, any sum when `finalized`.
 */
export class Unsettled {
  readonly #credited = new Map<string, Credited>()

  /** Whether a deposit counts at its depth. It may be credited again, after the database was away. */
  counts(name: string, { payer, amount, depth }: Credited): boolean {
    return DEPTHS.indexOf(depth) >= DEPTHS.indexOf(this.#needed(name, payer, amount))
  }

  add(name: string, credited: Credited): void {
    if (credited.depth === 'finalized') this.delete(name)
    else this.#credited.set(name, credited)
  }

  delete(name: string): void {
    this.#credited.delete(name)
  }

  #needed(name: string, payer: Address, amount: Atoms): BlockTag {
    const others = [...this.#credited].flatMap(([other, one]) => (other === name ? [] : [one]))
    const sum = (holds: (one: Credited) => boolean): Atoms =>
      others.filter(holds).reduce((total, one) => total + one.amount, amount)
    const all = sum(({ depth }) => depth === 'latest')
    const own = sum((one) => one.payer === payer)
    const ownLatest = sum((one) => one.payer === payer && one.depth === 'latest')
    if (ownLatest <= limits.COUNTED_LATEST_ATOMS_MAX && all <= limits.COUNTED_LATEST_OWNER_ATOMS_MAX) return 'latest'
    return own <= limits.COUNTED_SAFE_ATOMS_MAX ? 'safe' : 'finalized'
  }
}
