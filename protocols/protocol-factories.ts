import type { AdapterFactory, Protocol } from '../lib/interface/adapter.ts'
import { graphqlFactory } from './graphql/graphql-factory.ts'
import { restFactory } from './rest/rest-factory.ts'
import { soapFactory } from './soap/soap-factory.ts'

/** Every protocol by the name a provider registers it with. */
export const protocolFactories: Readonly<Record<Protocol, AdapterFactory>> = {
  REST: restFactory,
  SOAP: soapFactory,
  GraphQL: graphqlFactory
}
