import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import type { ApiId } from '../../../lib/base/api-name.ts'
import { sha256 } from '../../../lib/base/bytes.ts'
import { type Clock, systemClock } from '../../../lib/base/clock.ts'
import { isSoukError } from '../../../lib/base/errors.ts'
import {
  CLAIMANTS_AT_ONCE,
  CLAIMANTS_MS_MIN,
  LOOKUP_MS,
  RESOLUTION_FRESH_MS,
  RESOLUTION_NEGATIVE_MS
} from '../../../lib/base/limits/directory.ts'
import type { Directory, DirectoryRecord, Resolution, Resolver } from '../../../lib/interface/directory.ts'
import type { PeerAddress } from '../../../lib/interface/link.ts'
import type { Delegation, Manifest, SignedManifest } from '../../../lib/interface/manifest.ts'
import { splitId } from '../../../lib/resolve/directory/keys.ts'
import { signDelegation } from '../../../lib/resolve/directory/delegation.ts'
import { serveManifests } from '../../../lib/resolve/manifest/manifest-exchange.ts'
import { createMemoryDirectory, MemoryDirectoryNetwork } from '../../../lib/resolve/directory/memory-directory.ts'
import { createResolver, type PinningResolver } from '../../../lib/resolve/resolver.ts'
import { signManifest } from '../../../lib/resolve/manifest/sign-manifest.ts'
import { manualClock, settle } from '../../helpers/manual-clock.ts'
import {
  emptyDirectory,
  idOf,
  keyOf,
  LinkNetwork,
  manifestOf,
  memoryDocuments,
  NOW,
  offerNamed,
  offerOf,
  seededRandom,
  type StubLink
} from './fixtures.ts'

/** A node in a market without sockets. */
interface Node {
  readonly key: Ed25519PrivateKey
  readonly self: string
  readonly link: StubLink
  readonly directory: Directory
  readonly resolver: PinningResolver
  /** The manifests it serves. */
  readonly local: SignedManifest[]
  /** The manifests its resolver reported. */
  readonly learned: SignedManifest[]
}

const signal = () => AbortSignal.timeout(30_000)

describe('resolver', () => {
  let clock: ReturnType<typeof manualClock>
  let links: LinkNetwork
  let directories: MemoryDirectoryNetwork
  let owner: Node
  let replica: Node
  let consumer: Node
  /** The catalogue of each node. */
  let listed: ApiId[]
  let squatter: Node

  beforeEach(async () => {
    clock = manualClock(NOW)
    links = new LinkNetwork()
    directories = new MemoryDirectoryNetwork()
    owner = await node('owner')
    replica = await node('replica')
    consumer = await node('consumer')
    squatter = await node('squatter')
    listed = []
  })

  async function node(word: string, parts: { directory?: Directory; clock?: Clock } = {}): Promise<Node> {
    const key = await keyOf(word)
    const link = links.join(idOf(key))
    const directory = parts.directory ?? createMemoryDirectory({ network: directories, privateKey: key, clock })
    const local: SignedManifest[] = []
    const learned: SignedManifest[] = []
    serveManifests({ link, local: () => local, clock })
    const resolver = createResolver({
      directory,
      link,
      documents: memoryDocuments(),
      local: () => local,
      clock: parts.clock ?? clock,
      random: seededRandom(),
      listed: async () => listed,
      learn: (signed) => learned.push(signed)
    })
    return { key, self: link.self, link, directory, resolver, local, learned }
  }

  const sign = ({ key, self }: Node, changes: Partial<Manifest> = {}) => signManifest(manifestOf(self, changes), key)

  /** Serves a new manifest instead of an earlier one, and announces it. */
  async function publish(at: Node, changes: Partial<Manifest> = {}, delegations: Delegation[] = []) {
    const signed = await sign(at, changes)
    at.local.splice(0, at.local.length, ...at.local.filter(({ id }) => id !== signed.id), signed)
    await at.directory.publish(offerOf(signed, delegations), signal())
    return signed
  }

  const delegate = (to: Node, by: Node, ms = 1_000_000) =>
    signDelegation({ peer: to.self, expiresAt: NOW + ms }, by.key)

  /** Published by the owner, and also served by the replica. */
  async function publishTwice(changes: Partial<Manifest> = {}): Promise<SignedManifest> {
    const delegation = await delegate(replica, owner)
    const signed = await publish(owner, changes, [delegation])
    replica.local.push(signed)
    await replica.directory.publish(offerOf(signed, [delegation]), signal())
    return signed
  }

  const find = (name = 'ticker', by = owner) =>
    consumer.resolver.resolve({ name, provider: by.self }, { signal: signal() })
  const findBare = (at = consumer) => at.resolver.resolve({ name: 'ticker' }, { signal: signal() })
  const idsOf = (peers: readonly PeerAddress[]) => peers.map(({ id }) => id).sort()

  /** The error that a caller receives, by code. */
  async function codeOf(promise: ReturnType<Resolver['resolve']>): Promise<string> {
    return promise.then(
      () => 'found',
      (error: unknown) => (isSoukError(error) ? error.code : String(error))
    )
  }

  it('finds an API by its id, with its manifest and its owners', async () => {
    const signed = await publish(owner)
    const found = await find()
    assert.deepEqual(found, { signed, owners: [{ id: owner.self, addresses: [] }] })
    assert.deepEqual(consumer.learned, [signed])
  })

  it('uses a fresh result without queries, and reloads in the background later', async () => {
    await publish(owner)
    await find()
    await publish(owner, { revision: 2 })
    const before = owner.link.askedBy.length
    assert.equal((await find()).signed.manifest.revision, 1)
    assert.equal(owner.link.askedBy.length, before)
    await clock.advance(RESOLUTION_FRESH_MS)
    assert.equal((await find()).signed.manifest.revision, 1)
    await settle(50)
    assert.equal((await find()).signed.manifest.revision, 2)
  })

  it('returns delegated nodes only, however many others claim to serve it', async () => {
    const signed = await publishTwice()
    // The squatter has the manifest and claims to serve it.
    squatter.local.push(signed)
    const foreign = { ...offerOf(signed), id: signed.id }
    const claims = directories.offers.get(squatter.self) ?? {
      address: { id: squatter.self, addresses: [] },
      byId: new Map()
    }
    claims.byId.set(signed.id, foreign)
    directories.offers.set(squatter.self, claims)
    const { owners } = await find()
    assert.deepEqual(idsOf(owners), [owner.self, replica.self].sort())
    assert.deepEqual(squatter.link.askedBy, [])
  })

  it('no longer returns a node whose delegation has expired', async () => {
    const delegation = await delegate(replica, owner, 10)
    const signed = await publish(owner, {}, [delegation])
    replica.local.push(signed)
    await replica.directory.publish(offerOf(signed, [delegation]), signal())
    await clock.advance(10)
    assert.deepEqual(idsOf((await find()).owners), [owner.self])
  })

  it('uses the manifest of a replica when the provider is offline', async () => {
    const signed = await publishTwice()
    links.links.delete(owner.self)
    const found = await find()
    assert.deepEqual(found.signed, signed)
    assert.deepEqual(
      found.owners.map(({ id }) => id),
      [replica.self, owner.self]
    )
  })

  it('returns itself for its own APIs, without queries', async () => {
    const signed = await publish(owner)
    const mine = { signed, owners: [{ id: owner.self, addresses: [] }] }
    assert.deepEqual(await owner.resolver.resolve({ name: 'ticker', provider: owner.self }, { signal: signal() }), mine)
    assert.deepEqual(await findBare(owner), mine)
  })

  it('reports an unknown API, and finds it soon after it appears', async () => {
    assert.equal(await codeOf(find()), 'api_not_found')
    await publish(owner)
    assert.equal(await codeOf(find()), 'api_not_found')
    await clock.advance(RESOLUTION_NEGATIVE_MS)
    assert.equal(await codeOf(find()), 'found')
  })

  it('distinguishes an API without a reachable node from an unknown one', async () => {
    await publish(owner)
    owner.link.mood = 'refuses'
    assert.equal(await codeOf(find()), 'owner_unreachable')
    assert.equal(await codeOf(findBare()), 'owner_unreachable')
    owner.link.mood = 'answers'
    owner.local.length = 0
    await clock.advance(RESOLUTION_NEGATIVE_MS)
    assert.equal(await codeOf(find()), 'api_not_found')
  })

  it('rejects an older revision from any node', async () => {
    const old = await publishTwice({ revision: 1 })
    const current = await publishTwice({ revision: 2 })
    await find()
    owner.local.splice(0, 1, old)
    replica.local.splice(0, replica.local.length, old)
    const again = consumer.resolver.resolve(
      { name: 'ticker', provider: owner.self },
      { signal: signal(), refresh: true }
    )
    await assert.rejects(again, { code: 'api_not_found' })
    replica.local.splice(0, 1, current)
    const found = await consumer.resolver.resolve(
      { name: 'ticker', provider: owner.self },
      { signal: signal(), refresh: true }
    )
    assert.equal(found.signed.manifest.revision, 2)
    assert.equal(found.owners[0]?.id, replica.self)
  })

  it('prefers the manifest that the record names to an older one that came first', async () => {
    const old = await sign(owner, { revision: 1 })
    await publishTwice({ revision: 2 })
    replica.local.splice(0, replica.local.length, old)
    assert.equal((await find()).signed.manifest.revision, 2)
  })

  it('prefers another owner after a failure, and queries the network again', async () => {
    await publishTwice()
    const first = (await find()).owners[0]
    assert.ok(first !== undefined)
    const before = owner.link.askedBy.length + replica.link.askedBy.length
    consumer.resolver.report(`ticker@${owner.self}`, first.id, { ok: false })
    const second = (await find()).owners[0]
    assert.notEqual(second?.id, first.id)
    assert.ok(owner.link.askedBy.length + replica.link.askedBy.length > before)
  })

  it('prefers the owner that responds faster', async () => {
    await publishTwice()
    await find()
    consumer.resolver.report(`ticker@${owner.self}`, owner.self, { ok: true, ms: 100 })
    consumer.resolver.report(`ticker@${owner.self}`, replica.self, { ok: true, ms: 5 })
    assert.equal((await find()).owners[0]?.id, replica.self)
  })

  it('resolves a bare name to its only provider', async () => {
    const signed = await publish(owner)
    const found = await findBare()
    assert.deepEqual(found, { signed, owners: [{ id: owner.self, addresses: [] }] })
  })

  it('rejects a bare name with several providers, and lists them', async () => {
    await publish(owner)
    await publish(squatter, { price: 0n })
    await assert.rejects(findBare(), (error) => {
      assert.ok(isSoukError(error) && error.code === 'name_conflict')
      const { candidates } = error.members as { candidates: Array<{ id: string; price: string }> }
      assert.deepEqual(
        candidates.map(({ id }) => id).sort(),
        [`ticker@${owner.self}`, `ticker@${squatter.self}`].sort()
      )
      assert.deepEqual(candidates.map(({ price }) => price).sort(), ['0', '0.0015'])
      return true
    })
  })

  it('uses the pinned provider, whoever else claims the name', async () => {
    await publish(squatter)
    await consumer.resolver.pin('ticker', owner.self)
    assert.equal(await codeOf(findBare()), 'api_not_found')
    await publish(owner)
    await clock.advance(RESOLUTION_NEGATIVE_MS)
    assert.equal((await findBare()).signed.manifest.provider, owner.self)
  })

  it('resolves a bare name to its own API, even if others claim it', async () => {
    await publish(squatter)
    assert.equal((await findBare()).signed.manifest.provider, squatter.self)
    await publish(consumer)
    assert.equal((await findBare()).signed.manifest.provider, consumer.self)
  })

  it('ignores a replayed manifest of a provider that left', async () => {
    const gone = await sign(replica)
    await publish(owner)
    const claims = { address: { id: squatter.self, addresses: [] }, byId: new Map([[gone.id, offerOf(gone)]]) }
    directories.offers.set(squatter.self, claims)
    squatter.local.push(gone)
    assert.equal((await findBare()).signed.manifest.provider, owner.self)
  })

  it('skips a retired API when another one has its name', async () => {
    await publish(replica, { state: 'retired' })
    assert.equal((await findBare()).signed.manifest.state, 'retired')
    await publish(owner)
    await clock.advance(RESOLUTION_FRESH_MS * 20)
    assert.equal((await findBare()).signed.manifest.provider, owner.self)
  })

  it('queries a connected provider that the directory does not know yet', async () => {
    const signed = await sign(owner)
    owner.local.push(signed)
    consumer.link.connected = [{ id: owner.self, addresses: ['/ip4/127.0.0.1/tcp/1'] }]
    assert.deepEqual(await find(), { signed, owners: consumer.link.connected })
  })

  it('queries the nodes named in the record when no node announced the API', async () => {
    const signed = await publishTwice()
    for (const self of [owner.self, replica.self]) directories.offers.get(self)?.byId.clear()
    const found = await find()
    assert.deepEqual(found.signed, signed)
    assert.deepEqual(idsOf(found.owners), [owner.self, replica.self].sort())
  })

  describe('of which the directory has no copy any more', () => {
    /** The squatter claims the name, and has no API of it. */
    async function lose(signed: SignedManifest): Promise<void> {
      await publish(squatter)
      squatter.local.splice(0)
      directories.offers.delete(owner.self)
      directories.records.delete(signed.id)
    }

    it('finds an API that the catalogue has, by its name and by its id', async () => {
      const signed = await publish(owner)
      await lose(signed)
      assert.equal(await codeOf(findBare()), 'api_not_found')
      listed = [signed.id]
      const late = await node('late')
      assert.deepEqual(await findBare(late), { signed, owners: [{ id: owner.self, addresses: [] }] })
      const later = await node('later')
      const byId = later.resolver.resolve({ name: 'ticker', provider: owner.self }, { signal: signal() })
      assert.deepEqual(await byId, { signed, owners: [{ id: owner.self, addresses: [] }] })
    })

    it('does not wait for a slow directory if the catalogue has it', async () => {
      const signed = await publish(owner)
      listed = [signed.id]
      async function* silent(_: string, until: AbortSignal): AsyncGenerator<PeerAddress> {
        await new Promise<void>((resolve) => until.addEventListener('abort', () => resolve()))
        yield* []
      }
      const late = await node('late', { directory: emptyDirectory({ claimants: silent }) })
      let found: Resolution | undefined
      const finding = findBare(late).then((resolution) => (found = resolution))
      await clock.advance(CLAIMANTS_MS_MIN)
      assert.equal(found, undefined)
      await clock.advance(2 * CLAIMANTS_MS_MIN)
      assert.deepEqual((await finding).owners, [{ id: owner.self, addresses: [] }])
    })

    it('says that its node cannot be reached, and never trusts the catalogue alone', async () => {
      const signed = await publish(owner)
      await lose(signed)
      listed = [signed.id]
      owner.link.mood = 'refuses'
      assert.equal(await codeOf(find()), 'owner_unreachable')
    })

    it('does not ask a provider for an API that the catalogue does not have', async () => {
      await publish(owner)
      owner.link.askedBy.length = 0
      assert.equal(await codeOf(find('other')), 'api_not_found')
      assert.deepEqual(owner.link.askedBy, [])
    })
  })

  it('ends when the first response matches the record, although others are silent', async () => {
    await publishTwice()
    replica.link.mood = 'hangs'
    assert.equal((await find()).owners[0]?.id, owner.self)
  })

  it('finds a bare name among many false claimants, and does not wait for silent ones', async () => {
    const signed = await sign(owner)
    for (let i = 0; i < 2 * CLAIMANTS_AT_ONCE; i++) {
      const liar = await node(`liar ${i}`)
      liar.link.mood = i % 2 === 0 ? 'hangs' : 'refuses'
      await liar.directory.publish(offerNamed('ticker', liar.self), signal())
    }
    await publish(owner)
    const finding = findBare()
    for (let turn = 0; turn < 4; turn++) await clock.advance(CLAIMANTS_MS_MIN)
    const { owners } = await finding
    assert.deepEqual(idsOf(owners), [splitId(signed.id).provider])
  })

  it('ends a lookup at its timeout, with the results so far', async () => {
    await publish(owner)
    owner.link.mood = 'hangs'
    const hanging = codeOf(find())
    await clock.advance(LOOKUP_MS)
    assert.equal(await hanging, 'owner_unreachable')
    const never = emptyDirectory({ record: () => new Promise(() => {}) })
    const lost = await node('lost', { directory: never })
    const looking = codeOf(lost.resolver.resolve({ name: 'ticker', provider: owner.self }, { signal: signal() }))
    await clock.advance(LOOKUP_MS)
    assert.equal(await looking, 'lookup_timeout')
  })

  it('stops with the caller', async () => {
    await publish(owner)
    owner.link.mood = 'hangs'
    const controller = new AbortController()
    const finding = consumer.resolver.resolve({ name: 'ticker' }, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(finding, /enough/)
    await assert.rejects(consumer.resolver.resolve({ name: 'ticker' }, { signal: controller.signal }), /enough/)
  })

  it('survives a directory that fails', async () => {
    const broken = async () => {
      throw new Error('no network')
    }
    const cut = (): AsyncIterable<PeerAddress> => ({ [Symbol.asyncIterator]: () => ({ next: broken }) })
    const failing = emptyDirectory({ record: broken, servers: cut, claimants: cut })
    const lost = await node('lost', { directory: failing, clock: systemClock })
    const ref = { name: 'ticker', provider: owner.self }
    assert.equal(await codeOf(lost.resolver.resolve(ref, { signal: signal() })), 'api_not_found')
  })

  it('looks up again when the directory learns of a newer record', async () => {
    const signed = await publish(owner)
    const higher = Promise.withResolvers<(record: DirectoryRecord) => void>()
    const { directory } = consumer
    const upgrading: Directory = {
      ...directory,
      record(id, signal, { onHigher = () => {} } = {}) {
        higher.resolve(onHigher)
        return directory.record(id, signal)
      }
    }
    const late = await node('late', { directory: upgrading })
    const ref = { name: 'ticker', provider: owner.self }
    await late.resolver.resolve(ref, { signal: signal() })
    const next = await publish(owner, { revision: 2 })
    const record = await directory.record(signed.id, signal())
    assert.deepEqual(record?.manifestHash, Uint8Array.from(sha256(next.envelope)))
    ;(await higher.promise)(record)
    await late.resolver.resolve(ref, { signal: signal() })
    await settle(50)
    assert.equal((await late.resolver.resolve(ref, { signal: signal() })).signed.manifest.revision, 2)
  })
})
