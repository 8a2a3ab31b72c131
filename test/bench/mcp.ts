import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startMarket } from './market.ts'
import { median } from './statistics.ts'
import type { Suite } from './suite.ts'

const OPERATIONS = 1_000
const LISTS = 10
const ROLE = new URL('./roles/upstream.ts', import.meta.url)

const fields = Object.fromEntries(
  Array.from({ length: 12 }, (_, at) => [`field${at}`, { type: 'string', description: `Field ${at} of the request.` }])
)

/** Operations with their own parameters and a shared body, as large documents have them. */
const OPENAPI = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Large', version: '1' },
  paths: Object.fromEntries(
    Array.from({ length: OPERATIONS }, (_, at) => [
      `/things${at}/{id}`,
      {
        post: {
          operationId: `updateThing${at}`,
          summary: `Updates thing ${at}.`,
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          requestBody: {
            content: { 'application/json': { schema: { $ref: `#/components/schemas/Thing${at % 50}` } } }
          },
          responses: { 200: { description: 'The thing.' } }
        }
      }
    ])
  ),
  components: {
    schemas: Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [
        `Thing${at}`,
        { type: 'object', required: ['field0'], properties: fields }
      ])
    )
  }
})

/** How long an agent waits for the tools of an API with many operations, which another node sells. */
export const mcp: Suite = {
  name: 'mcp',
  async run({ directory, say }) {
    await using market = await startMarket(directory, ROLE, { name: 'bench', price: '0', openapi: { text: OPENAPI } })
    const endpoint = new URL(`${market.consumer.info.ingress}/mcp?api=bench`)
    const headers = { 'x-consumer-key': market.key }
    // A new client each time: the official one caches lists.
    const listMs = async () => {
      const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } })
      await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit: { headers } }))
      const startedAt = performance.now()
      const { tools } = await client.listTools()
      const ms = performance.now() - startedAt
      await client.close()
      const made = tools.filter(({ name }) => name.startsWith('bench_updateThing'))
      const described = made.filter(({ inputSchema }) => inputSchema.properties !== undefined)
      if (described.length !== OPERATIONS) throw new Error(`${described.length} of ${OPERATIONS} tools are described`)
      say(`${OPERATIONS} tools in ${Math.round(ms)} ms`)
      return ms
    }
    const coldMs = await listMs()
    const warm: number[] = []
    for (let at = 0; at < LISTS; at++) warm.push(await listMs())
    const warmMs = median(warm)
    return {
      ratios: [
        { name: 'list-warm-ms', value: warmMs, better: 'lower', aim: 200, of: `${OPERATIONS} tools, warm` },
        { name: 'list-cold-ms', value: coldMs, better: 'lower', of: `${OPERATIONS} tools, first list of a node` }
      ],
      table: [
        ['', 'first', 'warm'],
        ['ms', coldMs.toFixed(0), warmMs.toFixed(0)]
      ],
      notes: [
        'The official client lists the tools of another node’s API at an ingress, until it has parsed them.',
        `The first list fetches the descriptions from the owner; warm is the median of ${LISTS}.`
      ],
      details: { coldMs, warm }
    }
  }
}
