import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Libp2pEvents, PeerId, PeerStore } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import { createNode } from '../../../lib/index.ts'
import { storeProtocolsOnce } from '../../../lib/link/known-protocols.ts'

const PROTOCOL = '/souk/bulk/1.0.0'

describe('the protocols of streams', () => {
  let peer: PeerId
  let events: TypedEventEmitter<Libp2pEvents>
  let isConnected: boolean
  let store: PeerStore
  /** Calls that reached libp2p's own store. */
  let merged: unknown[]
  beforeEach(async () => {
    peer = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
    const node = await createNode()
    events = new TypedEventEmitter()
    isConnected = true
    merged = []
    store = Object.create(node.libp2p.peerStore) as PeerStore
    const merge = store.merge.bind(node.libp2p.peerStore)
    store.merge = (id, data) => {
      merged.push(data)
      return merge(id, data)
    }
    storeProtocolsOnce({
      peerStore: store,
      getConnections: () => (isConnected ? ([{}] as never) : []),
      addEventListener: events.addEventListener.bind(events)
    })
  })
  const merge = (protocol = PROTOCOL) => store.merge(peer, { protocols: [protocol] })
  const emit = (type: 'peer:update' | 'peer:disconnect', detail: unknown) =>
    events.safeDispatchEvent(type, { detail: detail as never })

  it('are stored once, with the same result', async () => {
    const first = await merge()
    assert.deepEqual(first.protocols, [PROTOCOL])
    assert.equal(await merge(), first)
    assert.equal(merged.length, 1)
    const { protocols } = await merge('/other/1')
    assert.deepEqual(new Set(protocols), new Set([PROTOCOL, '/other/1']))
    assert.equal(merged.length, 2)
  })

  it('are stored again after the peer changed or disconnected', async () => {
    await merge()
    emit('peer:update', { peer: { id: peer } })
    await merge()
    assert.equal(merged.length, 2)
    emit('peer:disconnect', peer)
    await merge()
    assert.equal(merged.length, 3)
  })

  it('of a peer without a connection are stored each time', async () => {
    isConnected = false
    await merge()
    await merge()
    assert.equal(merged.length, 2)
  })

  it('are stored with everything that comes with them', async () => {
    await merge()
    const multiaddrs = [multiaddr('/ip4/192.0.2.1/tcp/4001')]
    for (let i = 0; i < 2; i++) {
      const stored = await store.merge(peer, { protocols: [PROTOCOL], multiaddrs })
      assert.equal(stored.addresses.length, 1)
    }
    assert.equal(merged.length, 3)
  })
})
