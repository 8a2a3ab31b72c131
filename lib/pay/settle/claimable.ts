import type { Atoms } from '../../base/money.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChannelSnapshot, OwnedChannel } from '../../interface/redeem.ts'
import type { Claim } from '../chain/settlement-calls.ts'

/** A row that can be claimed, with what it brings. */
export interface Claimable {
  readonly channelId: ChannelId
  readonly row: Claim
  /** Above what was claimed before. */
  readonly due: Atoms
  /** The payer is leaving: what is not claimed before the delay is over is lost. */
  readonly isUrgent: boolean
}

/**
 * What channels owe, the urgent first, then the largest. Claims are absolute and never above what the channel holds at the
 * head: the contract refuses more, and with it the whole transaction.
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

/** The same rows in the same order every time: a restarted process then knows the claim that is under way by its bytes. */
function inOrder(a: Claimable, b: Claimable): number {
  const byNeed = Number(b.isUrgent) - Number(a.isUrgent) || Number(b.due - a.due)
  return byNeed === 0 ? (a.channelId < b.channelId ? -1 : 1) : byNeed
}

export const sumOf = (rows: readonly Claimable[]): Atoms => rows.reduce((sum, { due }) => sum + due, 0n)
