import type { Atoms } from '../../base/money.ts'
import type { Block, SplitterState } from '../../interface/chain.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { Entry, Posting } from '../../interface/ledger.ts'
import type { Address } from '../../interface/signer.ts'
import { receivableOf } from '../payee/payee-channel.ts'

/** The ledger accounts of captured money on its way to provider and treasury. Each holds the amount that is there now. */
const claimedFor = (splitter: Address): string => `claimed/${splitter}`
const inSplitter = (splitter: Address): string => `splitter/${splitter}`
const paidToProvider = (splitter: Address): string => `payout/${splitter}`
const paidToTreasury = (splitter: Address): string => `treasury/${splitter}`
/** Charges that no channel holds money for any more. */
export const uncollectedOf = (channelId: ChannelId): string => `uncollected/${channelId}`
/** Sources of money that no call of this owner earned. */
const claimedByOthers = (splitter: Address): string => `others/${splitter}`
export const paidDirectly = (splitter: Address): string => `direct/${splitter}`

/** An entry without its time. Its reference contains the total that it leads to, so that it is booked only once. */
export type MoneyEntry = Omit<Entry, 'at'>

interface Grown {
  readonly splitter: Address
  readonly total: Atoms
  readonly amount: Atoms
}

export function claimEntry({ splitter, channelId, total, amount }: Grown & { channelId: ChannelId }): MoneyEntry {
  return {
    kind: 'claim',
    reference: `${channelId}/${total}`,
    postings: move(receivableOf(channelId), claimedFor(splitter), amount)
  }
}

/** Written off up to `total`. The amount is negative when written-off money is recovered. */
export function writeOffEntry(lost: { channelId: ChannelId; block: Block; total: Atoms; amount: Atoms }): MoneyEntry {
  const { channelId, block, total, amount } = lost
  return {
    kind: 'write_off',
    reference: `${channelId}/${block.number}/${total}`,
    postings: move(receivableOf(channelId), uncollectedOf(channelId), amount)
  }
}

/** Negative when a channel that counted as another node's turns out to be this node's. */
export function othersEntry({ splitter, block, amount }: Omit<Grown, 'total'> & { readonly block: Block }): MoneyEntry {
  return {
    kind: 'others',
    reference: `${splitter}/${block.number}`,
    postings: move(claimedByOthers(splitter), claimedFor(splitter), amount)
  }
}

export function settleEntry({ splitter, total, amount }: Grown): MoneyEntry {
  return {
    kind: 'settle',
    reference: `${splitter}/${total}`,
    postings: move(claimedFor(splitter), inSplitter(splitter), amount)
  }
}

export function directEntry({ splitter, total, amount }: Grown): MoneyEntry {
  return {
    kind: 'direct',
    reference: `${splitter}/${total}`,
    postings: move(paidDirectly(splitter), inSplitter(splitter), amount)
  }
}

/** One side may be paid without the other. */
export function distributeEntry(paid: {
  readonly splitter: Address
  readonly totals: Pick<SplitterState, 'toProvider' | 'toTreasury'>
  readonly amounts: { readonly provider: Atoms; readonly treasury: Atoms }
}): MoneyEntry {
  const { splitter, totals, amounts } = paid
  const { provider, treasury } = amounts
  const sides = [
    { account: paidToProvider(splitter), amount: provider },
    { account: paidToTreasury(splitter), amount: treasury }
  ]
  return {
    kind: 'distribute',
    reference: `${splitter}/${totals.toProvider}/${totals.toTreasury}`,
    postings: [
      ...sides.filter(({ amount }) => amount !== 0n),
      { account: inSplitter(splitter), amount: -provider - treasury }
    ]
  }
}

function move(from: string, to: string, amount: Atoms): Posting[] {
  return [
    { account: to, amount },
    { account: from, amount: -amount }
  ]
}
