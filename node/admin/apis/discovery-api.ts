import { z } from 'zod'
import { PROTOCOL_NAMES } from '../../../protocols/protocol-descriptors.ts'
import { list, view } from '../../http/schemas.ts'
import { upstreamShape } from './upstream-input.ts'

const { endpoint, auth, timeout_ms } = upstreamShape

export const discoverSchema = z.strictObject({
  endpoint: endpoint.describe('Address of the API, of its description, or of its host.'),
  protocol: z.enum(PROTOCOL_NAMES).optional().describe('Only APIs of this protocol.'),
  auth: auth.describe('Credentials for the API. They are sent only to its origin, and not stored.'),
  timeout_ms
})
export type DiscoverInput = z.input<typeof discoverSchema>

export const discoveredViewSchema = view(
  'DiscoveredView',
  {
    found: list(
      z.object({
        protocol: z.enum(PROTOCOL_NAMES),
        endpoint: z.string(),
        method: z.string().nullable(),
        openapi: z.string().nullable().describe('URL of the OpenAPI document.'),
        at: z.string().describe('URL at which it was recognized.'),
        title: z.string(),
        description: z.string(),
        operations: z.number(),
        warnings: list(z.string())
      })
    ).describe('What can be registered, best first. Never empty.'),
    refused: list(z.string()).describe('Descriptions that cannot be used, and why.'),
    name: z.string().describe('A proposed name, valid and not in use.'),
    price: z.string().describe('A proposed price per call.'),
    unpayable: z
      .string()
      .nullable()
      .describe('Why an API with a price cannot be registered here, with the command that helps; null if it can.')
  },
  'The API at an address, and a proposed registration. Nothing is stored or published.'
)
export type DiscoveredView = z.output<typeof discoveredViewSchema>

export const reachViewSchema = view(
  'ReachView',
  {
    peers: z.number().describe('Nodes connected to this one.'),
    stored: z.number().describe('Nodes that stored its record in the DHT.'),
    known_by: list(z.string()).describe('Peers that have the current revision in their catalogue.'),
    earns: z.string().describe('What the provider earns per call, after the fee of 5%.'),
    curl: z.string().nullable().describe('A call through the ingress of this node; null without an ingress.'),
    page: z.string().nullable().describe('The page of the API at the ingress of this node.')
  },
  'How far the announcement of an API has come.'
)
export type ReachView = z.output<typeof reachViewSchema>
