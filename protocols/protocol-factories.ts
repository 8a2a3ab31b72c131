import type { AdapterFactory } from '../lib/interface/adapter.ts'
import type { ProtocolName } from './protocol-descriptors.ts'

/**
 * Loads the factory of a protocol, by the name a provider registers it with. A factory is loaded only when an API needs it, because its
 * parsers take memory and time at start.
 *
 * @example
 * ```ts
 * import { protocolFactories } from 'souk/protocols'
 *
 * const { open } = await protocolFactories.REST()
 * console.log((await open({ endpoint: 'https://api.example' }, '').description).operations.length) // 1
 * ```
 */
export const protocolFactories: Readonly<Record<ProtocolName, () => Promise<AdapterFactory>>> = {
  REST: async () => (await import('./rest/rest-factory.ts')).restFactory,
  SOAP: async () => (await import('./soap/soap-factory.ts')).soapFactory,
  GraphQL: async () => (await import('./graphql/graphql-factory.ts')).graphqlFactory
}
