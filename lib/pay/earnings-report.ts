import { max } from '../base/bigints.ts'
import { asSoukError, type SoukError } from '../base/errors.ts'
import { SETTLEMENTS_SHOWN_MAX } from '../base/limits/chain.ts'
import type { Atoms } from '../base/money.ts'
import type { Earnings, ProviderEarnings } from '../interface/earnings.ts'
import type { Ledger } from '../interface/ledger.ts'
import type { OwnedChannel, OwnerBooks } from '../interface/redeem.ts'
import type { Address } from '../interface/signer.ts'
import { type BookedSplitter, NOTHING_BOOKED } from './settle/booked-money.ts'
import type { Settlement } from './settle/settlement.ts'
import { treasuryPart } from './chain/splitter.ts'
import { exactAccounts } from './x402/exact-record.ts'

export interface EarningsInit {
  readonly books: OwnerBooks
  readonly ledger: Pick<Ledger, 'balance'>
  readonly settlement: Pick<Settlement, 'watch' | 'bookkeeper' | 'transactions'>
  readonly onError: (error: SoukError) => void
}

/** The earnings of this node's calls, and the places of the money. Reads the chain first; reports a failed read to `onError`. */
export async function earningsOf({ books, ledger, settlement, onError }: EarningsInit): Promise<Earnings> {
  const { watch, bookkeeper, transactions } = settlement
  let isStale = false
  await bookkeeper.look().catch((error: unknown) => {
    isStale = true
    onError(asSoukError(error))
  })
  const open = Array.from(books.channels(), (channel) => {
    return { ...channel, atHead: watch.snapshot(channel.channelId)?.latest.claimed ?? 0n, isClosed: false }
  })
  // All earnings of a closed channel count as claimed, even if nothing watches it any more.
  const closed = Array.from(books.closed(), (channel) => ({ ...channel, atHead: channel.captured, isClosed: true }))
  const channels = Map.groupBy([...open, ...closed], ({ config }) => config.receiver)
  const booked = bookkeeper.splitters()
  const splitters = new Set<Address>([...booked.keys(), ...channels.keys()])
  const { asOf } = bookkeeper
  const providerOf = async (splitter: Address): Promise<ProviderEarnings> => ({
    splitter,
    ...moneyOf({
      channels: channels.get(splitter) ?? [],
      exact: await exactMoneyOf(ledger, splitter),
      booked: booked.get(splitter) ?? NOTHING_BOOKED,
      bookedOf: (id) => bookkeeper.claimedOf(id),
      writtenOffOf: (id) => bookkeeper.writtenOffOf(id)
    }),
    transactions: await transactions.latest(splitter, SETTLEMENTS_SHOWN_MAX)
  })
  return {
    providers: await Promise.all(Array.from(splitters, providerOf)),
    ...(asOf === undefined ? {} : { asOf: { block: asOf.number, at: asOf.at } }),
    isStale,
    claims: await transactions.latest('claim', SETTLEMENTS_SHOWN_MAX),
    gas: transactions.cost
  }
}

interface ClaimedChannel extends Pick<OwnedChannel, 'channelId' | 'captured'> {
  /** The claimed part of the channel at the head of the chain. */
  readonly atHead: Atoms
  /** True if `captured` equals the claimed amount. */
  readonly isClosed: boolean
}

/** Earnings of calls that were paid by x402 `exact`. */
interface ExactMoney {
  /** Without amounts that could not be collected. */
  readonly earned: Atoms
  readonly lost: Atoms
  readonly owed: Atoms
  /** Above 0: money in transit to the splitter. Below 0: money that came to the splitter without a call. */
  readonly collected: Atoms
}

async function exactMoneyOf(ledger: Pick<Ledger, 'balance'>, splitter: Address): Promise<ExactMoney> {
  const names = exactAccounts(splitter)
  const accounts = [names.earned, names.lost, names.receivable, names.collected]
  const [earned = 0n, lost = 0n, owed = 0n, collected = 0n] = await Promise.all(
    accounts.map((account) => ledger.balance(account))
  )
  return { earned: -earned - lost, lost, owed, collected }
}

interface Money {
  readonly channels: readonly ClaimedChannel[]
  readonly exact: ExactMoney
  readonly booked: BookedSplitter
  readonly bookedOf: (id: OwnedChannel['channelId']) => Atoms
  readonly writtenOffOf: (id: OwnedChannel['channelId']) => Atoms
}

/** Counts each atom in exactly one place, whether a call earned it or it came otherwise. */
function moneyOf({
  channels,
  exact,
  booked,
  bookedOf,
  writtenOffOf
}: Money): Omit<ProviderEarnings, 'splitter' | 'transactions'> {
  let [captured, claiming] = [0n, 0n]
  for (const channel of channels) {
    const final = bookedOf(channel.channelId)
    const atHead = max(channel.atHead, final)
    const lost = channel.isClosed ? 0n : writtenOffOf(channel.channelId)
    captured += max(channel.captured - atHead - lost, 0n)
    claiming += atHead - final
  }
  const { payout, claimed, others, settled, direct, toProvider, toTreasury, writtenOff } = booked
  const gross = claimed + claiming + captured + exact.earned
  const fee = treasuryPart(gross)
  return {
    ...(payout === undefined ? {} : { payout }),
    gross,
    fee,
    net: gross - fee,
    direct: max(-exact.collected, 0n),
    others,
    writtenOff: writtenOff + exact.lost,
    captured: captured + exact.owed,
    claiming: claiming + max(exact.collected, 0n),
    claimed: claimed + others - settled,
    waiting: settled + direct - toProvider - toTreasury,
    paid: { provider: toProvider, treasury: toTreasury }
  }
}
