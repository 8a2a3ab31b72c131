import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { Address } from './signer.ts'

/** A transaction of this node that is final, and what it cost. */
export interface SettledTransaction {
  /** The plan that it was sent for: what it did stands in front of the first `/`. */
  readonly key: string
  readonly hash: Hex
  readonly block: bigint
  /** It may be in a block and yet have done nothing. */
  readonly succeeded: boolean
  /** In wei. */
  readonly cost: bigint
}

/**
 * The money of one provider, as the owner's books have it. What calls earned stands in exactly one of `captured`, `claiming`,
 * `claimed`, `splitter` and `paid`, together with `direct` and `others`.
 */
export interface ProviderEarnings {
  /** Where the provider is paid. Absent for a splitter of which the provider was never named here. */
  readonly payout?: Address
  readonly splitter: Address
  /** What calls were charged, less what was written off; the treasury's share of it, rounded down; and the rest. */
  readonly gross: Atoms
  readonly fee: Atoms
  readonly net: Atoms
  /** Came to the splitter for no call of this owner: a gift, or an x402 `exact` payment that another node took. */
  readonly direct: Atoms
  /** Claimed by other nodes that serve the same provider. */
  readonly others: Atoms
  /** Charged, and not to be collected any more: its deposit was taken back with its block, or withdrawn before it was claimed. */
  readonly writtenOff: Atoms
  /** In the channels, as far as the head of the chain shows, or promised by x402 `exact` payments. */
  readonly captured: Atoms
  /** Claimed or collected in a block that may still be taken back. */
  readonly claiming: Atoms
  /** Claimed for good, not moved to the splitter yet. */
  readonly claimed: Atoms
  /** In the splitter, not paid out yet. */
  readonly waiting: Atoms
  /** Paid out for good. */
  readonly paid: { readonly provider: Atoms; readonly treasury: Atoms }
  /** Newest first: what this node had settled and paid out. Others may have done so as well. */
  readonly transactions: readonly SettledTransaction[]
}

/** What this node's calls brought, and where it is. */
export interface Earnings {
  readonly providers: readonly ProviderEarnings[]
  /** The last final block that the books know; absent before the first look. `at` is the chain's time, in milliseconds. */
  readonly asOf?: { readonly block: bigint; readonly at: number }
  /** What the chain's side said when it was asked just now and did not answer. */
  readonly isStale: boolean
  /** Newest first: claims, of which one may be for several providers. */
  readonly claims: readonly SettledTransaction[]
  /** All final transactions of this node: how many, and their cost in wei. */
  readonly gas: { readonly transactions: number; readonly cost: bigint }
}
