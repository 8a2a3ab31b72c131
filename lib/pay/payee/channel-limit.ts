import { max, min } from '../../base/bigints.ts'
import { COUNTED_LATEST_ATOMS_MAX, COUNTED_SAFE_ATOMS_MAX } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'

/** A channel's on-chain state. A balance is all deposits minus refunds; claims do not lower it. */
export interface ChannelView {
  /** At the newest block, which a reorganisation may remove; at the `safe` block; and finalized. */
  readonly balance: { readonly latest: Atoms; readonly safe: Atoms; readonly finalized: Atoms }
  /** Amount of a pending withdrawal at the newest block. It counts as withdrawn at once. */
  readonly withdrawing: Atoms
}

export interface ChannelLimitInit {
  readonly view: ChannelView
  /** Captured, reserved, and the price of a call that asks. */
  readonly used: Atoms
  /** Refunds that the owner has signed and that are not mined. */
  readonly refunding: Atoms
  /** The amount that the owner may still count on blocks that are not final, over all its channels. */
  readonly latestRoom: Atoms
}

export interface ChannelLimit {
  /** Maximum total of calls on this channel. */
  readonly limit: Atoms
  /** The part of `limit` that rests on the newest block only. It is taken from `latestRoom`. */
  readonly onLatest: Atoms
}

/**
 * How much of a channel's deposits counts: all that is final, a part of what is `safe` and not final, and a smaller part of what is only
 * mined. This bounds the loss by a reorganisation, and a small deposit or top-up counts without a wait. What is only mined counts as far as
 * the channel may soon need it, so that busy payers leave the owner's room to newcomers.
 */
export function channelLimit({ view, used, refunding, latestRoom }: ChannelLimitInit): ChannelLimit {
  const { latest, safe, finalized } = view.balance
  const settled = finalized + min(max(0n, safe - finalized), COUNTED_SAFE_ATOMS_MAX)
  const fresh = max(0n, latest - max(safe, finalized))
  const needed = max(0n, COUNTED_LATEST_ATOMS_MAX - max(0n, settled - used))
  const onLatest = min(min(fresh, needed), max(0n, latestRoom))
  const limit = min(settled + onLatest, latest) - view.withdrawing - refunding
  return { limit: max(0n, limit), onLatest }
}
