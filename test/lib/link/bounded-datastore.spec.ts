import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { PEERS_STORED_MAX } from '../../../lib/base/limits/link.ts'
import { createNode } from '../../../lib/index.ts'
import { BoundedDatastore } from '../../../lib/link/bounded-datastore.ts'

/** A key; only its text matters here. */
const key = (path: string) => ({ toString: () => path }) as Parameters<BoundedDatastore['put']>[0]
const bytes = Uint8Array.of(1)

describe('the datastore of a node', () => {
  const areas = [
    { prefix: '/peers/', entriesMax: 3 },
    { prefix: '/claims/', entriesMax: 6, perFolderMax: 3, perNameMax: 2 }
  ]
  let store: BoundedDatastore
  const put = async (...paths: string[]) => {
    for (const path of paths) await store.put(key(path), bytes)
  }
  const under = async (prefix?: string) => {
    const paths: string[] = []
    for await (const found of store.query(prefix === undefined ? {} : { prefix })) paths.push(String(found.key))
    return paths
  }

  beforeEach(() => {
    store = new BoundedDatastore(areas, ['me'])
  })

  it('evicts the oldest entry, and never the node’s own', async () => {
    await put('/peers/me', '/peers/a', '/peers/b', '/peers/a', '/peers/c', '/other/x')
    assert.deepEqual(await under('/peers'), ['/peers/me', '/peers/a', '/peers/c'])
    assert.deepEqual(await under(), ['/peers/me', '/peers/a', '/peers/c', '/other/x'])
    await assert.rejects(store.get(key('/peers/b')), { name: 'NotFoundError' })
    assert.equal(await store.has(key('/peers/a')), true)
    await store.delete(key('/peers/a'))
    assert.equal(await store.has(key('/peers/a')), false)
  })

  it('limits the claims for one key, of one peer, and in total', async () => {
    await put('/claims/1/a', '/claims/1/b', '/claims/1/c', '/claims/1/d')
    assert.deepEqual(await under('/claims/1'), ['/claims/1/b', '/claims/1/c', '/claims/1/d'])
    await put('/claims/2/z', '/claims/3/z', '/claims/4/z')
    assert.deepEqual(await under('/claims/2'), [])
    await put('/claims/5/me', '/claims/6/me', '/claims/7/me', '/claims/8/y', '/claims/9/x')
    assert.equal((await under()).length, 6)
    for (const own of ['5', '6', '7']) assert.deepEqual(await under(`/claims/${own}`), [`/claims/${own}/me`])
  })

  it('holds the addresses of other peers', async () => {
    const { libp2p } = await createNode()
    await libp2p.peerStore.patch(libp2p.peerId, { multiaddrs: [multiaddr('/ip4/127.0.0.1/tcp/2')] })
    const last = PEERS_STORED_MAX + 50
    for (let each = 0; each < last; each++) {
      const peer = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
      await libp2p.peerStore.merge(peer, { multiaddrs: [multiaddr('/ip4/127.0.0.1/tcp/1')] })
    }
    const all = await libp2p.peerStore.all()
    assert.ok(all.length <= PEERS_STORED_MAX, `${all.length} peers`)
    assert.ok(all.length > PEERS_STORED_MAX / 2)
    assert.equal((await libp2p.peerStore.get(libp2p.peerId)).addresses.length, 1)
  })
})
