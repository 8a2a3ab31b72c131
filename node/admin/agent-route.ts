import type { FastifyInstance } from 'fastify'
import { formatApiRef, limits, parseUsdc, systemRandom } from '../../lib/index.ts'
import { KeyGate } from '../keys/key-gate.ts'
import { answerAgent, apisIn } from '../mcp/endpoint.ts'
import { Market } from '../mcp/market.ts'
import type { AdminInit } from './admin-init.ts'

/**
 * `POST /mcp`: the Model Context Protocol for agents of whoever runs this node, who pays for their calls. `?api=name` says which APIs are tools
 * of their own, `?max_price=` what a call may cost.
 */
export function agentRoute(app: FastifyInstance, init: AdminInit): void {
  const { boundCalls } = init.subscriptions
  const market = new Market({ ...init, boundCalls, random: systemRandom, gate: new KeyGate(init.clock) })
  app.post('/mcp', async (request, reply) => {
    const { url = '' } = request.raw
    const apis = apisIn(url).map(formatApiRef)
    const asked = new URLSearchParams(url.split('?')[1] ?? '').get('max_price')
    const maxPrice = asked === null ? limits.CALL_PRICE_ATOMS_MAX : parseUsdc(asked)
    const tools = market.for({ apis, maxPrice })
    reply.hijack()
    await answerAgent({ req: request.raw, res: reply.raw, headers: [] }, tools, request.body)
  })
}
