import type { Atoms } from '../base/money.ts'
import type { Plan } from '../interface/plan.ts'

/** So many calls of a period at one price. */
export interface Band {
  /** May be `Infinity`. */
  readonly size: number
  readonly price: Atoms
}

/** The calls of a period, in the order of their prices. In a trial nothing is sold beyond what is included. */
export function bandsOf({ included, overage }: Plan, isTrial: boolean): Band[] {
  if (included === undefined) return [{ size: Number.POSITIVE_INFINITY, price: 0n }]
  const free = { size: included, price: 0n }
  if (isTrial) return [free]
  let last = 0
  const tiers = overage.map(({ upTo = Number.POSITIVE_INFINITY, price }) => {
    const size = upTo - last
    last = upTo
    return { size, price }
  })
  return [free, ...tiers]
}

/** What the dearest call of a plan costs. */
export function dearestPrice({ overage }: Plan): Atoms {
  return overage.reduce((most, { price }) => (price > most ? price : most), 0n)
}

/** How many calls there are in all; undefined where there is no end to them. */
export function callsIn(bands: readonly Band[]): number | undefined {
  const sum = bands.reduce((calls, { size }) => calls + size, 0)
  return Number.isFinite(sum) ? sum : undefined
}
