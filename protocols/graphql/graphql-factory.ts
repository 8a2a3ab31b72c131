import type { AdapterFactory } from '../../lib/interface/adapter.ts'
import { checkNotSoap, diagnosis } from '../inspection.ts'
import { createUpstream } from '../upstream/upstream.ts'
import { graphqlAdapter } from './graphql-adapter.ts'
import { describeSchema } from './graphql-schema.ts'
import { limitsIn, pricingIn } from './graphql-terms.ts'
import { checkAnswers, readIntrospection, sdlIn } from './introspection.ts'
import { givenSdl, schemaOf } from './schema-source.ts'
import { checkSubscriptions } from './subscriptions.ts'

/**
 * GraphQL over HTTP: one operation per call, answered as the API answers it, partial data and errors included (spec section
 * 4.4). The snapshot is the schema in SDL, with what its provider hides.
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
      const sdl = terms.schema === undefined ? sdlIn(await readIntrospection(upstream, signal)) : givenSdl(terms.schema)
      if (terms.schema !== undefined) await checkAnswers(upstream, signal)
      return { ...describeSchema(schemaOf(sdl, terms.hidden ?? []), terms.introspection), snapshot: sdl }
    } catch (error) {
      throw diagnosis(error)
    } finally {
      await upstream.close()
    }
  },

  open: graphqlAdapter
}
