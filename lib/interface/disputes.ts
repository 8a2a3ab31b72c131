import type { Atoms } from '../base/money.ts'
import type { ChannelId } from './channel.ts'

/**
 * States of a disputed charge. `open`: the payer pays this owner no more. `proved`: the owner sent a valid receipt. `taken_back`: the
 * owner charges nothing. `accepted`: the payer pays without a proof. `returned`: the amount came back when the channel was closed.
 */
export const DISPUTE_STATES = ['open', 'proved', 'taken_back', 'accepted', 'returned'] as const

export type DisputeState = (typeof DISPUTE_STATES)[number]

/** A charge that its payer disputes, from one of the two sides. */
export interface Dispute {
  /** This node's side. */
  readonly role: 'payer' | 'owner'
  readonly requestId: string
  readonly api: string
  /** Peer id of the other side. */
  readonly peer: string
  readonly channelId: ChannelId
  readonly amount: Atoms
  /** The fault of the receipt, in the payer's word. */
  readonly fault: string
  readonly state: DisputeState
  /** Milliseconds since the epoch: when this side learned of it. */
  readonly at: number
}
