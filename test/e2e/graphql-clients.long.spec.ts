import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { createClient as createSseClient } from 'graphql-sse'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { graphqlFactory } from '../../protocols/index.ts'
import { type OverlayBench, overlayBench } from '../helpers/overlay-bench.ts'
import { type YogaServer, yogaServer } from '../helpers/yoga.ts'
import { type GraphqlClient, apolloClients, urqlClient } from './graphql-clients/clients.ts'

const PAGE = new URL('../../docs/reference/graphql-clients.md', import.meta.url)
const TABLE = /(?<=<!-- clients -->\n)[^]*(?=<!-- end -->)/
const HEAD = '| Client | Version | Queries | Subscriptions |\n|---|---|---|---|\n'
const FOREVER = new AbortController().signal

/** The table of docs/reference/graphql-clients.md. SOUK_TEST_WRITE=1 writes it. */
describe('GraphQL clients', () => {
  let bench: OverlayBench
  let yoga: YogaServer
  let url: string

  before(async () => {
    bench = await overlayBench()
    yoga = await yogaServer({
      typeDefs: 'type Query { hello: String } type Subscription { count: Int }',
      resolvers: {
        Query: { hello: () => 'world' },
        Subscription: {
          count: {
            async *subscribe() {
              for (let n = 1; n <= 3; n++) yield { count: await Promise.resolve(n) }
            }
          }
        }
      }
    })
    const config = { endpoint: yoga.url }
    const { snapshot } = await graphqlFactory.inspect(config, FOREVER)
    await bench.owner.serve({ name: 'users', price: '0' }, graphqlFactory.open(config, snapshot))
    url = `${bench.url}/api/demo/api/users`
  })
  after(async () => {
    await bench.close()
    await yoga.close()
  })

  async function streaming(): Promise<GraphqlClient[]> {
    const headers = { 'X-Consumer-Key': bench.key }
    const options = { url: url.replace('http', 'ws'), webSocketImpl: WebSocket, connectionParams: headers }
    const clients = [
      { name: '`graphql-ws`', of: 'graphql-ws', made: createClient(options) },
      { name: '`graphql-sse`', of: 'graphql-sse', made: createSseClient({ url, headers }) },
      {
        name: '`graphql-sse`, one connection',
        of: 'graphql-sse',
        made: createSseClient({ url, headers, singleConnection: true })
      }
    ]
    return clients.map(({ name, of, made }) => {
      const all = async (query: string) => {
        const results: unknown[] = []
        for await (const { data } of made.iterate({ query })) results.push(data)
        return results
      }
      return {
        name,
        of,
        query: async () => (await Promise.all([all('{ hello }'), all('{ hello }')])).flat(),
        async subscribe() {
          const results = await all('subscription { count }')
          await made.dispose()
          return results
        }
      }
    })
  }

  const works = async (results: Promise<readonly unknown[]> | undefined, expected: readonly unknown[]) => {
    if (results === undefined) return '—'
    try {
      assert.deepEqual(structuredClone(await results), expected)
      return 'yes'
    } catch {
      return 'no'
    }
  }

  it('work as the table says', async () => {
    const clients = [...(await apolloClients(url, bench.key)), await urqlClient(url, bench.key), ...(await streaming())]
    let table = HEAD
    for (const { name, of, query, subscribe } of clients) {
      const manifest = new URL(`../../node_modules/${of}/package.json`, import.meta.url)
      const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
      const queries = await works(query?.(), [{ hello: 'world' }, { hello: 'world' }])
      const events = await works(subscribe?.(), [{ count: 1 }, { count: 2 }, { count: 3 }])
      table += `| ${name} | ${version} | ${queries} | ${events} |\n`
    }
    const page = await readFile(PAGE, 'utf8')
    if (process.env['SOUK_TEST_WRITE'] === '1') await writeFile(PAGE, page.replace(TABLE, `\n${table}\n`))
    assert.equal((await readFile(PAGE, 'utf8')).match(TABLE)?.[0].trim(), table.trim())
  })
})
