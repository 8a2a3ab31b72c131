import type { FastifyInstance } from 'fastify'
import { checksummed, formatUsdc, type Hex, SoukError } from '../../lib/index.ts'
import type { ChannelSummary } from '../../lib/pay/index.ts'
import { whileConnected } from '../ingress/visit.ts'
import type { AdminInit } from './admin-init.ts'
import type { ChannelView, ClosedChannelsView } from './money-api.ts'
import { moving } from './moving.ts'

interface Named {
  Params: { channel: string }
}

/** What this node pays through, and is paid through. */
export function channelRoutes(app: FastifyInstance, { money }: AdminInit): void {
  app.get('/channels', (): { channels: ChannelView[] } => ({
    channels: moving(money).till.channels().map(channelView)
  }))

  app.post('/channels/close', async (_request, reply): Promise<ClosedChannelsView> => {
    const closed = await moving(money).till.closeAll(whileConnected(reply.raw))
    return {
      channels: closed.map(({ channel, error }) => ({
        channel: channelView(channel),
        problem: error === undefined ? null : error.message
      }))
    }
  })

  app.post<Named>('/channels/:channel/close', async (request, reply): Promise<ChannelView> => {
    const channelId = channelIn(request.params.channel)
    return channelView(await moving(money).till.close(channelId, whileConnected(reply.raw)))
  })

  app.post<Named>('/channels/:channel/withdraw', async (request, reply): Promise<ChannelView> => {
    const channelId = channelIn(request.params.channel)
    return channelView(await moving(money).till.withdraw(channelId, whileConnected(reply.raw)))
  })
}

/** @throws SoukError `invalid_request` */
function channelIn(text: string): Hex {
  if (/^0x[\da-f]{64}$/.test(text)) return text as Hex
  throw new SoukError('invalid_request', 'A channel is named by 0x and 64 hex digits.')
}

function channelView(summary: ChannelSummary): ChannelView {
  const { role, channelId, peer, receiver, state, isDisputed, withdrawableAt } = summary
  const { deposit, ceiling, spent, reserved, claimed, returned } = summary
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
    claimed: claimed === undefined ? null : formatUsdc(claimed),
    returned: returned === undefined ? null : formatUsdc(returned),
    withdrawable_at: withdrawableAt ?? null
  }
}
