import type { AdapterFactory } from '../../lib/interface/adapter.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { checkNotSoap, diagnosis } from '../inspection.ts'
import { createUpstream } from '../upstream/upstream.ts'
import { graphqlAdapter } from './graphql-adapter.ts'
import { limitsIn, pricingIn } from './graphql-terms.ts'
import { checkResponses, introspector } from './introspection.ts'
import { checkSubscriptions } from './subscriptions.ts'

/**
 * GraphQL over HTTP: one operation per call. The API's response is passed on, including partial data and errors (spec section
 * 4.4). The snapshot is the schema in SDL, including hidden parts.
 *
 * @example
 * ```ts
 * import { graphqlFactory } from 'souk/protocols'
 *
 * const schema = 'type Query { hello(name: String!): String }'
 * const adapter = graphqlFactory.open({ endpoint: 'https://api.example/graphql' }, schema)
 * console.log((await adapter.description).operations) // [ { name: 'hello' } ]
 * ```
 */
export const graphqlFactory: AdapterFactory = {
  protocol: 'GraphQL',

  async inspect(config, signal) {
    checkNotSoap(config, 'GraphQL')
    const { graphql: terms = {} } = config
    limitsIn(terms)
    pricingIn(terms)
    checkSubscriptions(config)
    const upstream = createUpstream(config)
    try {
      const { schema, hidden = [], introspection } = terms
      const read = schema ?? (await introspector(upstream)(signal))
      const inspection = await descriptionWorker.run('importSchema', { read, hidden, introspection }, signal)
      if (schema !== undefined) await checkResponses(upstream, signal)
      return inspection
    } catch (error) {
      throw diagnosis(error)
    } finally {
      await upstream.close()
    }
  },

  open: graphqlAdapter
}
