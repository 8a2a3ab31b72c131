import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Peer, PeerId, PeerStore } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { PEER_ADDRESS_BYTES_MAX, PEER_ADDRESSES_MAX, PEER_PROTOCOLS_MAX } from '../../../lib/base/limits/link.ts'
import { createNode, type SoukNode } from '../../../lib/index.ts'

const MANY = 2 * PEER_ADDRESSES_MAX
const address = (port: number): Multiaddr => multiaddr(`/ip4/192.0.2.1/tcp/${port}`)
const addressesOf = (peer: Peer) => new Set(peer.addresses.map((each) => each.multiaddr.toString()))

describe('what a node stores of a peer', () => {
  let node: SoukNode
  let store: PeerStore
  let peer: PeerId
  beforeEach(async () => {
    node = await createNode()
    store = node.libp2p.peerStore
    peer = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
  })
  const ports = (from: number) => Array.from({ length: MANY }, (_, port) => address(from + port))

  it('has a limit of addresses: the first ones of a message', async () => {
    for (const write of ['merge', 'patch'] as const) {
      const { addresses } = await store[write](peer, { multiaddrs: ports(1) })
      assert.equal(addresses.length, PEER_ADDRESSES_MAX)
    }
    await store.patch(peer, { addresses: ports(1).map((each) => ({ multiaddr: each, isCertified: false })) })
    const stored = addressesOf(await store.get(peer))
    for (let port = 1; port <= PEER_ADDRESSES_MAX; port++) assert.ok(stored.has(address(port).toString()), `${port}`)
  })

  it('has the same limit when messages come together, and has the newest of them', async () => {
    await Promise.all(ports(1).map((each) => store.merge(peer, { multiaddrs: [each] })))
    await store.merge(peer, { multiaddrs: [address(9_999)] })
    const stored = addressesOf(await store.get(peer))
    assert.equal(stored.size, PEER_ADDRESSES_MAX)
    assert.ok(stored.has(address(9_999).toString()))
  })

  it('keeps the addresses that the peer signed, whatever others name', async () => {
    await store.patch(peer, { addresses: [{ multiaddr: address(1), isCertified: true }] })
    await store.merge(peer, { multiaddrs: ports(2) })
    await store.merge(peer, { multiaddrs: ports(2 + MANY) })
    const { addresses } = await store.get(peer)
    assert.equal(addresses.length, PEER_ADDRESSES_MAX)
    assert.equal(addresses.find(({ multiaddr: each }) => each.equals(address(1)))?.isCertified, true)
  })

  it('has a limit of protocols, and of the length of an address', async () => {
    const protocols = Array.from({ length: 2 * PEER_PROTOCOLS_MAX }, (_, id) => `/test/${id}`)
    const long = multiaddr(`/dns4/${'a'.repeat(PEER_ADDRESS_BYTES_MAX)}/tcp/1`)
    await store.patch(peer, { protocols, multiaddrs: [long, address(1)] })
    const stored = await store.merge(peer, { protocols: ['/test/new'] })
    assert.equal(stored.protocols.length, PEER_PROTOCOLS_MAX)
    assert.ok(stored.protocols.includes('/test/new'))
    assert.deepEqual(addressesOf(stored), new Set([address(1).toString()]))
  })

  it('has no limit for the node itself', async () => {
    const { addresses } = await store.patch(node.libp2p.peerId, { multiaddrs: ports(1) })
    assert.equal(addresses.length, MANY)
  })
})
