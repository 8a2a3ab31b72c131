import { formatUsdc } from '../../../lib/index.ts'
import type { Dispute } from '../../../lib/interface/index.ts'
import { requireMoney } from '../require-money.ts'
import { route } from '../route.ts'
import { type DisputeView, disputesViewSchema, disputeViewSchema, takeBackSchema } from './money-api.ts'

/** Routes for charges without a valid receipt. */
export const disputeRoutes = [
  route({
    method: 'GET',
    path: '/disputes',
    summary: 'Disputed charges of both sides, newest first. Ended ones are listed for 30 days.',
    response: disputesViewSchema,
    async handler({ money }) {
      return { disputes: (await requireMoney(money).paymentScheme.disputes()).map(disputeView) }
    }
  }),
  route({
    method: 'POST',
    path: '/disputes/:request/accept',
    summary: 'Payer: accepts a disputed charge without a receipt, so that its owner is paid again.',
    response: disputeViewSchema,
    async handler({ money }, { params }) {
      return disputeView(await requireMoney(money).paymentScheme.acceptCharge(params.request))
    }
  }),
  route({
    method: 'POST',
    path: '/disputes/:request/take-back',
    summary: 'Owner: takes the charge of a call back. The payer can spend the amount on other calls.',
    body: takeBackSchema,
    response: disputeViewSchema,
    async handler({ money }, { params, body: { peer } }) {
      return disputeView(await requireMoney(money).paymentScheme.takeBack(peer, params.request))
    }
  })
] as const

function disputeView({ role, requestId, api, peer, channelId, amount, fault, state, at }: Dispute): DisputeView {
  return { role, request_id: requestId, api, peer, channel: channelId, amount: formatUsdc(amount), fault, state, at }
}
