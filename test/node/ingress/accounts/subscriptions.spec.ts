import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { GraphQLError, GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { createHandler as httpHandler } from 'graphql-http/lib/use/http'
import { createClient } from 'graphql-sse'
import { createHandler as sseHandler } from 'graphql-sse/lib/use/http'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import type { GraphqlTerms } from '../../../../lib/interface/index.ts'
import { graphqlFactory } from '../../../../protocols/index.ts'
import { type OverlayBench, overlayBench } from '../../../helpers/overlay-bench.ts'
import { type YogaServer, listening, yogaServer } from '../../../helpers/yoga.ts'
import { eventually } from '../harness.ts'

const FOREVER = new AbortController().signal
const SDL = `
  type Query { hello: String }
  type Subscription { count(to: Int!): Int, forever: Int, refused: Int }
`

/** Events of the subscriptions at their API. */
class Counter {
  running = 0

  async *count(to: number): AsyncGenerator<Record<string, number>> {
    this.running++
    try {
      for (let n = 1; n <= to; n++) {
        yield { count: n, forever: n }
        if (to === Infinity) await new Promise((resolve) => setTimeout(resolve, 5))
      }
    } finally {
      this.running--
    }
  }

  refuse(): never {
    throw new GraphQLError('not today')
  }
}

function schemaOf(counter: Counter): GraphQLSchema {
  const field = (subscribe: (parent: unknown, args: { readonly to: number }) => unknown) => ({
    type: GraphQLInt,
    subscribe
  })
  return new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { hello: { type: GraphQLString, resolve: () => 'world' } } }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: {
        count: { ...field((_, { to }) => counter.count(to)), args: { to: { type: new GraphQLNonNull(GraphQLInt) } } },
        forever: field(() => counter.count(Infinity)),
        refused: field(() => counter.refuse())
      }
    })
  })
}

interface Upstream {
  readonly server: YogaServer
  readonly terms: GraphqlTerms
}

/** The same schema behind three real servers, as they serve subscriptions. */
const upstreams: Readonly<Record<string, (counter: Counter) => Promise<Upstream>>> = {
  'by GraphQL Yoga’s events': async (counter) => {
    const server = await yogaServer({
      typeDefs: SDL,
      resolvers: {
        Query: { hello: () => 'world' },
        Subscription: {
          count: { subscribe: (_parent, { to }) => counter.count(Number(to)) },
          forever: { subscribe: () => counter.count(Infinity) },
          refused: { subscribe: () => counter.refuse() }
        }
      }
    })
    return { server, terms: {} }
  },
  'by graphql-sse at an address of its own': async (counter) => {
    const schema = schemaOf(counter)
    const [http, sse] = [httpHandler({ schema }), sseHandler({ schema })]
    const server = await listening(
      createServer((request, response) => {
        // It rejects if its client leaves during a write.
        ;(request.url === '/events' ? sse : http)(request, response).catch(() => response.destroy())
      })
    )
    return { server, terms: { subscriptions: server.url.replace('/graphql', '/events') } }
  },
  'by graphql-ws': async (counter) => {
    const schema = schemaOf(counter)
    const http = httpHandler({ schema })
    const server = createServer((request, response) => void http(request, response))
    const ws = useServer({ schema }, new WebSocketServer({ server, path: '/graphql' }))
    const { url, close: stop } = await listening(server)
    const close = async () => {
      await ws.dispose()
      await stop()
    }
    return { server: { url, close }, terms: { subscriptions: url.replace('http:', 'ws:') } }
  }
}

for (const [how, start] of Object.entries(upstreams)) {
  describe(`a subscription that its API serves ${how}`, () => {
    const counter = new Counter()
    let bench: OverlayBench
    let upstream: Upstream
    let url: string

    before(async () => {
      bench = await overlayBench()
      upstream = await start(counter)
      await serve('counts', {})
      url = `${bench.url}/api/demo/api/counts`
    })
    after(async () => {
      await bench.close()
      await upstream.server.close()
    })

    async function serve(name: string, terms: GraphqlTerms): Promise<void> {
      const config = { endpoint: upstream.server.url, graphql: { ...upstream.terms, ...terms } }
      const { snapshot } = await graphqlFactory.inspect(config, FOREVER)
      await bench.owner.serve({ name, price: '0' }, graphqlFactory.open(config, snapshot))
    }
    /** The client's own error has the status only. */
    const fetchFn: typeof fetch = async (input, init) => {
      const response = await bench.fetch(input, init)
      if (response.status >= 500) throw new Error(`${response.status}: ${await response.text()}`)
      return response
    }
    const client = (to = url) => createClient({ url: to, fetchFn, retryAttempts: 0 })
    async function resultsOf(query: string, to = url): Promise<unknown[]> {
      const results: unknown[] = []
      for await (const result of client(to).iterate({ query })) results.push(result)
      return results
    }

    it('reaches a client of GraphQL over SSE, result by result and to its end', async () => {
      assert.deepEqual(
        await resultsOf('subscription { count(to: 100) }'),
        Array.from({ length: 100 }, (_, index) => ({ data: { count: index + 1 } }))
      )
    })

    it('ends at the API when the client leaves', async () => {
      for await (const { data } of client().iterate({ query: 'subscription { forever }' })) {
        assert.equal(counter.running, 1)
        if (Number(data?.['forever']) === 3) break
      }
      await eventually(() => counter.running === 0)
    })

    it('opens by GET too, as browsers do', async () => {
      const response = await bench.fetch(`${url}?query=${encodeURIComponent('subscription { count(to: 1) }')}`, {
        headers: { accept: 'text/event-stream' }
      })
      assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      assert.equal(await response.text(), ':\n\nevent: next\ndata: {"data":{"count":1}}\n\nevent: complete\ndata: \n\n')
    })

    it('that the API rejects returns the error', async () => {
      const results = await resultsOf('subscription { refused }')
      assert.match(JSON.stringify(results), /^\[\{"errors":\[\{"message":"(?:not today|Unexpected error\.)"/)
    })

    it('that is invalid returns an error and does not reach the API', async () => {
      assert.match(JSON.stringify(await resultsOf('subscription { nothing }')), /Cannot query field \\"nothing\\"/)
    })

    it('sends at most the number of results that its listing allows per opening', async () => {
      await serve('few', { eventsMax: 3 })
      const few = await resultsOf('subscription { forever }', `${bench.url}/api/demo/api/few`)
      assert.deepEqual(
        few,
        [1, 2, 3].map((n) => ({ data: { forever: n } }))
      )
      await eventually(() => counter.running === 0)
    })

    it('supports queries of clients that accept only event streams', async () => {
      assert.deepEqual(await resultsOf('{ hello }'), [{ data: { hello: 'world' } }])
    })
  })
}
