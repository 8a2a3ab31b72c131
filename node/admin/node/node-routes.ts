import { z } from 'zod'
import { parseAddress, parseApiRef } from '../../../lib/index.ts'
import type { Delegation } from '../../../lib/interface/index.ts'
import { list } from '../../http/schemas.ts'
import {
  delegateSchema,
  type DelegationView,
  delegationViewSchema,
  doctorViewSchema,
  peerViewSchema,
  backupSchema,
  backupViewSchema,
  pinSchema,
  statusViewSchema
} from '../api.ts'
import { payoutSchema } from '../money/money-api.ts'
import { route } from '../route.ts'

/** Routes for this node and its network. */
export const nodeRoutes = [
  route({
    method: 'GET',
    path: '/status',
    summary: 'Status of this node.',
    response: statusViewSchema,
    handler: ({ status }) => status()
  }),
  route({
    method: 'GET',
    path: '/doctor',
    summary: 'Runs the checks of `souk doctor`.',
    response: doctorViewSchema,
    handler: ({ doctor }, { signal }) => doctor(signal)
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'The admin API as OpenAPI 3.1.',
    response: z.record(z.string(), z.unknown()).describe('an OpenAPI document'),
    mediaType: 'application/openapi+json',
    handler: ({ openapi }, { reply }) => reply.send(JSON.stringify(openapi()))
  }),
  route({
    method: 'GET',
    path: '/peers',
    summary: 'Nodes connected to this one.',
    response: z.object({ peers: list(peerViewSchema) }),
    handler: ({ souk }) => ({ peers: souk.status().peers.map(({ id, addresses }) => ({ peer: id, addresses })) })
  }),
  route({
    method: 'GET',
    path: '/delegations',
    summary: 'Nodes that may serve this provider’s APIs.',
    response: z.object({ delegations: list(delegationViewSchema) }),
    handler: async ({ souk }) => ({ delegations: (await souk.delegations()).map(delegationView) })
  }),
  route({
    method: 'POST',
    path: '/delegations',
    summary: 'Lets another node serve this provider’s APIs.',
    body: delegateSchema,
    response: delegationViewSchema,
    async handler({ souk }, { body: { peer } }) {
      return delegationView(await souk.delegate(peer))
    }
  }),
  route({
    method: 'PUT',
    path: '/payout',
    summary: 'Sets the payout address of this provider.',
    body: payoutSchema,
    response: statusViewSchema,
    async handler({ registrations, status }, { body }) {
      await registrations.payTo(parseAddress(body.address))
      return status()
    }
  }),
  route({
    method: 'PUT',
    path: '/pins/:name',
    summary: 'Binds a bare name to one provider, on this node.',
    body: pinSchema,
    async handler({ souk }, { params, body: { provider } }) {
      const ref = parseApiRef(`${params.name}@${provider}`)
      await souk.pin(ref.name, provider)
    }
  }),
  route({
    method: 'POST',
    path: '/backups',
    summary: 'Backs up the running node into a new directory on its machine.',
    body: backupSchema,
    response: backupViewSchema,
    status: 201,
    handler: ({ backUp }, { body }) => backUp(body.directory)
  })
] as const

function delegationView({ peer, provider, expiresAt }: Delegation): DelegationView {
  return { peer, provider, expires_at: expiresAt }
}
