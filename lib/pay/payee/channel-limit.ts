import { COUNTED_LATEST_ATOMS_MAX, COUNTED_SAFE_ATOMS_MAX } from '../../base/limits.ts'
import type { Atoms } from '../../base/money.ts'

/** A channel as a chain shows it. Balances are of all that was ever deposited and not given back: claims do not lower them. */
export interface ChannelView {
  /** At the head of the chain, where a reorganisation can still take it away; a few blocks on; and for good. */
  readonly balance: { readonly latest: Atoms; readonly safe: Atoms; readonly finalized: Atoms }
  /** Of a withdrawal begun, at the head: it is treated as gone at once. */
  readonly withdrawing: Atoms
}

export interface ChannelLimitInit {
  readonly view: ChannelView
  /** Refunds signed by the owner and not yet mined. */
  readonly refunding: Atoms
  /** What the owner may still count, over all its channels, on blocks that can be taken back. */
  readonly latestRoom: Atoms
}

export interface ChannelLimit {
  /** What calls on this channel may sum up to. */
  readonly limit: Atoms
  /** The part of it that only the head of the chain vouches for: it takes from `latestRoom`. */
  readonly onLatest: Atoms
}

/**
 * How much of a channel counts. A newcomer's first dollar counts as soon as it is mined, more once it is `safe`, and a lot
 * only when it is `finalized`, so that what a reorganisation can cost is bounded and nobody waits for a small deposit.
 */
export function channelLimit({ view, refunding, latestRoom }: ChannelLimitInit): ChannelLimit {
  const { latest, safe, finalized } = view.balance
  const settled = max(finalized, min(safe, COUNTED_SAFE_ATOMS_MAX))
  const fresh = max(0n, min(latest, COUNTED_LATEST_ATOMS_MAX) - settled)
  const onLatest = min(fresh, max(0n, latestRoom))
  const limit = min(settled + onLatest, latest) - view.withdrawing - refunding
  return { limit: max(0n, limit), onLatest }
}

const min = (a: Atoms, b: Atoms): Atoms => (a < b ? a : b)
const max = (a: Atoms, b: Atoms): Atoms => (a > b ? a : b)
