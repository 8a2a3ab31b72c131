import type { AdapterFactory, Protocol } from '../lib/interface/adapter.ts'
import { graphqlFactory } from './graphql/graphql-factory.ts'
import { restFactory } from './rest/rest-factory.ts'

/** The protocols this package speaks, by the name a provider registers them with. */
export const protocolFactories: Readonly<Partial<Record<Protocol, AdapterFactory>>> = {
  REST: restFactory,
  GraphQL: graphqlFactory
}
