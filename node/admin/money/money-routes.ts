import { checksummed, formatUsdc, parseAddress, parseApiRef, parseUsdc } from '../../../lib/index.ts'
import type { Redemption } from '../../../lib/interface/index.ts'
import {
  booksSchema,
  booksViewSchema,
  earningsViewSchema,
  receiptsSchema,
  receiptsViewSchema,
  type SettlementView,
  settlementViewSchema,
  walletViewSchema,
  withdrawalViewSchema,
  withdrawSchema
} from './money-api.ts'
import { bookEntryView, earningsView, postingView, receiptView, walletView } from './money-views.ts'
import { requireMoney } from '../require-money.ts'
import { present } from '../../present.ts'
import { route } from '../route.ts'

/** Routes for the wallet of this node. */
export const balanceRoutes = [
  route({
    method: 'GET',
    path: '/wallet',
    summary: 'Balance of the wallet, without deposits in channels.',
    response: walletViewSchema,
    async handler({ souk, accounts, money }) {
      const { paymentScheme, name } = requireMoney(money)
      const { network } = souk.status()
      const [balance, held] = await Promise.all([paymentScheme.wallet.balance(), accounts.held()])
      return walletView({ address: paymentScheme.wallet.address, network, money: name }, balance, held)
    }
  }),
  route({
    method: 'POST',
    path: '/wallet/withdrawals',
    summary: 'Sends USDC from the wallet. A repeat with the same `id` sends nothing more.',
    body: withdrawSchema,
    response: withdrawalViewSchema,
    async handler({ money }, { body: { amount, to, id }, signal }) {
      const { paymentScheme } = requireMoney(money)
      const withdrawal = { amount: parseUsdc(amount), to: parseAddress(to), id }
      const { hash } = await paymentScheme.wallet.withdraw(withdrawal, signal)
      return { amount: formatUsdc(withdrawal.amount), to: checksummed(withdrawal.to), transaction: hash }
    }
  })
] as const

/** Routes for payments and earnings of this node. */
export const moneyRoutes = [
  route({
    method: 'GET',
    path: '/earnings',
    summary: 'Earnings from calls, and where the money is.',
    response: earningsViewSchema,
    async handler({ money }) {
      const { paymentScheme, name } = requireMoney(money)
      return earningsView(await paymentScheme.earnings(), name, paymentScheme.credit())
    }
  }),
  route({
    method: 'POST',
    path: '/settlements',
    summary: 'Claims and pays out all earnings, even if the gas costs more than they are worth.',
    response: settlementViewSchema,
    async handler({ money }, { signal }) {
      const { paymentScheme } = requireMoney(money)
      return settlementView(await paymentScheme.settlement.redeemer.settleNow(signal))
    }
  }),
  route({
    method: 'GET',
    path: '/receipts',
    summary: 'Paid calls, newest first.',
    query: receiptsSchema,
    response: receiptsViewSchema,
    async handler({ money }, { query }) {
      if (query.api !== undefined) parseApiRef(query.api)
      const { paymentScheme, name, chain } = requireMoney(money)
      const { receipts, next } = await paymentScheme.receipts(present(query))
      return {
        money: name,
        receipts: receipts.map((row) => receiptView(row, query.role, chain.parameters)),
        next: next ?? null
      }
    }
  }),
  route({
    method: 'GET',
    path: '/books',
    summary: 'Entries of the ledger, oldest first.',
    query: booksSchema,
    response: booksViewSchema,
    async handler({ souk, accounts }, { query: { book, after, limit } }) {
      const ledger = book === 'node' ? souk.store.ledger : accounts.ledger
      const [entries, carried] = await Promise.all([
        ledger.entries({ after, limit }),
        after === 0 ? ledger.carried('') : []
      ])
      const next = entries.length < limit ? null : (entries.at(-1)?.seq ?? null)
      return { carried: carried.map(postingView), entries: entries.map(bookEntryView), next }
    }
  })
] as const

function settlementView(redemption: Redemption): SettlementView {
  const { claimed, settled, distributed, transactions, refused, withheld } = redemption
  return {
    claimed: formatUsdc(claimed),
    settled: formatUsdc(settled),
    distributed: formatUsdc(distributed),
    transactions: transactions.map(({ hash }) => hash),
    refused: refused.map(({ channelId, reason }) => ({ channel: channelId, reason })),
    withheld: withheld.map(({ to, amount, reason }) => ({ to: checksummed(to), amount: formatUsdc(amount), reason }))
  }
}
