import type { Atoms } from '../base/money.ts'
import type { Plan } from '../interface/plan.ts'

/** A number of calls per period at one price. */
export interface Band {
  /** May be `Infinity`. */
  readonly size: number
  readonly price: Atoms
}

/** The price bands of a period's calls, in order. A trial sells no calls beyond the included ones. */
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

/** The highest price of a plan's calls. */
export function dearestPrice({ overage }: Plan): Atoms {
  return overage.reduce((most, { price }) => (price > most ? price : most), 0n)
}

/** Total number of calls; undefined where unlimited. */
export function callsIn(bands: readonly Band[]): number | undefined {
  const sum = bands.reduce((calls, { size }) => calls + size, 0)
  return Number.isFinite(sum) ? sum : undefined
}
