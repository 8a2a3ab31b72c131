import type { AdapterFactory } from '../lib/interface/adapter.ts'
import { graphqlFactory } from './graphql/graphql-factory.ts'
import type { ProtocolName } from './protocol-descriptors.ts'
import { restFactory } from './rest/rest-factory.ts'
import { soapFactory } from './soap/soap-factory.ts'

/**
 * Every protocol by the name a provider registers it with.
 *
 * @example
 * ```ts
 * import { protocolFactories } from 'souk/protocols'
 *
 * console.log(Object.keys(protocolFactories)) // [ 'REST', 'SOAP', 'GraphQL' ]
 * ```
 */
export const protocolFactories: Readonly<Record<ProtocolName, AdapterFactory>> = {
  REST: restFactory,
  SOAP: soapFactory,
  GraphQL: graphqlFactory
}
