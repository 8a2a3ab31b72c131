export { graphqlFactory } from './graphql/graphql-factory.ts'
export { protocolFactories } from './protocol-factories.ts'
export { restFactory } from './rest/rest-factory.ts'
export { type Upstream, type UpstreamRequest, type UpstreamResponse, createUpstream } from './upstream.ts'
