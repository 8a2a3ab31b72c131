import type { FastifyInstance } from 'fastify'
import { isProviderId, parseAddress, parseApiRef, SoukError } from '../../lib/index.ts'
import type { Delegation } from '../../lib/interface/index.ts'
import { delegateSchema, type DelegationView, type PeerView, pinSchema, type StatusView } from './api.ts'
import { payoutSchema } from './money-api.ts'
import { whileConnected } from '../ingress/visit.ts'
import { parse } from './problems.ts'
import type { AdminInit } from './admin-init.ts'

/** This node and the network around it. */
export function nodeRoutes(app: FastifyInstance, { souk, registrations, status, doctor }: AdminInit): void {
  app.get('/status', () => status())

  app.get('/peers', (): { peers: PeerView[] } => ({
    peers: souk.status().peers.map(({ id, addresses }) => ({ peer: id, addresses }))
  }))

  app.get('/doctor', (_request, reply) => doctor(whileConnected(reply.raw)))

  app.get(
    '/delegations',
    async (): Promise<{ delegations: DelegationView[] }> => ({
      delegations: (await souk.delegations()).map(delegationView)
    })
  )

  app.post('/delegations', async (request): Promise<DelegationView> => {
    const { peer } = parse(delegateSchema, request.body)
    if (!isProviderId(peer)) throw new SoukError('invalid_request', 'That is not a peer id (they start with 12D3KooW).')
    return delegationView(await souk.delegate(peer))
  })

  app.put('/payout', async (request): Promise<StatusView> => {
    await registrations.payTo(parseAddress(parse(payoutSchema, request.body).address))
    return status()
  })

  app.put<{ Params: { name: string } }>('/pins/:name', async (request, reply) => {
    const { provider } = parse(pinSchema, request.body)
    const ref = parseApiRef(`${request.params.name}@${provider}`)
    await souk.pin(ref.name, provider)
    return reply.code(204).send()
  })
}

function delegationView({ peer, provider, expiresAt }: Delegation): DelegationView {
  return { peer, provider, expires_at: expiresAt }
}
