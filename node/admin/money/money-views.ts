import { type Atoms, checksummed, formatUsdc } from '../../../lib/index.ts'
import type {
  Address,
  BookedEntry,
  ChainParameters,
  Earnings,
  Posting,
  ProviderEarnings,
  ReceiptRow,
  SettledTransaction,
  WalletBalance
} from '../../../lib/interface/index.ts'
import { formatEther } from '../../payments/ether.ts'
import type {
  BookEntryView,
  EarningsView,
  PostingView,
  ProviderEarningsView,
  ReceiptView,
  TransactionView,
  WalletView
} from './money-api.ts'

export function postingView({ account, amount }: Posting): PostingView {
  return { account, amount: formatUsdc(amount) }
}

export function bookEntryView({ seq, kind, reference, at, postings }: BookedEntry): BookEntryView {
  return { seq, kind, reference, at, postings: postings.map(postingView) }
}

export function walletView(
  { address, network, money }: { readonly address: Address; readonly network: string; readonly money: string },
  { latest, finalized, wei }: WalletBalance,
  held?: Atoms
): WalletView {
  return {
    address: checksummed(address),
    network,
    money,
    balance: formatUsdc(latest),
    balance_final: formatUsdc(finalized),
    gas: formatEther(wei),
    held: held === undefined ? null : formatUsdc(held)
  }
}

export function earningsView(
  { providers, asOf, isStale, claims, gas }: Earnings,
  money: string,
  { used, max }: { readonly used: Atoms; readonly max: Atoms }
): EarningsView {
  return {
    money,
    providers: providers.map(providerView),
    as_of: asOf === undefined ? null : { block: asOf.block.toString(), at: asOf.at },
    stale: isStale,
    claims: claims.map(transactionView),
    gas: { transactions: gas.transactions, cost: formatEther(gas.cost) },
    credit: { used: formatUsdc(used), max: formatUsdc(max) }
  }
}

function providerView(provider: ProviderEarnings): ProviderEarningsView {
  const { payout, splitter, paid, transactions } = provider
  const { gross, fee, net, direct, others, writtenOff, captured, claiming, claimed, waiting } = provider
  return {
    payout: payout === undefined ? null : checksummed(payout),
    splitter: checksummed(splitter),
    gross: formatUsdc(gross),
    fee: formatUsdc(fee),
    net: formatUsdc(net),
    direct: formatUsdc(direct),
    others: formatUsdc(others),
    written_off: formatUsdc(writtenOff),
    captured: formatUsdc(captured),
    claiming: formatUsdc(claiming),
    claimed: formatUsdc(claimed),
    waiting: formatUsdc(waiting),
    paid_provider: formatUsdc(paid.provider),
    paid_treasury: formatUsdc(paid.treasury),
    transactions: transactions.map(transactionView)
  }
}

/** The part of the key before the first slash names the kind of transaction. */
function transactionView({ key, hash, block, succeeded, cost }: SettledTransaction): TransactionView {
  return { what: key.split('/')[0] ?? '', hash, block: block.toString(), succeeded, cost: formatEther(cost) }
}

export function receiptView(
  row: ReceiptRow,
  role: 'payer' | 'owner',
  { chainId, settlement }: ChainParameters
): ReceiptView {
  const { requestId, api, peer, channelId, charged, rule, status, at, signature, proof, config } = row
  return {
    role,
    request_id: requestId,
    api,
    peer: peer ?? null,
    channel: channelId ?? null,
    charged: formatUsdc(charged),
    rule: rule ?? null,
    status,
    at,
    signature,
    proof: proof === undefined ? null : Buffer.from(proof).toString('base64'),
    channel_config: config === undefined ? null : { chain_id: chainId, contract: settlement.address, ...config }
  }
}
