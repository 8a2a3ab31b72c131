import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Connection } from '@libp2p/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { type Clock, systemClock } from '../../../../lib/base/clock.ts'
import { DIAL_ADDRESS_MS, DIALS_PER_PEER_MAX } from '../../../../lib/base/limits/link.ts'
import { createNode, type SoukNode } from '../../../../lib/index.ts'
import { eventually } from '../../../helpers/eventually.ts'

/** A machine that accepts connections and never responds, as at an address that another machine now has. */
interface Silent {
  readonly address: string
  readonly sockets: Set<Socket>
}

/** The part of libp2p's components that dials without the connection manager. */
interface Dialling {
  readonly transportManager: { dial(address: Multiaddr, options: { signal: AbortSignal }): Promise<Connection> }
}

/** The dial of a silent address never ends by itself, so a dial that succeeds has not waited for it, on any machine. */
const clock: Clock = {
  ...systemClock,
  after: (delayMs, task) => (delayMs === DIAL_ADDRESS_MS ? { cancel() {} } : systemClock.after(delayMs, task))
}

describe('the dials of a peer with several addresses', () => {
  const servers: Server[] = []
  const nodes: SoukNode[] = []

  const start = async (listen: readonly string[] = ['/ip4/127.0.0.1/tcp/0']) => {
    const node = await createNode({ listen, clock })
    nodes.push(node)
    await node.start()
    return node
  }
  const silent = async (host = '127.0.0.1'): Promise<Silent> => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
      socket.resume()
    }).listen(0, host)
    servers.push(server)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return { address: `/${host.includes(':') ? 'ip6' : 'ip4'}/${host}/tcp/${port}`, sockets }
  }
  const of = (node: SoukNode, ...addresses: readonly string[]): Multiaddr[] =>
    addresses.map((address) => multiaddr(address).encapsulate(`/p2p/${node.libp2p.peerId.toString()}`))
  const own = (node: SoukNode) =>
    node.libp2p
      .getMultiaddrs()[0]
      ?.toString()
      .replace(/\/p2p\/.*/, '') ?? ''
  const connection = (from: SoukNode, to: SoukNode) =>
    eventually(
      'the connection',
      DIAL_ADDRESS_MS,
      async (): Promise<Connection | undefined> => from.libp2p.getConnections(to.libp2p.peerId)[0]
    )

  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.stop()))
    for (const server of servers.splice(0)) server.close()
  })

  it('pass three silent addresses, and close their sockets', async () => {
    const [peer, node] = [await start(), await start()]
    const dead = [await silent(), await silent(), await silent('::1')]
    await node.libp2p.dial(of(peer, ...dead.map(({ address }) => address), own(peer)))
    await eventually('the end of the other dials', DIAL_ADDRESS_MS, () =>
      dead.every(({ sockets }) => sockets.size === 0) ? true : undefined
    )
    assert.equal(node.libp2p.getConnections(peer.libp2p.peerId).length, 1)
  })

  it('pass a silent address in lookups, which know a peer by its id', async () => {
    // libp2p's peer store sorts addresses, so the silent one is the first.
    const [peer, node] = [await start(['/ip4/127.0.0.2/tcp/0']), await start()]
    const { address } = await silent()
    await node.libp2p.peerStore.merge(peer.libp2p.peerId, { multiaddrs: of(peer, address, own(peer)) })
    await node.libp2p.dialProtocol(peer.libp2p.peerId, '/souk/dev/kad/1.0.0')
  })

  it('include the addresses of a second caller, while those of the first are silent', async () => {
    const [peer, node] = [await start(), await start()]
    const { address, sockets } = await silent()
    const first = node.libp2p.dial(of(peer, address))
    await eventually('the first dial', DIAL_ADDRESS_MS, () => (sockets.size > 0 ? true : undefined))
    await node.libp2p.dial(of(peer, own(peer)))
    await first
    assert.equal(node.libp2p.getConnections(peer.libp2p.peerId).length, 1)
  })

  it('may be of a peer whose id neither of two callers knows', async () => {
    const [from, to] = [await start(), await start()]
    const dial = () => from.libp2p.dial(multiaddr(own(to)))
    for (const { remotePeer } of await Promise.all([dial(), dial()])) assert.ok(remotePeer.equals(to.libp2p.peerId))
  })

  it('keep their connection when another dial of the same address was faster', async () => {
    const [peer, node] = [await start(), await start()]
    const [address] = of(peer, own(peer))
    // A check of the address, which does not go through the connection manager.
    const { transportManager } = (node.libp2p as unknown as { components: Dialling }).components
    const { signal } = new AbortController()
    const [checked, dialled] = await Promise.all([
      transportManager.dial(address!, { signal }),
      node.libp2p.dial(address!)
    ])
    assert.notEqual(checked.id, dialled.id)
    assert.deepEqual([checked.status, dialled.status], ['open', 'open'])
    await eventually('both at the peer', DIAL_ADDRESS_MS, () =>
      peer.libp2p.getConnections(node.libp2p.peerId).length === 2 ? true : undefined
    )
  })

  it('end with the error of each address, and are tried again by the next dial', async () => {
    const [peer, node] = [await start(), await start()]
    const [first, second] = await Promise.all([silent(), silent()])
    for (const server of servers.splice(0)) server.close()
    const failure = await node.libp2p.dial(of(peer, first.address, second.address)).catch((error: unknown) => error)
    assert.ok(failure instanceof AggregateError)
    for (const [index, { address }] of [first, second].entries())
      assert.match(String(failure.errors[index]), new RegExp(`ECONNREFUSED.*:${address.split('/').at(-1)}`))
    await node.libp2p.dial(of(peer, first.address, own(peer)))
    assert.equal((await connection(node, peer)).remoteAddr.toString(), of(peer, own(peer)).toString())
  })

  it('reach only a few addresses of a peer that names many, also when a second caller names more', async () => {
    const [peer, node] = [await start(), await start()]
    const victims = await Promise.all(Array.from({ length: 3 * DIALS_PER_PEER_MAX }, () => silent()))
    const named = victims.map(({ address }) => address)
    let knocks = 0
    for (const server of servers)
      server.on('connection', (socket) => {
        knocks++
        socket.destroy()
      })
    const half = named.length / 2
    const dials = [named.slice(0, half), named.slice(half)].map((some) => node.libp2p.dial(of(peer, ...some)))
    await Promise.allSettled(dials)
    assert.equal(knocks, DIALS_PER_PEER_MAX)
  })
})
