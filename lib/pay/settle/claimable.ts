import type { Atoms } from '../../base/money.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChannelSnapshot, OwnedChannel } from '../../interface/redeem.ts'
import type { Claim } from '../chain/settlement-calls.ts'

/** A claimable row with its proceeds. */
export interface Claimable {
  readonly channelId: ChannelId
  readonly row: Claim
  /** The amount above earlier claims. */
  readonly due: Atoms
  /** The payer is withdrawing: amounts not claimed within the delay are lost. */
  readonly isUrgent: boolean
}

/**
 * The amounts that channels owe: urgent ones first, then the largest. Claims are absolute and never above the channel's balance
 * at the newest block. A higher claim would fail the whole transaction.
 */
export function claimables(
  channels: Iterable<OwnedChannel>,
  snapshot: (id: ChannelId) => ChannelSnapshot | undefined
): Claimable[] {
  const found: Claimable[] = []
  for (const { channelId, config, voucher, captured } of channels) {
    const state = snapshot(channelId)?.latest
    if (voucher === undefined || state === undefined) continue
    const total = [captured, voucher.ceiling, state.balance].reduce((least, amount) =>
      amount < least ? amount : least
    )
    const due = total - state.claimed
    if (due <= 0n) continue
    found.push({ channelId, row: { config, voucher, total }, due, isUrgent: state.withdrawal !== undefined })
  }
  return found.sort(inOrder)
}

/** A deterministic order, so that a restarted process recognises a pending claim by its bytes. */
function inOrder(a: Claimable, b: Claimable): number {
  const byNeed = Number(b.isUrgent) - Number(a.isUrgent) || Number(b.due - a.due)
  return byNeed === 0 ? (a.channelId < b.channelId ? -1 : 1) : byNeed
}

export const sumOf = (rows: readonly Claimable[]): Atoms => rows.reduce((sum, { due }) => sum + due, 0n)
