import type { FastifyInstance } from 'fastify'
import { formatUsdc, SoukError } from '../../lib/index.ts'
import type { Redemption } from '../../lib/interface/index.ts'
import { whileConnected } from '../ingress/visit.ts'
import type { Money } from '../payments/money.ts'
import type { AdminInit } from './admin-init.ts'
import type { SettlementView } from './api.ts'

/** What this node paid and earned. */
export function moneyRoutes(app: FastifyInstance, { money }: AdminInit): void {
  app.post('/settlements', async (_request, reply): Promise<SettlementView> => {
    const { till } = moving(money)
    return settlementView(await till.settlement.redeemer.settleNow(whileConnected(reply.raw)))
  })
}

/** @throws SoukError `settlement_unavailable` */
function moving(money: Money | undefined): Money {
  if (money !== undefined) return money
  throw new SoukError('settlement_unavailable', 'This node moves no money: it has no wallet, or only counts calls.')
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
