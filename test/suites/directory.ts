import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { apiId } from '../../lib/base/api-name.ts'
import { sha256, utf8 } from '../../lib/base/bytes.ts'
import type { Directory, DirectoryRecord, Offer } from '../../lib/interface/directory.ts'
import type { PeerAddress } from '../../lib/interface/link.ts'
import type { Delegation } from '../../lib/interface/manifest.ts'
import { within } from '../helpers/eventually.ts'

/** One node of the network under test. */
export interface DirectoryNode {
  readonly directory: Directory
  readonly privateKey: Ed25519PrivateKey
  /** Peer id. */
  readonly self: string
}

/** An implementation, as the suite needs it. */
export interface DirectoryHarness {
  /** A network of this many connected nodes, ready for lookups. */
  open(size: number): Promise<readonly DirectoryNode[]>
  /** Stops all nodes of all networks. */
  close(): Promise<void>
  delegate(to: string, provider: Ed25519PrivateKey): Promise<Delegation>
}

const soon = (ms = 30_000): AbortSignal => AbortSignal.timeout(ms)

async function ids(peers: AsyncIterable<PeerAddress>): Promise<string[]> {
  const found: string[] = []
  for await (const { id } of peers) found.push(id)
  return found.sort()
}

/** Polls until it holds, because changes take a moment to reach other nodes. */
async function eventually<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const until = performance.now() + 30_000
  for (;;) {
    const value = await ask()
    if (holds(value) || performance.now() > until) return value
  }
}

function offer(name: string, provider: string, changes: Partial<Offer> = {}): Offer {
  const manifestHash = Uint8Array.from(sha256(utf8(name)))
  return { id: apiId(name, provider), manifestHash, revision: 1, tags: ['demo'], delegations: [], ...changes }
}

/** The contract of `Directory`, for every implementation. */
export function directorySuite(what: string, harness: DirectoryHarness): void {
  describe(`${what} as a directory`, () => {
    let nodes: readonly DirectoryNode[]
    let first: DirectoryNode
    let second: DirectoryNode
    let third: DirectoryNode

    before(async () => {
      nodes = await harness.open(6)
      const [one, two, three] = nodes
      assert.ok(one !== undefined && two !== undefined && three !== undefined)
      ;[first, second, third] = [one, two, three]
    })

    after(() => harness.close())

    it('lets every node find a published record', async () => {
      const mine = offer('found', first.self)
      const { asked, stored } = await first.directory.publish(mine, soon())
      assert.ok(asked > 0 && stored * 3 >= asked * 2, `${stored} of ${asked} stored it`)
      for (const { directory } of nodes) {
        const record = await directory.record(mine.id, soon())
        assert.ok(record !== undefined)
        assert.equal(record.id, mine.id)
        assert.equal(record.revision, 1)
        assert.deepEqual(record.manifestHash, mine.manifestHash)
        assert.deepEqual(record.delegations, [])
        assert.ok(record.expiresAt > record.issuedAt)
      }
    })

    it('returns the servers of an API, the claimants of a name, and the nodes with a catalogue', async () => {
      const mine = offer('named', first.self)
      await first.directory.publish(mine, soon())
      await second.directory.publish(offer('named', second.self), soon())
      const { directory } = third
      const has =
        (...peers: string[]) =>
        (found: string[]) =>
          peers.every((peer) => found.includes(peer))
      const servers = await eventually(() => ids(directory.servers(mine.id, soon())), has(first.self))
      assert.deepEqual(servers, [first.self])
      const both = [first.self, second.self].sort()
      const claimants = await eventually(() => ids(directory.claimants('named', soon())), has(...both))
      assert.deepEqual(claimants, both)
      const catalogues = await eventually(() => ids(directory.catalogues(soon())), has(...both))
      assert.deepEqual(catalogues, both)
    })

    it('increases the sequence number with each publish, and the highest one wins', async () => {
      const seqs: bigint[] = []
      for (let revision = 1; revision <= 3; revision++) {
        const mine = offer('changing', first.self, { revision })
        await first.directory.publish(mine, soon())
        const record = await eventually(
          () => third.directory.record(mine.id, soon()),
          (found) => found?.revision === revision
        )
        assert.equal(record?.revision, revision)
        seqs.push(record.seq)
      }
      assert.deepEqual(
        [...seqs].sort((a, b) => (a < b ? -1 : 1)),
        seqs
      )
      assert.equal(new Set(seqs).size, seqs.length)
    })

    it('returns nothing for an unpublished API', async () => {
      const id = apiId('unknown', first.self)
      assert.equal(await second.directory.record(id, soon()), undefined)
      assert.deepEqual(await ids(second.directory.servers(id, soon())), [])
      assert.deepEqual(await ids(second.directory.claimants('unknown', soon())), [])
    })

    it('accepts the delegations of a provider, and a record of a delegated node', async () => {
      const delegation = await harness.delegate(second.self, first.privateKey)
      const mine = offer('shared', first.self, { delegations: [delegation] })
      await first.directory.publish(mine, soon())
      await second.directory.publish(mine, soon())
      const record = await third.directory.record(mine.id, soon())
      assert.deepEqual(record?.delegations, [delegation])
      const both = [first.self, second.self].sort()
      const servers = await eventually(
        () => ids(third.directory.servers(mine.id, soon())),
        (found) => found.length === 2
      )
      assert.deepEqual(servers, both)
    })

    it('lets a delegated node publish while its provider is offline, keeping other delegations', async () => {
      const [toSecond, toThird] = await Promise.all(
        [second, third].map(({ self }) => harness.delegate(self, first.privateKey))
      )
      assert.ok(toSecond !== undefined && toThird !== undefined)
      const id = apiId('orphan', first.self)
      await second.directory.publish(offer('orphan', first.self, { delegations: [toSecond] }), soon())
      await third.directory.publish(offer('orphan', first.self, { delegations: [toThird] }), soon())
      const record = await eventually(
        () => nodes[4]!.directory.record(id, soon()),
        (found) => found?.delegations.length === 2
      )
      assert.deepEqual(record?.delegations.map(({ peer }) => peer).sort(), [second.self, third.self].sort())
    })

    it('publishes all delegations that a delegated node knows where there is no record', async () => {
      const delegations = await Promise.all([second, third].map(({ self }) => harness.delegate(self, first.privateKey)))
      const mine = offer('replicated', first.self, { delegations })
      await second.directory.publish(mine, soon())
      const record = await third.directory.record(mine.id, soon())
      assert.deepEqual(record?.delegations.map(({ peer }) => peer).sort(), [second.self, third.self].sort())
    })

    it('refuses to publish for a provider without a delegation', async () => {
      const refused = { code: 'key_not_permitted' }
      const foreign = offer('foreign', first.self)
      await assert.rejects(second.directory.publish(foreign, soon()), refused)
      const toThird = await harness.delegate(third.self, first.privateKey)
      await assert.rejects(second.directory.publish({ ...foreign, delegations: [toThird] }, soon()), refused)
      assert.equal(await third.directory.record(foreign.id, soon()), undefined)
    })

    it('ends at once with an aborted signal', async () => {
      const gone = AbortSignal.abort(new Error('enough'))
      const { directory } = first
      await assert.rejects(directory.publish(offer('late', first.self), gone), /enough/)
      await assert.rejects(directory.record(apiId('late', first.self), gone), /enough/)
      assert.deepEqual(await ids(directory.servers(apiId('found', first.self), gone)), [])
    })

    it('is ready as soon as a peer exists, and stops waiting with the signal', async () => {
      await first.directory.ready(soon())
      await first.directory.ready(AbortSignal.abort())
    })

    it('withdraws a published API, and ignores an unpublished one', async () => {
      const mine = offer('brief', first.self)
      await first.directory.publish(mine, soon())
      await first.directory.withdraw(mine.id, soon())
      await first.directory.withdraw(mine.id, soon())
      await first.directory.publish(mine, soon())
      const servers = await eventually(
        () => ids(third.directory.servers(mine.id, soon())),
        (found) => found.length > 0
      )
      assert.deepEqual(servers, [first.self])
    })

    it('publishes without peers at once, and finds its own record', async () => {
      const [alone] = await harness.open(1)
      assert.ok(alone !== undefined)
      const mine = offer('alone', alone.self)
      const published = within('the end of a publish without peers', 2_000, alone.directory.publish(mine, soon()))
      assert.deepEqual(await published, { asked: 0, stored: 0 })
      const record: DirectoryRecord | undefined = await alone.directory.record(mine.id, soon())
      assert.equal(record?.id, mine.id)
      assert.equal(await alone.directory.record(apiId('other', alone.self), soon()), undefined)
      assert.deepEqual(await ids(alone.directory.claimants('other', soon())), [])
    })
  })
}
