import assert from 'node:assert/strict'
import { apiId } from '../../../lib/base/api-name.ts'
import { UPLOAD_BYTES_CEILING } from '../../../lib/base/limits/call.ts'
import { DELEGATION_TTL_MS, MANIFEST_TTL_MS, SELF_REPORT_AGE_MS } from '../../../lib/base/limits/directory.ts'
import { SUNSET_MS_MIN, TOMBSTONE_MS } from '../../../lib/base/limits/plans.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import type { Offer } from '../../../lib/interface/directory.ts'
import {
  LISTING_MOVES,
  type ListingState,
  type Manifest,
  type ManifestSigner,
  type SelfReport
} from '../../../lib/interface/manifest.ts'
import type { ListingInit } from '../../../lib/interface/souk.ts'
import type { Store } from '../../../lib/interface/store.ts'
import { DocumentShelf } from '../../../lib/describe/document-shelf.ts'
import { Announcer } from '../../../lib/owner/announcer.ts'
import { Owner } from '../../../lib/owner/owner.ts'
import { Provider } from '../../../lib/owner/provider.ts'
import { createMeteredScheme } from '../../../lib/pay/metered-scheme.ts'
import { createManifestSigner } from '../../../lib/resolve/manifest/manifest-signer.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { peerId } from '../../helpers/call-record.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { emptyDirectory, idOf, keyOf, manifestOf } from '../resolve/fixtures.ts'
import { StubAdapter } from './bench.ts'

const TERMS: ListingInit = { name: 'ticker', price: '0.0015', description: 'Candles', tags: ['market'] }
const STATES = Object.keys(LISTING_MOVES) as ListingState[]

describe('Provider', () => {
  const clock = manualClock()
  let store: Store
  let manifestSigner: ManifestSigner
  let owner: Owner
  let provider: Provider
  let adapter: StubAdapter
  let offers: Offer[]
  let withdrawn: string[]
  let reported: SelfReport | undefined
  let onReport: () => void

  /** A process on the same store, the first or a later one. */
  const boot = async (word = 'provider') => {
    await store.open()
    manifestSigner = createManifestSigner({ providerKey: await keyOf(word), clock })
    owner = new Owner({
      clock,
      paymentScheme: createMeteredScheme({ log: store.calls }),
      calls: store.calls,
      claims: store.claims,
      self: peerId('S'),
      epoch: 1n
    })
    offers = []
    withdrawn = []
    const directory = emptyDirectory({
      publish: async (offer) => {
        offers.push(offer)
        return { asked: 3, stored: 2 }
      },
      withdraw: async (id) => void withdrawn.push(id)
    })
    const announcer = new Announcer({ clock, directory, onError: (error) => assert.ifError(error) })
    provider = new Provider({
      clock,
      documents: store.documents,
      manifestSigner,
      apis: owner.apis,
      announcer,
      descriptions: new DocumentShelf(clock),
      report: () => {
        onReport()
        return reported
      }
    })
    adapter = new StubAdapter()
  }
  beforeEach(async () => {
    store = createMemoryStore()
    reported = undefined
    onReport = () => {}
    await boot()
  })

  /** The signature in a form that compares by its bytes. */
  const signature = (listing: { signed: { envelope: Uint8Array } }) =>
    Buffer.from(listing.signed.envelope).toString('hex')
  const revision = (listing: { signed: { manifest: Manifest } }) => listing.signed.manifest.revision
  const idOfTicker = () => apiId('ticker', manifestSigner.provider)

  it('signs, serves and announces a listing', async () => {
    adapter.description = { operations: [{ name: 'candles' }] }
    const listing = await provider.serve({ ...TERMS, idempotent: true }, adapter)
    const { signed, own, state, published, inFlight } = listing
    assert.deepEqual(
      { own, state, published, inFlight },
      {
        own: true,
        state: 'published',
        published: { asked: 3, stored: 2 },
        inFlight: 0
      }
    )
    assert.deepEqual((await manifestSigner.verify(signed.envelope)).manifest, {
      name: 'ticker',
      provider: manifestSigner.provider,
      protocol: 'REST',
      description: 'Candles',
      tags: ['market'],
      price: 1_500n,
      currency: 'USDC',
      idempotent: true,
      api: { operations: [{ name: 'candles' }] },
      state: 'published',
      revision: 1,
      issuedAt: clock.now(),
      expiresAt: clock.now() + MANIFEST_TTL_MS
    })
    assert.equal(owner.apis.get(idOfTicker())?.adapter, adapter)
    assert.deepEqual(
      offers.map((offer) => [offer.id, offer.revision, offer.tags]),
      [[idOfTicker(), 1, ['market']]]
    )
    assert.deepEqual(provider.listings(), [listing])
  })

  it('rejects invalid terms, and signs nothing', async () => {
    const wrong: Array<Partial<ListingInit>> = [
      { name: 'No Name' },
      { price: '-1' },
      { price: '1e3' },
      { price: undefined as unknown as string },
      { requestBytesMax: 0 },
      { requestBytesMax: 1.5 },
      { requestBytesMax: UPLOAD_BYTES_CEILING + 1 },
      { description: 'x'.repeat(100_000) }
    ]
    for (const changes of wrong) {
      await assert.rejects(provider.serve({ ...TERMS, ...changes }, adapter), { code: 'invalid_request' })
    }
    for (const none of [undefined, () => 'not yet a handler']) {
      await assert.rejects(provider.serve(TERMS, none as unknown as StubAdapter), {
        code: 'invalid_request',
        message: /handler\(…\)/
      })
    }
    assert.deepEqual([provider.listings(), offers], [[], []])
    assert.equal(revision(await provider.serve(TERMS, adapter)), 1)
  })

  describe('the revision', () => {
    it('increases only when the terms for consumers change', async () => {
      const first = await provider.serve(TERMS, adapter)
      assert.equal(revision(await provider.serve(TERMS, new StubAdapter())), 1)
      assert.equal(revision(await provider.serve({ ...TERMS, requestBytesMax: 10, forwardsPaths: true }, adapter)), 1)
      assert.equal(signature(await provider.serve(TERMS, adapter)), signature(first))
      const changes: Array<Partial<ListingInit>> = [
        { price: '0.002' },
        { description: 'Others' },
        { tags: ['market', 'more'] },
        { idempotent: true }
      ]
      for (const [i, change] of changes.entries()) {
        assert.equal(revision(await provider.serve({ ...TERMS, ...change }, adapter)), i + 2)
      }
      const other = new StubAdapter()
      other.description = { operations: [{ name: 'x' }] }
      assert.equal(revision(await provider.serve(TERMS, other)), changes.length + 2)
    })

    it('survives a restart, with the signature', async () => {
      const before = await provider.serve(TERMS, adapter)
      await boot()
      const after = await provider.serve(TERMS, adapter)
      assert.equal(signature(after), signature(before))
      await boot()
      assert.equal(revision(await provider.serve({ ...TERMS, price: '1' }, adapter)), 2)
    })

    it('continues to increase after the API was removed, and under another key', async () => {
      await provider.serve(TERMS, adapter)
      await provider.remove('ticker')
      assert.equal(revision(await provider.serve({ ...TERMS, price: '1' }, adapter)), 2)
      await boot('another provider')
      const listing = await provider.serve({ ...TERMS, price: '1' }, adapter)
      assert.equal(revision(listing), 3)
      assert.equal(listing.signed.manifest.provider, manifestSigner.provider)
    })

    it('is used once for concurrent changes', async () => {
      const prices = ['1', '2', '3', '4']
      const listings = await Promise.all([
        ...prices.map((price) => provider.serve({ ...TERMS, price }, adapter)),
        provider.serve({ ...TERMS, name: 'other' }, adapter)
      ])
      const signed = new Map(listings.map((listing) => [signature(listing), revision(listing)]))
      assert.equal(Math.max(...signed.values()), 4)
      await Promise.all([provider.serve({ ...TERMS, price: '5' }, adapter), provider.move('ticker', 'paused')])
      const { manifest } = owner.apis.get(idOfTicker())?.signed ?? assert.fail()
      assert.deepEqual([manifest.state, manifest.price, manifest.revision], ['paused', 5_000_000n, 6])
    })

    it('is not used up by a failed change', async () => {
      await assert.rejects(provider.move('ticker', 'paused'), { code: 'api_not_found' })
      await provider.serve(TERMS, adapter)
      await assert.rejects(provider.move('ticker', 'retired'), { code: 'invalid_request' })
      assert.equal(revision(await provider.move('ticker', 'paused')), 2)
    })
  })

  describe('the states', () => {
    /** A listing can be retired when its notice has ended. */
    async function moveInTime(state: ListingState) {
      if (state === 'retired' && provider.listings()[0]?.state !== state) await clock.advance(SUNSET_MS_MIN)
      return provider.move('ticker', state)
    }
    const paths: Record<ListingState, ListingState[]> = {
      draft: [],
      published: [],
      paused: ['paused'],
      deprecated: ['deprecated'],
      retired: ['deprecated', 'retired']
    }
    for (const from of STATES.filter((state) => state !== 'draft')) {
      for (const to of STATES) {
        const allowed: readonly ListingState[] = LISTING_MOVES[from]
        it(`${from} → ${to} is ${from === to ? 'nothing to do' : allowed.includes(to) ? 'a move' : 'refused'}`, async () => {
          await provider.serve(TERMS, adapter)
          for (const state of paths[from]) await moveInTime(state)
          const before = revision(provider.listings()[0] ?? assert.fail())
          if (from !== to && !allowed.includes(to)) {
            await assert.rejects(provider.move('ticker', to), { code: 'invalid_request' })
            return
          }
          const moved = await moveInTime(to)
          assert.equal(moved.state, to)
          assert.equal(revision(moved), from === to ? before : before + 1)
          assert.equal((await manifestSigner.verify(moved.signed.envelope)).manifest.state, to)
        })
      }
    }

    it('survive new terms and a restart, but a retired name starts a new listing', async () => {
      await provider.serve(TERMS, adapter)
      await provider.move('ticker', 'paused')
      assert.equal((await provider.serve({ ...TERMS, price: '1' }, adapter)).state, 'paused')
      await boot()
      assert.equal((await provider.serve(TERMS, adapter)).state, 'paused')
      await provider.move('ticker', 'deprecated')
      await moveInTime('retired')
      await assert.rejects(provider.serve(TERMS, adapter), { code: 'api_retired' })
      await clock.advance(TOMBSTONE_MS)
      assert.equal((await provider.serve(TERMS, adapter)).state, 'published')
    })

    it('end with a notice of at least 30 days and a successor', async () => {
      await provider.serve(TERMS, adapter)
      const early = { sunsetAt: clock.now() + SUNSET_MS_MIN - 1 }
      await assert.rejects(provider.move('ticker', 'deprecated', early), { code: 'invalid_request' })
      const successor = apiId('ticker-2', manifestSigner.provider)
      const notice = { sunsetAt: clock.now() + 2 * SUNSET_MS_MIN, successor, link: 'https://example.com/ticker' }
      const at = clock.now()
      const { signed } = await provider.move('ticker', 'deprecated', notice)
      assert.deepEqual(signed.manifest.deprecation, { at, ...notice })
      await clock.advance(2 * SUNSET_MS_MIN - 1)
      await assert.rejects(provider.move('ticker', 'retired'), /retired in 1 day\./)
      assert.deepEqual((await provider.serve(TERMS, adapter)).signed.manifest.deprecation, { at, ...notice })
      await clock.advance(1)
      assert.equal((await provider.move('ticker', 'retired')).signed.manifest.deprecation?.successor, successor)
    })

    it('leave a tombstone that survives restarts until it is removed or expires', async () => {
      await provider.serve(TERMS, adapter)
      await provider.move('ticker', 'deprecated')
      await moveInTime('retired')
      await boot()
      await provider.restore()
      assert.deepEqual(
        provider.listings().map(({ state }) => state),
        ['retired']
      )
      for (let days = 0; days < 180; days += 10) {
        await clock.advance(10 * DAY_MS)
        await provider.renew()
      }
      assert.deepEqual(provider.listings(), [])
      await provider.serve(TERMS, adapter)
      await provider.move('ticker', 'deprecated')
      await moveInTime('retired')
      await provider.remove('ticker')
      await boot()
      await provider.restore()
      assert.deepEqual(provider.listings(), [])
      await assert.rejects(provider.serve(TERMS, adapter), { code: 'api_retired' })
    })
  })

  describe('the self-report', () => {
    const reportOf = (calls: number): SelfReport => ({ until: clock.now(), days: 7, calls, goodPerMille: 990 })
    const shown = () => owner.apis.get(idOfTicker())?.signed.manifest.selfReport

    it('is in every newly signed manifest', async () => {
      const before = await provider.serve(TERMS, adapter)
      reported = reportOf(20)
      const after = await provider.serve({ ...TERMS, price: '0.002' }, adapter)
      assert.deepEqual(after.signed.manifest.selfReport, reported)
      assert.equal(revision(after), revision(before) + 1)
    })

    it('may be made in the next millisecond', async () => {
      const { now } = clock
      try {
        onReport = () => {
          clock.now = () => now() + 1
          reported = reportOf(20)
        }
        const { signed } = await provider.serve(TERMS, adapter)
        assert.deepEqual(signed.manifest.selfReport, reported)
      } finally {
        clock.now = now
      }
    })

    it('is signed again when its figures change, once an hour at most', async () => {
      const before = await provider.serve(TERMS, adapter)
      reported = reportOf(20)
      await provider.renew()
      assert.equal(shown(), undefined)
      await clock.advance(SELF_REPORT_AGE_MS)
      await provider.renew()
      assert.deepEqual(shown(), reported)
      await clock.advance(SELF_REPORT_AGE_MS)
      reported = reportOf(20)
      await provider.renew()
      assert.ok((shown()?.until ?? 0) < reported.until)
      reported = undefined
      await provider.renew()
      assert.equal(shown(), undefined)
      assert.equal(offers.at(-1)?.revision, revision(before) + 2)
    })

    it('makes no new revision when a node restarts', async () => {
      reported = reportOf(20)
      const before = await provider.serve(TERMS, adapter)
      await boot()
      reported = reportOf(50)
      assert.equal(revision(await provider.serve(TERMS, adapter)), revision(before))
    })
  })

  describe('renewal', () => {
    it('signs expiring manifests again, and no others', async () => {
      await provider.serve(TERMS, adapter)
      await provider.renew()
      assert.equal(offers.length, 1)
      await clock.advance(MANIFEST_TTL_MS / 2)
      await provider.renew()
      const [listing] = provider.listings()
      assert.equal(listing?.signed.manifest.revision, 2)
      assert.equal(listing?.signed.manifest.expiresAt, clock.now() + MANIFEST_TTL_MS)
      assert.equal(offers.length, 2)
    })

    it('signs an expired listing again, under a higher revision', async () => {
      await provider.serve(TERMS, adapter)
      await clock.advance(MANIFEST_TTL_MS + 1)
      await boot()
      assert.equal(revision(await provider.serve(TERMS, adapter)), 2)
    })

    it('does not restore an old state', async () => {
      await provider.serve(TERMS, adapter)
      await clock.advance(MANIFEST_TTL_MS / 2)
      await Promise.all([provider.move('ticker', 'paused'), provider.renew()])
      assert.equal(provider.listings()[0]?.state, 'paused')
    })
  })

  describe('removal', () => {
    it('stops serving and announcing, and closes the adapter', async () => {
      await provider.serve(TERMS, adapter)
      await provider.remove('ticker')
      assert.deepEqual([provider.listings(), withdrawn, adapter.closes], [[], [idOfTicker()], 1])
      await assert.rejects(provider.remove('ticker'), { code: 'api_not_found' })
    })
  })

  describe('delegation', () => {
    it('is signed, stored, announced with every own API, and expires', async () => {
      await provider.serve(TERMS, adapter)
      const delegation = await provider.delegate(peerId('D'))
      assert.equal(delegation.expiresAt, clock.now() + DELEGATION_TTL_MS)
      assert.deepEqual(
        offers.map(({ delegations }) => delegations.map(({ peer }) => peer)),
        [[], [peerId('D')]]
      )
      await boot()
      const kept = await provider.delegations()
      assert.deepEqual(
        kept.map(({ peer, envelope }) => [peer, Buffer.from(envelope).toString('hex')]),
        [[peerId('D'), Buffer.from(delegation.envelope).toString('hex')]]
      )
      await provider.serve(TERMS, adapter)
      assert.equal(offers[0]?.delegations.length, 1)
      await clock.advance(DELEGATION_TTL_MS)
      assert.deepEqual(await provider.delegations(), [])
    })
  })

  describe('a replica', () => {
    it('serves another provider’s manifest unchanged, and never signs one', async () => {
      const key = await keyOf('somebody else')
      const theirs = createManifestSigner({ providerKey: key, clock })
      const manifest = manifestOf(idOf(key), {
        issuedAt: clock.now(),
        expiresAt: clock.now() + MANIFEST_TTL_MS,
        revision: 7
      })
      const signed = await theirs.sign(manifest)
      const delegations = [await theirs.delegate(peerId('S'), clock.now() + 1_000)]
      const listing = await provider.serveReplica(signed, delegations, adapter)
      assert.deepEqual([listing.own, listing.signed.envelope], [false, signed.envelope])
      assert.deepEqual(offers[0]?.delegations, delegations)
      await clock.advance(MANIFEST_TTL_MS / 2)
      await provider.renew()
      assert.deepEqual(provider.listings()[0]?.signed.envelope, signed.envelope)
      await assert.rejects(provider.move('ticker', 'paused'), { code: 'api_not_found' })
      const other = Object.assign(new StubAdapter(), { protocol: 'SOAP' })
      await assert.rejects(provider.serveReplica(signed, delegations, other), { code: 'invalid_request' })
      await provider.remove(signed.id)
      assert.deepEqual(provider.listings(), [])
    })
  })
})
