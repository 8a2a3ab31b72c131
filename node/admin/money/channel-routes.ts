import { z } from 'zod'
import { checksummed, formatUsdc, type Hex, SoukError } from '../../../lib/index.ts'
import type { ChannelSummary } from '../../../lib/pay/index.ts'
import { list } from '../../http/schemas.ts'
import { type ChannelView, channelViewSchema, closedChannelsViewSchema, openChannelSchema } from './money-api.ts'
import { present } from '../../present.ts'
import { parse } from '../problems.ts'
import { requireMoney } from '../require-money.ts'
import { route } from '../route.ts'

/** Routes for payer channels and payee channels. */
export const channelRoutes = [
  route({
    method: 'GET',
    path: '/channels',
    summary: 'Payer channels and payee channels of this node.',
    response: z.object({ channels: list(channelViewSchema) }),
    handler: ({ money }) => ({ channels: requireMoney(money).paymentScheme.channels().map(channelView) })
  }),
  route({
    method: 'POST',
    path: '/channels',
    summary: 'Opens the channel to an API’s owner ahead of the first paid call.',
    body: openChannelSchema,
    response: channelViewSchema,
    status: 201,
    async handler({ money, souk }, { body, signal }) {
      const { paymentScheme } = requireMoney(money)
      const { signed, owners } = await souk.resolve(body.api, { signal })
      const { payout } = signed.manifest
      // The first paid call goes to the best owner as well.
      const [best] = owners
      if (best === undefined) throw new SoukError('owner_unreachable')
      return channelView(await paymentScheme.open({ api: signed.id, owner: best.id, ...present({ payout }) }))
    }
  }),
  route({
    method: 'POST',
    path: '/channels/close',
    summary: 'Closes all payer channels.',
    response: closedChannelsViewSchema,
    async handler({ money }, { signal }) {
      const closed = await requireMoney(money).paymentScheme.closeAll(signal)
      return {
        channels: closed.map(({ channel, error }) => ({
          channel: channelView(channel),
          problem: error === undefined ? null : error.message
        }))
      }
    }
  }),
  route({
    method: 'POST',
    path: '/channels/:channel/close',
    summary: 'Closes a channel together with its owner. The unspent amount is returned.',
    response: channelViewSchema,
    async handler({ money }, { params, signal }) {
      const channelId = channelIn(params.channel)
      return channelView(await requireMoney(money).paymentScheme.close(channelId, signal))
    }
  }),
  route({
    method: 'POST',
    path: '/channels/:channel/withdraw',
    summary: 'Withdraws the deposit without the owner, after the channel’s delay.',
    response: channelViewSchema,
    async handler({ money }, { params, signal }) {
      const channelId = channelIn(params.channel)
      return channelView(await requireMoney(money).paymentScheme.withdraw(channelId, signal))
    }
  }),
  route({
    method: 'POST',
    path: '/channels/:channel/accept',
    summary: 'Payer: accepts what the owner of a closed channel took too much, so that it is paid again.',
    response: channelViewSchema,
    async handler({ money }, { params }) {
      return channelView(await requireMoney(money).paymentScheme.acceptTaken(channelIn(params.channel)))
    }
  })
] as const

/** @throws SoukError `invalid_request` */
function channelIn(text: string): Hex {
  return parse(channelIdSchema, text) as Hex
}

const channelIdSchema = z.string().regex(/^0x[\da-f]{64}$/, 'The channel id is not valid. Give 0x and 64 hex digits.')

function channelView(summary: ChannelSummary): ChannelView {
  const { role, channelId, peer, receiver, state, isDisputed, withdrawableAt } = summary
  const { deposit, ceiling, spent, reserved, disputed = 0n, claimed, returned } = summary
  return {
    role,
    channel: channelId,
    peer: peer ?? null,
    receiver: checksummed(receiver),
    state,
    disputed: isDisputed,
    deposit: formatUsdc(deposit),
    ceiling: formatUsdc(ceiling),
    spent: formatUsdc(spent),
    reserved: formatUsdc(reserved),
    disputed_amount: formatUsdc(disputed),
    claimed: claimed === undefined ? null : formatUsdc(claimed),
    returned: returned === undefined ? null : formatUsdc(returned),
    withdrawable_at: withdrawableAt ?? null
  }
}
