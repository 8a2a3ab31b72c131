import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { multiaddr } from '@multiformats/multiaddr'
import { WebSocket } from 'ws'
import {
  WEBSOCKET_HEAD_BYTES_MAX,
  WEBSOCKET_MESSAGE_BYTES_MAX,
  WEBSOCKET_SENT_BYTES_MAX
} from '../../../../lib/base/limits/link.ts'
import { createNode, handler, type NodeOptions, type SoukNode } from '../../../../lib/index.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { freePort } from '../../../helpers/free-port.ts'
import { SELF_SIGNED } from '../../../helpers/self-signed.ts'

/** Takes several messages. An API accepts no more. */
const LARGE = 'x'.repeat(4 * WEBSOCKET_SENT_BYTES_MAX - 64)

describe('WebSockets of a node', () => {
  const nodes: SoukNode[] = []
  const servers: Array<{ close(): void }> = []

  const started = async (options: NodeOptions = {}) => {
    const node = await createNode(options)
    nodes.push(node)
    await node.start()
    return node
  }
  const portOf = (node: SoukNode) => Number(node.libp2p.getMultiaddrs()[0]?.getComponents()[1]?.value)
  const owner = async (options: NodeOptions = {}) => {
    const node = await started(options)
    await node.souk.serve(
      { name: 'echo', price: '0' },
      handler(({ body }) => body)
    )
    return node
  }
  const reachOf = (node: SoukNode) => node.souk.status().reachability
  const dial = (node: SoukNode, address: string) => node.libp2p.dial(multiaddr(address))
  /** A proxy that ends TLS, as operators place before a node. */
  const tlsProxy = async (portBehind: number) => {
    const proxy = createServer(SELF_SIGNED, (from) => {
      const to = connect(portBehind, '127.0.0.1')
      from.pipe(to).pipe(from)
      from.on('error', () => to.destroy())
      to.on('error', () => from.destroy())
    }).listen(0, '127.0.0.1')
    servers.push(proxy)
    await once(proxy, 'listening')
    return (proxy.address() as { port: number }).port
  }

  const trusted = getCACertificates()
  const trustProxies = () => setDefaultCACertificates([...trusted, SELF_SIGNED.cert])

  afterEach(async () => {
    setDefaultCACertificates(trusted)
    for (const server of servers.splice(0)) server.close()
    await Promise.all(nodes.splice(0).map((node) => node.stop()))
  })

  it('use the port of TCP, and carry calls in both directions', async () => {
    const seller = await owner()
    const consumer = await started()
    const connection = await dial(consumer, `/ip4/127.0.0.1/tcp/${portOf(seller)}/ws`)
    assert.ok(connection.remotePeer.equals(seller.libp2p.peerId))
    const arrived = await eventually('the owner to know the peer', 5_000, async () =>
      seller.libp2p.getConnections(consumer.libp2p.peerId).at(0)
    )
    assert.match(String(arrived.remoteAddr), /^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/ws/)
    for (const body of ['one', LARGE]) {
      const reply = await consumer.souk.call({ api: `echo@${seller.souk.status().provider}`, body })
      assert.equal(await reply.json(), body)
    }
    assert.equal(consumer.libp2p.getConnections().length, 1)
    await connection.close()
    // The consumer may connect again meanwhile, so only this connection counts.
    await eventually('the other end to close', 5_000, () => (arrived.timeline.close === undefined ? undefined : true))
  })

  it('pass a proxy that ends TLS', async () => {
    const seller = await owner()
    const port = await tlsProxy(portOf(seller))
    const consumer = await started()
    await assert.rejects(dial(consumer, `/ip4/127.0.0.1/tcp/${port}/wss`), /certificate/)
    trustProxies()
    for (const form of [
      'dns4/localhost/tcp/PORT/wss',
      'ip4/127.0.0.1/tcp/PORT/tls/ws',
      'ip4/127.0.0.1/tcp/PORT/tls/sni/localhost/ws'
    ]) {
      const connection = await dial(consumer, `/${form.replace('PORT', String(port))}`)
      assert.ok(connection.remotePeer.equals(seller.libp2p.peerId), form)
      await connection.close()
    }
  })

  it('carry the reservation, the lookups and the calls of nodes that reach only a web server', async () => {
    trustProxies()
    const listening = await freePort()
    const port = await tlsProxy(listening)
    const relay = await started({
      listen: [`/ip4/127.0.0.1/tcp/${listening}`],
      announce: [`/ip4/127.0.0.1/tcp/${port}/tls/ws`]
    })
    const bootstrap = [`/ip4/127.0.0.1/tcp/${port}/tls/ws/p2p/${relay.souk.status().peer}`]
    const seller = await owner({ listen: [], bootstrap })
    await eventually('a relay', 10_000, () => (seller.souk.status().reachability.relays.length > 0 ? true : undefined))
    const consumer = await started({ listen: [], bootstrap })
    const reply = await eventually('the call', 10_000, () =>
      consumer.souk.call({ api: 'echo', body: 'two' }).catch(() => undefined)
    )
    assert.equal(await reply.json(), 'two')
    const links = consumer.libp2p.getConnections(seller.libp2p.peerId).map(({ remoteAddr }) => String(remoteAddr))
    assert.match(links.join(), /\/tls\/ws\/p2p\/.+\/p2p-circuit/)
  })

  it('are confirmed by a bootstrap peer where a node announces the address of its web server only', async () => {
    const bootstrap = (await started()).libp2p.getMultiaddrs().map(String)
    const listening = await freePort()
    const port = await tlsProxy(listening)
    const announce = [`/dns4/localhost/tcp/${port}/wss`]
    const behind = () => started({ listen: [`/ip4/127.0.0.1/tcp/${listening}`], announce, bootstrap })
    const node = await behind()
    // Peers refuse the certificate.
    await eventually('a refusal', 20_000, () => (reachOf(node).asked > 0 ? true : undefined))
    assert.equal(reachOf(node).state, 'none')
    await node.stop()
    trustProxies()
    const again = await behind()
    await eventually('a confirmation', 20_000, () => (reachOf(again).isConfirmed ? true : undefined))
    assert.equal(reachOf(again).state, 'direct')
    assert.deepEqual(reachOf(again).addresses, announce)
  })

  it('never lead into this machine’s network by a name, on a public network', async () => {
    let knocks = 0
    const victim = createTcpServer((socket) => {
      knocks++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    servers.push(victim)
    await once(victim, 'listening')
    const { port } = victim.address() as { port: number }
    const node = await started({ network: 'base', privateAddresses: false })
    const places = ['ip4/127.0.0.1', 'dns4/localhost', 'dns/localhost', 'ip6/::ffff:127.0.0.1']
    for (const place of places)
      for (const form of ['ws', 'wss', 'tls/ws', 'tls/sni/example.com/ws'])
        await assert.rejects(dial(node, `/${place}/tcp/${port}/${form}`), place)
    assert.equal(knocks, 0)
  })

  it('close at a message that is too large, and at an invalid request', async () => {
    const seller = await owner()
    const client = new WebSocket(`ws://127.0.0.1:${portOf(seller)}`)
    await once(client, 'open')
    const closed = new Promise((resolve) => client.on('error', () => {}).once('close', resolve))
    client.send(Buffer.alloc(WEBSOCKET_MESSAGE_BYTES_MAX + 1))
    await closed
    for (const [head, answer] of [
      ['GET / HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 426 /],
      ['GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', /^HTTP\/1\.1 400 /],
      ['GARBAGE\r\n\r\n', /^HTTP\/1\.1 400 /],
      [`GET / HTTP/1.1\r\nx: ${'x'.repeat(2 * WEBSOCKET_HEAD_BYTES_MAX)}\r\n\r\n`, /^HTTP\/1\.1 400 /],
      [`${upgradeRequest}origin: https://page.example\r\n\r\n`, /^HTTP\/1\.1 403 /]
    ] as const) {
      const socket = connect(portOf(seller), '127.0.0.1')
      socket.write(head)
      assert.match(await textOf(socket), answer)
    }
    assert.deepEqual(seller.libp2p.getConnections(), [])
  })

  it('count in the same limits as TCP before they are open', async () => {
    const seller = await owner({ connections: { countsPrivate: true, pendingPerHostMax: 2 } })
    const open = () => connect(portOf(seller), '127.0.0.1')
    const slow = [open(), open()]
    for (const socket of slow) socket.write('GET / HTTP/1.1\r\n')
    for (const socket of slow)
      await once(
        socket.on('error', () => {}),
        'connect'
      )
    const third = open()
    third.on('error', () => {})
    third.write(`${upgradeRequest}\r\n`)
    assert.equal(await textOf(third), '')
    for (const socket of slow) socket.destroy()
  })
})

const upgradeRequest =
  'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

/** Everything that arrives until the end. */
async function textOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString()))
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}
