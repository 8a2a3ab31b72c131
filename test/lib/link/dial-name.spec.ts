import assert from 'node:assert/strict'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { DIAL_ADDRESS_MS, DIALS_PER_NAME_MAX } from '../../../lib/base/limits/link.ts'
import { createNode, type SoukNode } from '../../../lib/index.ts'
import { eventually } from '../../helpers/eventually.ts'
import { portOf } from '../../helpers/port-of.ts'

const WAIT_MS = 20_000

describe('a DNS name of a peer', () => {
  const { lookup } = dns
  const nodes: SoukNode[] = []
  const servers: Server[] = []
  /** The addresses of every name, as the system's resolver would return them. */
  let addresses: readonly string[]

  before(() => {
    dns.lookup = (async () => addresses.map((address) => ({ address, family: 4 }))) as unknown as typeof lookup
  })
  after(() => {
    dns.lookup = lookup
  })
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.stop()
    for (const server of servers.splice(0)) server.close()
  })

  const start = async (options: { listen?: string[]; bootstrap?: string[]; privateKey?: PrivateKey } = {}) => {
    const node = await createNode(options)
    nodes.push(node)
    await node.start()
    return node
  }
  const named = (node: SoukNode, transport = '') =>
    multiaddr(`/dns4/peer.example/tcp/${portOf(node.libp2p)}${transport}/p2p/${node.libp2p.peerId.toString()}`)
  /** Accepts connections and does not respond. Returns how many. */
  const silent = async (host: string, port: number) => {
    let knocks = 0
    const server = createServer((socket) => {
      knocks++
      socket.on('error', () => {}).resume()
    }).listen(port, host)
    servers.push(server)
    await once(server, 'listening')
    return { knocks: () => knocks, port: (server.address() as AddressInfo).port }
  }

  for (const transport of ['', '/ws']) {
    it(`is dialled at all its addresses, when the first ones are silent: /tcp${transport}`, async () => {
      const peer = await start({ listen: ['/ip4/127.0.0.3/tcp/0'] })
      await silent('127.0.0.1', portOf(peer.libp2p))
      await silent('127.0.0.2', portOf(peer.libp2p))
      addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
      const node = await start()
      const startedAt = performance.now()
      await node.libp2p.dial(named(peer, transport))
      // One after the other would take longer.
      assert.ok(performance.now() - startedAt < 2 * DIAL_ADDRESS_MS)
    })
  }

  it('is dialled at a limited number of addresses', async () => {
    const [peer, node] = [await start(), await start()]
    const { port, knocks } = await silent('0.0.0.0', 0)
    servers.at(-1)?.on('connection', (socket) => socket.destroy())
    addresses = Array.from({ length: 3 * DIALS_PER_NAME_MAX }, (_, n) => `127.0.1.${n + 1}`)
    const id = peer.libp2p.peerId.toString()
    await assert.rejects(node.libp2p.dial(multiaddr(`/dns4/peer.example/tcp/${port}/p2p/${id}`)))
    assert.equal(knocks(), DIALS_PER_NAME_MAX)
  })

  it('of a bootstrap peer is looked up again after the peer moved', async () => {
    const privateKey = await generateKeyPair('Ed25519')
    const old = await start({ privateKey })
    const port = portOf(old.libp2p)
    addresses = ['127.0.0.1']
    const node = await start({ bootstrap: [named(old).toString()] })
    await eventually('the connection', WAIT_MS, () =>
      old.libp2p.getConnections(node.libp2p.peerId).length > 0 ? true : undefined
    )
    await old.stop()
    // It knows no peer, so it cannot dial by itself.
    const moved = await start({ privateKey, listen: [`/ip4/127.0.0.2/tcp/${port}`] })
    addresses = ['127.0.0.2']
    await eventually('the connection to the new address', WAIT_MS, () =>
      moved.libp2p.getConnections(node.libp2p.peerId).length > 0 ? true : undefined
    )
  })
})
