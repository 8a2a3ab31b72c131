import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { identity } from 'multiformats/hashes/identity'
import { apiId } from '../../../../lib/base/api-name.ts'
import { sha256, utf8 } from '../../../../lib/base/bytes.ts'
import { systemClock } from '../../../../lib/base/clock.ts'
import {
  DHT_CLAIMS_PER_KEY_MAX,
  DHT_KEY_BYTES_MAX,
  PROVIDER_ADDRESSES_MAX,
  RECORD_COPIES,
  RECORD_TTL_MS
} from '../../../../lib/base/limits/directory.ts'
import { PEER_ADDRESSES_MAX } from '../../../../lib/base/limits/link.ts'
import type { DirectoryRecord } from '../../../../lib/interface/directory.ts'
import { createKadDirectory } from '../../../../lib/resolve/directory/kad-directory.ts'
import { nameCid, recordKey } from '../../../../lib/resolve/directory/keys.ts'
import { signRecord } from '../../../../lib/resolve/directory/record.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { offerNamed } from '../fixtures.ts'
import { joinKadNetwork, type KadNode, kadNetwork, stopAll } from './kad-network.ts'

interface Message {
  readonly type: string
  readonly key: Uint8Array
  readonly providers?: readonly { readonly id: Uint8Array; readonly multiaddrs: readonly Uint8Array[] }[]
}

/** How a node responds to one kind of message of the DHT. */
interface Handler {
  handle(from: unknown, message: Message): Promise<object | undefined>
}

type Handlers = Record<'ADD_PROVIDER' | 'GET_PROVIDERS', Handler>

const handlersOf = ({ dht }: KadNode): Handlers => (dht as unknown as { rpc: { handlers: Handlers } }).rpc.handlers

const soon = (): AbortSignal => AbortSignal.timeout(30_000)

describe('the DHT with malicious peers', () => {
  let nodes: KadNode[]
  let owner: KadNode
  let attacker: KadNode
  let reader: KadNode

  before(async () => {
    nodes = await kadNetwork(4)
    const [one, two, three] = nodes
    assert.ok(one !== undefined && two !== undefined && three !== undefined)
    ;[owner, attacker, reader] = [one, two, three]
  })

  after(() => stopAll(nodes))

  function recordOf(name: string, provider: string, seq: bigint): DirectoryRecord {
    const issuedAt = Date.now()
    return {
      id: apiId(name, provider),
      seq,
      issuedAt,
      expiresAt: issuedAt + RECORD_TTL_MS,
      manifestHash: sha256(utf8(name)),
      revision: 1,
      delegations: []
    }
  }

  /** Puts any bytes like a modified node would. Returns how many peers stored them. */
  async function put(node: KadNode, id: `${string}@${string}`, bytes: Uint8Array): Promise<number> {
    let stored = 0
    for await (const event of node.dht.put(recordKey(id), bytes, { signal: soon() })) {
      if (event.name === 'PEER_RESPONSE' && event.messageName === 'PUT_VALUE') stored++
    }
    return stored
  }

  it('stores no record forged in another provider’s name', async () => {
    const forged = recordOf('forged', owner.self, BigInt(Date.now()))
    assert.equal(await put(attacker, forged.id, await signRecord(forged, attacker.privateKey)), 0)
    assert.equal(await reader.directory.record(forged.id, soon()), undefined)
  })

  it('stores no older record over a newer one, not even at its publisher', async () => {
    const offer = offerNamed('replayed', owner.self)
    const old = await signRecord(recordOf('replayed', owner.self, BigInt(Date.now()) - 1n), owner.privateKey)
    const { asked, stored } = await owner.directory.publish(offer, soon())
    assert.deepEqual({ asked, stored }, { asked: nodes.length - 1, stored: nodes.length - 1 })
    assert.equal(await put(attacker, offer.id, old), 0)
    const record = await reader.directory.record(offer.id, soon())
    assert.ok(record !== undefined && record.issuedAt >= Date.now() - 5_000)
    assert.deepEqual(record.manifestHash, Uint8Array.from(offer.manifestHash))
  })

  it('publishes above the existing record when its clock has gone back, before and after a restart', async () => {
    const { id } = offerNamed('clock', owner.self)
    await owner.directory.publish(offerNamed('clock', owner.self), soon())
    const newcomer = await joinKadNetwork(nodes)
    const slow = { ...systemClock, now: () => Date.now() - 60_000 }
    let before = await reader.directory.record(id, soon())
    for (const [revision, { dht, privateKey }] of [owner, newcomer].entries()) {
      const directory = createKadDirectory({ dht, privateKey, providerKey: owner.privateKey, clock: slow })
      const { stored } = await directory.publish(offerNamed('clock', owner.self, { revision: revision + 2 }), soon())
      assert.ok(stored > 0)
      const record = await reader.directory.record(id, soon())
      assert.equal(record?.revision, revision + 2)
      assert.ok(before !== undefined && record.seq > before.seq)
      before = record
    }
  })

  it('returns the first record at once, and reports a later, higher one', async () => {
    const seq = BigInt(Date.now())
    const { id } = recordOf('upgraded', owner.self, seq)
    const [old, current] = await Promise.all(
      [seq - 1n, seq].map((each) => signRecord(recordOf('upgraded', owner.self, each), owner.privateKey))
    )
    assert.ok(old !== undefined && current !== undefined)
    await put(owner, id, current)
    const newcomer = await joinKadNetwork(nodes)
    // No peer accepts the old record, but the new node now holds it itself.
    await put(newcomer, id, old)
    const higher = Promise.withResolvers<DirectoryRecord>()
    const first = await newcomer.directory.record(id, soon(), { onHigher: higher.resolve })
    assert.equal(first?.seq, seq - 1n)
    assert.equal((await higher.promise).seq, seq)
  })

  it('finds the one that claims a name, whatever false claimants another peer names', async () => {
    const { directory } = owner
    await directory.publish(offerNamed('hidden', owner.self), soon())
    const claimantsAt = async ({ directory: asked }: KadNode) => {
      const named: string[] = []
      for await (const { id } of asked.claimants('hidden', soon())) named.push(id)
      return named
    }
    await eventually('honest peers to name the owner', 10_000, async () =>
      (await claimantsAt(reader)).includes(owner.self) ? true : undefined
    )
    const handlers = handlersOf(attacker)
    const honest = handlers.GET_PROVIDERS
    const ghosts = await Promise.all(Array.from({ length: 3 * RECORD_COPIES }, () => generateKeyPair('Ed25519')))
    const providers = ghosts.map((key) => ({
      id: peerIdFromPrivateKey(key).toMultihash().bytes,
      multiaddrs: [multiaddr('/ip4/127.0.0.1/tcp/9').bytes]
    }))
    const closer = nodes.map(({ libp2p }) => ({
      id: libp2p.peerId.toMultihash().bytes,
      multiaddrs: libp2p.getMultiaddrs().map(({ bytes }) => bytes)
    }))
    const answer = (_from: unknown, { type, key }: Message) => Promise.resolve({ type, key, closer, providers })
    handlers.GET_PROVIDERS = { handle: answer }
    // One that knows the attacker only could end there: a walk asks no peer that is farther from the key.
    const newcomer = await joinKadNetwork([attacker, reader])
    const named = await claimantsAt(newcomer)
    handlers.GET_PROVIDERS = honest
    await newcomer.libp2p.stop()
    assert.ok(named.includes(owner.self))
    // So a lookup that ends early has not asked for the false ones first.
    assert.ok(named.indexOf(owner.self) < ghosts.length)
  })

  it('stores one claim of a message, and none with a long key', async () => {
    const { ADD_PROVIDER } = handlersOf(reader)
    const claimant = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
    const named = (port: number) => ({
      id: claimant.toMultihash().bytes,
      multiaddrs: [multiaddr(`/ip4/127.0.0.1/tcp/${port}`).bytes]
    })
    const providers = [1, 2, 3].map(named)
    await ADD_PROVIDER.handle(claimant, { type: 'ADD_PROVIDER', key: nameCid('claimed').bytes, providers })
    const { addresses } = await reader.libp2p.peerStore.get(claimant)
    assert.deepEqual(
      addresses.map((each) => each.multiaddr.toString()),
      ['/ip4/127.0.0.1/tcp/1']
    )
    const long = CID.createV1(raw.code, identity.digest(new Uint8Array(DHT_KEY_BYTES_MAX))).bytes
    await assert.rejects(ADD_PROVIDER.handle(claimant, { type: 'ADD_PROVIDER', key: long, providers }), /too long/)
  })

  it('names the other providers of a key when it has lost the addresses of one', async () => {
    const { ADD_PROVIDER, GET_PROVIDERS } = handlersOf(reader)
    const key = nameCid('half').bytes
    const ids = (await Promise.all([1, 2].map(() => generateKeyPair('Ed25519')))).map(peerIdFromPrivateKey)
    for (const id of ids) {
      const provider = { id: id.toMultihash().bytes, multiaddrs: [multiaddr('/ip4/127.0.0.1/tcp/9').bytes] }
      await ADD_PROVIDER.handle(id, { type: 'ADD_PROVIDER', key, providers: [provider] })
    }
    const [lost, kept] = ids
    assert.ok(lost !== undefined && kept !== undefined)
    await reader.libp2p.peerStore.delete(lost)
    const answer = await GET_PROVIDERS.handle(owner.libp2p.peerId, { type: 'GET_PROVIDERS', key, providers: [] })
    const { providers } = answer as { readonly providers: readonly { readonly id: Uint8Array }[] }
    assert.deepEqual(
      providers.map(({ id }) => id),
      [kept.toMultihash().bytes]
    )
  })

  it('responds to a peer while another one asks for all claims of a key, and shares the addresses in a response', async () => {
    const { ADD_PROVIDER, GET_PROVIDERS } = handlersOf(reader)
    const key = nameCid('asked').bytes
    const multiaddrs = Array.from(
      { length: PEER_ADDRESSES_MAX },
      (_, host) => multiaddr(`/ip4/10.0.0.${host}/tcp/9`).bytes
    )
    for (let count = 0; count < DHT_CLAIMS_PER_KEY_MAX; count++) {
      const id = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
      const provider = { id: id.toMultihash().bytes, multiaddrs }
      await ADD_PROVIDER.handle(id, { type: 'ADD_PROVIDER', key, providers: [provider] })
    }
    const order: string[] = []
    const ask = async (from: KadNode, asked: Uint8Array) => {
      const request = { type: 'GET_PROVIDERS', key: asked, providers: [] }
      const response = await GET_PROVIDERS.handle(from.libp2p.peerId, request)
      order.push(from.self)
      return response as { readonly providers: readonly { readonly multiaddrs: readonly Uint8Array[] }[] }
    }
    const [first] = await Promise.all([
      ...Array.from({ length: 4 }, () => ask(attacker, key)),
      ask(owner, nameCid('other').bytes)
    ])
    assert.equal(order[0], owner.self)
    assert.equal(first?.providers.length, DHT_CLAIMS_PER_KEY_MAX)
    const named = first.providers.flatMap((each) => each.multiaddrs)
    assert.equal(named.length, PROVIDER_ADDRESSES_MAX)
  })

  it('stops with the caller, whatever the peers do', async () => {
    const controller = new AbortController()
    const asking = reader.directory.record(apiId('nothing', owner.self), controller.signal)
    controller.abort(new Error('enough'))
    await assert.rejects(asking, /enough/)
  })
})
