import type { Atoms } from '../base/money.ts'
import type { ChannelId, ChannelPhase } from '../interface/channel.ts'
import type { Address } from '../interface/signer.ts'
import type { PayeeChannel } from './payee/payee-channel.ts'
import type { PayeeChannels } from './payee/payee-channels.ts'
import type { PayerChannel } from './payer/payer-channel.ts'

/** A channel as one of its two sides has it. Amounts are USDC atoms. */
export interface ChannelSummary {
  /** What this node is on it. */
  readonly role: 'payer' | 'owner'
  readonly channelId: ChannelId
  /** Peer id of the other side. Absent where that is a client of x402, which has no node. */
  readonly peer?: string
  /** The provider's splitter. */
  readonly receiver: Address
  readonly state: ChannelPhase
  /** The owner's books could not be explained once; the payer pays it no more, also when the channel is long closed. */
  readonly isDisputed: boolean
  /** What it holds, claimed or not, as far as was looked. */
  readonly deposit: Atoms
  /** Of the highest voucher: A. */
  readonly ceiling: Atoms
  /** What calls have cost: S. */
  readonly spent: Atoms
  /** Set aside for calls whose end is not known: R. At the payer, those that were never heard of count until it has left. */
  readonly reserved: Atoms
  /** Of what was spent, so much the owner has claimed on chain, as far as was looked. */
  readonly claimed?: Atoms
  /** What came back to the payer in the end. */
  readonly returned?: Atoms
  /** A withdrawal can be finished from then on; milliseconds since the epoch, by the chain's own time. */
  readonly withdrawableAt?: number
}

export function payerSummary({ info, purse, standing, withdrawableAt }: PayerChannel): ChannelSummary {
  const { phase, isDisputed, returned } = standing
  return {
    role: 'payer',
    channelId: info.channelId,
    peer: info.owner,
    receiver: info.config.receiver,
    state: phase,
    isDisputed,
    deposit: purse.deposit,
    ceiling: purse.ceiling,
    spent: purse.spent,
    reserved: purse.promised,
    ...(returned === undefined ? {} : { returned }),
    ...(withdrawableAt === undefined ? {} : { withdrawableAt })
  }
}

export function ownerSummary({ info, tab, standing }: PayeeChannel, channels: PayeeChannels): ChannelSummary {
  const latest = channels.snapshot(info.channelId)?.latest
  const withdrawal = latest?.withdrawal
  const claimed = latest?.claimed ?? standing.claimed
  return {
    role: 'owner',
    channelId: info.channelId,
    ...(info.peer === undefined ? {} : { peer: info.peer }),
    receiver: info.config.receiver,
    state: standing.phase,
    isDisputed: false,
    deposit: latest?.balance ?? claimed ?? 0n,
    ceiling: tab.ceiling,
    spent: tab.captured,
    reserved: tab.reserved,
    ...(claimed === undefined ? {} : { claimed }),
    ...(withdrawal && { withdrawableAt: withdrawal.since + info.config.withdrawDelay * 1_000 })
  }
}
