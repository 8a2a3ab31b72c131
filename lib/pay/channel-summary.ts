import type { Atoms } from '../base/money.ts'
import type { ChannelId, ChannelPhase } from '../interface/channel.ts'
import type { Address } from '../interface/signer.ts'
import type { PayeeChannel } from './payee/payee-channel.ts'
import type { PayeeChannels } from './payee/payee-channels.ts'
import type { PayerChannel } from './payer/payer-channel.ts'

/** A channel from one of its two sides. Amounts are USDC atoms. */
export interface ChannelSummary {
  /** This node's side of the channel. */
  readonly role: 'payer' | 'owner'
  readonly channelId: ChannelId
  /** Peer id of the other side. Absent for an x402 client, which has no node. */
  readonly peer?: string
  /** The provider's splitter. */
  readonly receiver: Address
  readonly state: ChannelPhase
  /**
   * True if the owner's books could not be explained at some time. The payer stops paying that owner, even after the channel is
   * closed.
   */
  readonly isDisputed: boolean
  /** The channel's balance on chain, claimed or not, as last read. */
  readonly deposit: Atoms
  /** Ceiling of the highest voucher: A. */
  readonly ceiling: Atoms
  /** Total cost of the calls: S. */
  readonly spent: Atoms
  /**
   * Amount reserved for calls without a known outcome: R. At the payer, calls without any response count until the channel is
   * closed.
   */
  readonly reserved: Atoms
  /** At the payer: charges without a valid receipt. Not part of `spent`. Absent for none. */
  readonly disputed?: Atoms
  /** The part of `spent` that the owner has claimed on chain, as last read. */
  readonly claimed?: Atoms
  /** Amount that finally came back to the payer. */
  readonly returned?: Atoms
  /** Time from which a withdrawal can be finished: chain time, milliseconds since the epoch. */
  readonly withdrawableAt?: number
}

export function payerSummary({ info, payerFunds, channelState, withdrawableAt }: PayerChannel): ChannelSummary {
  const { phase, isDisputed, returned } = channelState
  return {
    role: 'payer',
    channelId: info.channelId,
    peer: info.owner,
    receiver: info.config.receiver,
    state: phase,
    isDisputed,
    deposit: payerFunds.deposit,
    ceiling: payerFunds.ceiling,
    spent: payerFunds.spent,
    reserved: payerFunds.promised,
    ...(payerFunds.disputed === 0n ? {} : { disputed: payerFunds.disputed }),
    ...(returned === undefined ? {} : { returned }),
    ...(withdrawableAt === undefined ? {} : { withdrawableAt })
  }
}

export function ownerSummary(
  { info, payeeFunds, channelState }: PayeeChannel,
  channels: PayeeChannels
): ChannelSummary {
  const latest = channels.snapshot(info.channelId)?.latest
  const withdrawal = latest?.withdrawal
  const claimed = latest?.claimed ?? channelState.claimed
  return {
    role: 'owner',
    channelId: info.channelId,
    ...(info.peer === undefined ? {} : { peer: info.peer }),
    receiver: info.config.receiver,
    state: channelState.phase,
    isDisputed: false,
    deposit: latest?.balance ?? claimed ?? 0n,
    ceiling: payeeFunds.ceiling,
    spent: payeeFunds.captured,
    reserved: payeeFunds.reserved,
    ...(claimed === undefined ? {} : { claimed }),
    ...(withdrawal && { withdrawableAt: withdrawal.since + info.config.withdrawDelay * 1_000 })
  }
}
