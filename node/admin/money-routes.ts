import type { FastifyInstance } from 'fastify'
import { checksummed, formatUsdc, parseAddress, parseUsdc } from '../../lib/index.ts'
import type { Redemption } from '../../lib/interface/index.ts'
import { whileConnected } from '../ingress/visit.ts'
import type { AdminInit } from './admin-init.ts'
import {
  booksSchema,
  type BooksView,
  type EarningsView,
  receiptsSchema,
  type ReceiptsView,
  type SettlementView,
  type WalletView,
  type WithdrawalView,
  withdrawSchema
} from './money-api.ts'
import { moving } from './moving.ts'
import { bookEntryView, earningsView, postingView, receiptView, walletView } from './money-views.ts'
import { present } from './present.ts'
import { parse } from './problems.ts'

/** What this node paid and earned. */
export function moneyRoutes(app: FastifyInstance, { souk, accounts, money }: AdminInit): void {
  app.post('/settlements', async (_request, reply): Promise<SettlementView> => {
    const { till } = moving(money)
    return settlementView(await till.settlement.redeemer.settleNow(whileConnected(reply.raw)))
  })

  app.get('/earnings', async (): Promise<EarningsView> => {
    const { till, name } = moving(money)
    return earningsView(await till.earnings(), name)
  })

  app.get('/receipts', async (request): Promise<ReceiptsView> => {
    const query = parse(receiptsSchema, request.query)
    const { till, name } = moving(money)
    const { receipts, next } = await till.receipts(present(query))
    return { money: name, receipts: receipts.map((row) => receiptView(row, query.role)), next: next ?? null }
  })

  app.get('/books', async (request): Promise<BooksView> => {
    const { book, after, limit } = parse(booksSchema, request.query)
    const ledger = book === 'node' ? souk.store.ledger : accounts.ledger
    const [entries, carried] = await Promise.all([
      ledger.entries({ after, limit }),
      after === 0 ? ledger.carried('') : []
    ])
    const next = entries.length < limit ? null : (entries.at(-1)?.seq ?? null)
    return { carried: carried.map(postingView), entries: entries.map(bookEntryView), next }
  })

  app.get('/wallet', async (): Promise<WalletView> => {
    const { till, name } = moving(money)
    const { network } = souk.status()
    const [balance, held] = await Promise.all([till.wallet.balance(), accounts.held()])
    return walletView({ address: till.wallet.address, network, money: name }, balance, held)
  })

  app.post('/wallet/withdrawals', async (request, reply): Promise<WithdrawalView> => {
    const { amount, to, id } = parse(withdrawSchema, request.body)
    const { till } = moving(money)
    const withdrawal = { amount: parseUsdc(amount), to: parseAddress(to), id }
    const { hash } = await till.wallet.withdraw(withdrawal, whileConnected(reply.raw))
    return { amount: formatUsdc(withdrawal.amount), to: checksummed(withdrawal.to), transaction: hash }
  })
}

function settlementView({ claimed, settled, distributed, transactions, refused }: Redemption): SettlementView {
  return {
    claimed: formatUsdc(claimed),
    settled: formatUsdc(settled),
    distributed: formatUsdc(distributed),
    transactions: transactions.map(({ hash }) => hash),
    refused: refused.map(({ channelId, reason }) => ({ channel: channelId, reason }))
  }
}
