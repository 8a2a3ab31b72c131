import { max, min } from '../../base/bigints.ts'
import { FEE_WEI_MAX } from '../../base/limits/chain.ts'
import type { Fees } from '../../interface/chain.ts'

/** Nodes accept a replacement only if both fees are at least 10% higher. One eighth leaves room for rounding. */
const RAISE = 8n

/** The network's current fees, limited to the highest fee that this node pays. */
export function capped({ maxFee, tip }: Fees): Fees {
  return { maxFee: min(maxFee, FEE_WEI_MAX), tip: min(tip, FEE_WEI_MAX) }
}

/** Fees that replace `old`, at least the network's current ones. Undefined if they exceed the highest fee that this node pays. */
export function bumped(old: Fees, now: Fees): Fees | undefined {
  const raised = { maxFee: raise(old.maxFee), tip: raise(old.tip) }
  if (raised.maxFee > FEE_WEI_MAX || raised.tip > FEE_WEI_MAX) return undefined
  const tip = max(raised.tip, now.tip)
  return capped({ tip, maxFee: max(raised.maxFee, max(now.maxFee, tip)) })
}

const raise = (fee: bigint): bigint => fee + fee / RAISE + 1n
