import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import type { UpstreamConfig } from '../../../lib/interface/adapter.ts'
import { createUpstream } from '../../../protocols/upstream/upstream.ts'
import { socketsTo } from '../../../protocols/upstream/websocket.ts'
import { FOREVER } from '../../helpers/adapter-bench.ts'

describe('WebSockets to an API', () => {
  let server: WebSocketServer
  let seen: IncomingMessage[]
  let url: string

  beforeEach(async () => {
    seen = []
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    server.on('connection', (_socket, request) => void seen.push(request))
    await once(server, 'listening')
    url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })

  /** The first event of the connection: `open` or `error`. */
  async function connect(config: Partial<UpstreamConfig>): Promise<string> {
    const whole = { endpoint: url.replace('ws:', 'http:'), ...config }
    const main = createUpstream(whole)
    const sockets = socketsTo(`${url}/graphql?v=1`, whole, main)
    const Implementation = await sockets.implementation(FOREVER)
    const socket = new Implementation(sockets.url, ['graphql-transport-ws'])
    const { type } = await new Promise<{ type: string }>((resolve) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', resolve)
    })
    socket.close()
    await sockets.close()
    await main.close()
    return type
  }

  it('send the credentials of its requests', async () => {
    assert.equal(
      await connect({ auth: { bearer: 'secret', headers: { 'X-Tenant': 't' }, query: { key: 'k' } } }),
      'open'
    )
    const [request] = seen
    assert.equal(request?.url, '/graphql?v=1&key=k')
    assert.deepEqual([request?.headers.authorization, request?.headers['x-tenant']], ['Bearer secret', 't'])
    assert.equal(request?.headers['sec-websocket-protocol'], 'graphql-transport-ws')
  })

  it('use the same guard', async () => {
    assert.equal(await connect({ guard: { refuses: () => true } }), 'error')
    assert.equal(seen.length, 0)
  })
})
