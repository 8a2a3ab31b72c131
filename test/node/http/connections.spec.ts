import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer as createAcceptor,
  type Server as Acceptor,
  type Socket
} from 'node:net'
import { type ConnectionLimits, limitConnections } from '../../../node/http/connections.ts'
import { limits } from '../../../lib/index.ts'
import { until } from '../../helpers/scripted-upstream.ts'

/** A client with one connection, which records its result. */
class Client {
  readonly socket: Socket
  received = ''
  isClosed = false

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')))
    this.socket.on('error', () => {})
    this.socket.on('close', () => (this.isClosed = true))
  }

  async ask(path = '/'): Promise<this> {
    const before = this.received.length
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    if (path !== '/slow') await until(() => this.received.length > before || this.isClosed, 'a response')
    return this
  }
}

describe('limitConnections', () => {
  let server: Server
  let acceptor: Acceptor
  const clients: Client[] = []
  let slow: (() => void)[] = []
  /** The host that new connections appear to come from. */
  let host: string | undefined

  async function start(limits: Partial<ConnectionLimits>): Promise<void> {
    host = undefined
    server = createServer((req, res) => {
      if (req.url === '/slow') slow.push(() => res.end('slow'))
      else res.end('quick')
    })
    limitConnections(server, { connectionsMax: 100, perHostMax: 100, trustProxy: false, ...limits })
    acceptor = createAcceptor({ allowHalfOpen: true }, (socket) => {
      if (host !== undefined) Object.defineProperty(socket, 'remoteAddress', { value: host })
      server.emit('connection', socket)
    })
    await new Promise<void>((resolve) => acceptor.listen(0, '127.0.0.1', resolve))
  }
  const client = () => {
    const made = new Client((acceptor.address() as AddressInfo).port)
    clients.push(made)
    return made
  }
  afterEach(async () => {
    for (const each of clients.splice(0)) each.socket.destroy()
    slow = []
    await new Promise((resolve) => acceptor.close(resolve))
  })
  const closed = (each: Client) => until(() => each.isClosed, 'the connection to be closed')

  it('limits connections per host', async () => {
    await start({ perHostMax: 2 })
    host = '192.0.2.1'
    const first = [await client().ask(), await client().ask()]
    await closed(await client().ask())
    host = '192.0.2.2'
    assert.match((await client().ask()).received, /quick/)
    host = '192.0.2.1'
    first[0]?.socket.destroy()
    // The server notices the closed connection later than the client, so repeat until a place is free.
    let { received } = await client().ask()
    while (received === '') ({ received } = await client().ask())
    assert.match(received, /quick/)
  })

  it('counts an IPv6 /64 network as one host', async () => {
    await start({ perHostMax: 1 })
    host = '2001:db8::1'
    await client().ask()
    host = '2001:db8:0:0:9::1'
    await closed(await client().ask())
    host = '2001:db8:0:1::1'
    assert.match((await client().ask()).received, /quick/)
  })

  it('does not limit local programs or a proxy as one host', async () => {
    await start({ perHostMax: 1 })
    for (const each of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      host = each
      for (let at = 0; at < 3; at++) assert.match((await client().ask()).received, /quick/)
    }
    await new Promise((resolve) => acceptor.close(resolve) && clients.splice(0).map(({ socket }) => socket.destroy()))
    await start({ perHostMax: 1, trustProxy: true })
    host = '192.0.2.1'
    for (let at = 0; at < 3; at++) assert.match((await client().ask()).received, /quick/)
  })

  it('closes the longest idle connection at the limit', async () => {
    await start({ connectionsMax: 3 })
    const [first, second, half] = [await client().ask(), await client().ask(), client()]
    half.socket.write('GET / HTTP/1.1\r\nHost:')
    await first.ask()
    await until(() => half.socket.bytesWritten > 0, 'half a request')
    assert.match((await client().ask()).received, /quick/)
    await closed(second)
    assert.ok(!first.isClosed)
    assert.match((await client().ask()).received, /quick/)
    assert.deepEqual([first.isClosed, half.isClosed].filter(Boolean).length, 1)
  })

  it('keeps an upgraded connection at the limit', async () => {
    await start({ connectionsMax: 2 })
    server.on('upgrade', (_request, socket) =>
      socket
        .on('end', () => socket.end())
        .resume()
        .write('upgraded')
    )
    const upgraded = client()
    upgraded.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await until(() => upgraded.received === 'upgraded', 'the upgrade')
    const idle = await client().ask()
    assert.match((await client().ask()).received, /quick/)
    await closed(idle)
    assert.ok(!upgraded.isClosed)
  })

  it('closes a connection with too many requests in progress', async () => {
    await start({})
    const request = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'
    const [most, more] = [client(), client()]
    most.socket.write(request.repeat(limits.PIPELINED_REQUESTS_MAX))
    await until(() => slow.length === limits.PIPELINED_REQUESTS_MAX, 'all requests')
    more.socket.write(request.repeat(limits.PIPELINED_REQUESTS_MAX + 1))
    await closed(more)
    for (const answer of slow) answer()
    await until(() => most.received.match(/slow/g)?.length === limits.PIPELINED_REQUESTS_MAX, 'all responses')
  })

  it('rejects a new connection when all others are busy, and closes none of them', async () => {
    await start({ connectionsMax: 2 })
    const busy = [await client().ask('/slow'), await client().ask('/slow')]
    await until(() => slow.length === 2, 'both requests')
    await closed(await client().ask())
    for (const answer of slow) answer()
    for (const each of busy) await until(() => each.received.includes('slow'), 'the response')
    assert.match((await client().ask()).received, /quick/)
  })
})
