import { asSoukError, type SoukError } from '../base/errors.ts'
import { SETTLEMENTS_SHOWN_MAX } from '../base/limits.ts'
import type { Atoms } from '../base/money.ts'
import type { Earnings, ProviderEarnings } from '../interface/earnings.ts'
import type { OwnedChannel, OwnerBooks } from '../interface/redeem.ts'
import type { Address } from '../interface/signer.ts'
import { type BookedSplitter, NOTHING_BOOKED } from './booked-money.ts'
import type { Settlement } from './settlement.ts'
import { BPS } from './splitter.ts'

export interface EarningsInit {
  readonly books: OwnerBooks
  readonly settlement: Pick<Settlement, 'watch' | 'bookkeeper' | 'transactions'>
  readonly onError: (error: SoukError) => void
}

/** What this node's calls brought, and where it is: looks at the chain first, and tells when that did not work. */
export async function earningsOf({ books, settlement, onError }: EarningsInit): Promise<Earnings> {
  const { watch, bookkeeper, transactions } = settlement
  let isStale = false
  await bookkeeper.look().catch((error: unknown) => {
    isStale = true
    onError(asSoukError(error))
  })
  const open = Array.from(books.channels(), (channel) => {
    return { ...channel, atHead: watch.snapshot(channel.channelId)?.latest.claimed ?? 0n }
  })
  // All that a closed one ever earned is claimed, also where nobody looks at it any more.
  const closed = Array.from(books.closed(), (channel) => ({ ...channel, atHead: channel.captured }))
  const channels = Map.groupBy([...open, ...closed], ({ config }) => config.receiver)
  const booked = bookkeeper.splitters()
  const splitters = new Set<Address>([...booked.keys(), ...channels.keys()])
  const { asOf } = bookkeeper
  return {
    providers: Array.from(splitters, (splitter) => ({
      splitter,
      ...moneyOf(channels.get(splitter) ?? [], booked.get(splitter), (id) => bookkeeper.claimedOf(id)),
      transactions: transactions.latest([`settle/${splitter}/`, `distribute/${splitter}/`], SETTLEMENTS_SHOWN_MAX)
    })),
    ...(asOf === undefined ? {} : { asOf: { block: asOf.number, at: asOf.at } }),
    isStale,
    claims: transactions.latest(['claim/'], SETTLEMENTS_SHOWN_MAX),
    gas: transactions.cost
  }
}

interface ClaimedChannel extends Pick<OwnedChannel, 'channelId' | 'captured'> {
  /** Of it, claimed as the head of the chain shows it. */
  readonly atHead: Atoms
}

/** Each atom that calls earned, or that came otherwise, is counted in one place. */
function moneyOf(
  channels: readonly ClaimedChannel[],
  booked: BookedSplitter = NOTHING_BOOKED,
  bookedOf: (id: OwnedChannel['channelId']) => Atoms
): Omit<ProviderEarnings, 'splitter' | 'transactions'> {
  let [captured, claiming] = [0n, 0n]
  for (const channel of channels) {
    const final = bookedOf(channel.channelId)
    const atHead = most(channel.atHead, final)
    captured += most(channel.captured - atHead, 0n)
    claiming += atHead - final
  }
  const { payout, claimed, others, settled, direct, toProvider, toTreasury } = booked
  const gross = claimed + claiming + captured
  const fee = (gross * BigInt(BPS)) / 10_000n
  return {
    ...(payout === undefined ? {} : { payout }),
    gross,
    fee,
    net: gross - fee,
    direct,
    others,
    captured,
    claiming,
    claimed: claimed + others - settled,
    waiting: settled + direct - toProvider - toTreasury,
    paid: { provider: toProvider, treasury: toTreasury }
  }
}

const most = (a: Atoms, b: Atoms): Atoms => (a > b ? a : b)
