import { FEE_WEI_MAX } from '../../base/limits.ts'
import type { Fees } from '../../interface/chain.ts'

/** Nodes take a replacement only where both fees are at least a tenth higher; an eighth leaves room for rounding. */
const RAISE = 8n

/** What the network asks now, as far as we ever pay. */
export function capped({ maxFee, tip }: Fees): Fees {
  return { maxFee: least(maxFee, FEE_WEI_MAX), tip: least(tip, FEE_WEI_MAX) }
}

/** Fees that replace `old`, and no less than what the network asks now; undefined where that is more than we ever pay. */
export function bumped(old: Fees, now: Fees): Fees | undefined {
  const raised = { maxFee: raise(old.maxFee), tip: raise(old.tip) }
  if (raised.maxFee > FEE_WEI_MAX || raised.tip > FEE_WEI_MAX) return undefined
  const tip = most(raised.tip, now.tip)
  return capped({ tip, maxFee: most(raised.maxFee, most(now.maxFee, tip)) })
}

const raise = (fee: bigint): bigint => fee + fee / RAISE + 1n
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
