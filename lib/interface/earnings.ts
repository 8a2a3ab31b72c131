import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { Address } from './signer.ts'

/** A final transaction of this node, and its cost. */
export interface SettledTransaction {
  /** Key of the submitted plan. The part before the first `/` names the action. */
  readonly key: string
  readonly hash: Hex
  readonly block: bigint
  /** False where the transaction is in a block but reverted. */
  readonly succeeded: boolean
  /** In wei. */
  readonly cost: bigint
}

/**
 * The money of one provider in the owner's books. Each amount earned by calls is in exactly one of `captured`,
 * `claiming`, `claimed`, `waiting` and `paid`. These fields also contain `direct` and `others`.
 */
export interface ProviderEarnings {
  /** Address that receives the provider's money. Absent for a splitter whose provider this node does not know. */
  readonly payout?: Address
  readonly splitter: Address
  /**
   * `gross`: charged for calls, minus what was written off. `fee`: the treasury's share, rounded down. `net`: the rest.
   */
  readonly gross: Atoms
  readonly fee: Atoms
  readonly net: Atoms
  /** Money in the splitter that no call of this owner earned: a gift, or an x402 `exact` payment to another node. */
  readonly direct: Atoms
  /** Claimed by other nodes that serve the same provider. */
  readonly others: Atoms
  /**
   * Charged, but no longer collectable: the block with the deposit was reverted, or the payer withdrew before the
   * claim.
   */
  readonly writtenOff: Atoms
  /** Still in the channels at the head of the chain, or promised by x402 `exact` payments. */
  readonly captured: Atoms
  /** Claimed or collected in a block that is not final yet. */
  readonly claiming: Atoms
  /** Claimed in a final block, not yet moved to the splitter. */
  readonly claimed: Atoms
  /** In the splitter, not yet paid out. */
  readonly waiting: Atoms
  /** Paid out in a final block. */
  readonly paid: { readonly provider: Atoms; readonly treasury: Atoms }
  /** Newest first: settlements and payouts that this node sent. Other nodes may have sent some as well. */
  readonly transactions: readonly SettledTransaction[]
}

/** The earnings of this node's calls, and where the money is now. */
export interface Earnings {
  readonly providers: readonly ProviderEarnings[]
  /**
   * Last final block in the books. Absent before the first query of the chain. `at` is the chain's time in
   * milliseconds.
   */
  readonly asOf?: { readonly block: bigint; readonly at: number }
  /** True where the chain did not respond just now: the figures are from an earlier query. */
  readonly isStale: boolean
  /** Newest first. One claim may cover several providers. */
  readonly claims: readonly SettledTransaction[]
  /** Number of all final transactions of this node, and their cost in wei. */
  readonly gas: { readonly transactions: number; readonly cost: bigint }
}
