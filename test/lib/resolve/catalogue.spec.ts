import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import {
  CATALOGUE_ENTRY_MS,
  CATALOGUE_FRESH_MS,
  CATALOGUE_PER_PUBLISHER_MAX,
  CATALOGUE_REFRESH_MS,
  PAGE_MAX
} from '../../../lib/base/limits.ts'
import type { SearchQuery } from '../../../lib/interface/directory.ts'
import type { PeerAddress } from '../../../lib/interface/link.ts'
import type { Manifest, SignedManifest } from '../../../lib/interface/manifest.ts'
import { createCatalogue, type LearningCatalogue } from '../../../lib/resolve/catalogue.ts'
import { serveManifests } from '../../../lib/resolve/manifest-exchange.ts'
import { signManifest } from '../../../lib/resolve/sign-manifest.ts'
import { manualClock, settle } from '../../helpers/manual-clock.ts'
import { emptyDirectory, idOf, keyOf, LinkNetwork, manifestOf, NOW, type StubLink } from './fixtures.ts'

describe('catalogue', () => {
  let clock: ReturnType<typeof manualClock>
  let seller: Ed25519PrivateKey
  let shop: StubLink
  let shown: SignedManifest[]
  let self: StubLink
  let local: SignedManifest[]
  let named: PeerAddress[]
  let catalogue: LearningCatalogue

  beforeEach(async () => {
    clock = manualClock(NOW)
    seller = await keyOf('seller')
    const network = new LinkNetwork()
    shop = network.join(idOf(seller))
    self = network.join('self')
    shown = []
    local = []
    named = []
    serveManifests({ link: shop, local: () => shown })
    async function* catalogues() {
      yield* named
    }
    const directory = emptyDirectory({ catalogues })
    catalogue = createCatalogue({ directory, link: self, local: () => local, clock })
  })

  const peer = () => ({ id: shop.self, addresses: [] })
  const sign = (changes: Partial<Manifest> = {}, key = seller) => signManifest(manifestOf(idOf(key), changes), key)
  const search = (query: SearchQuery = {}) => catalogue.search(query, new AbortController().signal)
  const names = async (query?: SearchQuery) => (await search(query)).listings.map(({ manifest }) => manifest.name)

  async function learnAll(changes: Array<Partial<Manifest>>): Promise<void> {
    for (const change of changes) catalogue.learn(await sign(change))
  }

  it('asks connected peers and those whom the directory names', async () => {
    shown = [await sign({ name: 'one' })]
    self.connected = [peer()]
    assert.deepEqual(await names(), ['one'])
    self.connected = []
    shown.push(await sign({ name: 'two' }))
    named = [peer()]
    await clock.advance(CATALOGUE_FRESH_MS)
    assert.deepEqual(await names(), ['one', 'two'])
  })

  it('asks again only when what it knows is old, and each peer once', async () => {
    self.connected = [peer()]
    named = [peer(), { id: 'self', addresses: [] }]
    await Promise.all([search(), search()])
    assert.equal(shop.askedBy.length, 1)
    await search()
    assert.equal(shop.askedBy.length, 1)
    await clock.advance(CATALOGUE_FRESH_MS)
    await search()
    assert.equal(shop.askedBy.length, 2)
    assert.deepEqual(self.askedBy, [])
  })

  it('holds what this node serves itself, drafts left out', async () => {
    local = [await sign({ name: 'mine' }), await sign({ name: 'draft', state: 'draft' })]
    assert.deepEqual(await names(), ['mine'])
  })

  it('takes all pages of a peer', async () => {
    shown = await Promise.all(Array.from({ length: PAGE_MAX + 5 }, (_, i) => sign({ name: `api-${1000 + i}` })))
    self.connected = [peer()]
    const first = await search()
    assert.equal(first.listings.length, PAGE_MAX)
    assert.ok(first.next !== undefined)
    const second = await search({ cursor: first.next })
    assert.equal(second.listings.length, 5)
    assert.equal(second.next, undefined)
  })

  it('does not wait for peers that hang, and takes what they say later', async () => {
    shown = [await sign()]
    self.connected = [peer()]
    shop.mood = 'hangs'
    catalogue.learn(await sign({ name: 'known' }))
    const searching = names()
    await clock.advance(CATALOGUE_REFRESH_MS)
    assert.deepEqual(await searching, ['known'])
  })

  it('leaves with the caller', async () => {
    self.connected = [peer()]
    shop.mood = 'hangs'
    const controller = new AbortController()
    const searching = catalogue.search({}, controller.signal)
    controller.abort(new Error('enough'))
    await assert.rejects(searching, /enough/)
  })

  it('shows what can be called: no pause, no end, no draft', async () => {
    const states = ['draft', 'published', 'paused', 'deprecated', 'retired'] as const
    await learnAll(states.map((state) => ({ name: state, state })))
    assert.deepEqual(await names(), ['deprecated', 'published'])
  })

  it('finds by words, protocol, tag and price', async () => {
    await learnAll([
      { name: 'ticker', description: 'Market candles', tags: ['Market'], price: 100n },
      { name: 'bank', description: 'Account balance', protocol: 'SOAP', tags: ['finance'], price: 5_000n },
      { name: 'users', description: 'Market of users', protocol: 'GraphQL', tags: [], price: 0n }
    ])
    assert.deepEqual(await names({ text: 'MARKET' }), ['ticker', 'users'])
    assert.deepEqual(await names({ text: ' candles  market ' }), ['ticker'])
    assert.deepEqual(await names({ text: 'market nothing' }), [])
    assert.deepEqual(await names({ protocol: 'soap' }), ['bank'])
    assert.deepEqual(await names({ tag: 'market' }), ['ticker'])
    assert.deepEqual(await names({ maxPrice: 100n }), ['ticker', 'users'])
    assert.deepEqual(await names({ text: 'market', maxPrice: 0n }), ['users'])
  })

  it('pages through without showing anything twice, though listings come and go', async () => {
    await learnAll(['b', 'd', 'f', 'h'].map((name) => ({ name })))
    const first = await search({ limit: 2 })
    assert.deepEqual(
      first.listings.map(({ manifest }) => manifest.name),
      ['b', 'd']
    )
    await learnAll([{ name: 'a' }, { name: 'e' }, { name: 'd', revision: 2, state: 'retired' }])
    assert.ok(first.next !== undefined)
    const second = await search({ limit: 2, cursor: first.next })
    assert.deepEqual(
      second.listings.map(({ manifest }) => manifest.name),
      ['e', 'f']
    )
  })

  it('refuses a limit, a cursor or a text that is none', async () => {
    const bad = [{ limit: 0 }, { limit: PAGE_MAX + 1 }, { limit: 1.5 }, { cursor: '!' }, { cursor: 'YWJj_' }]
    for (const query of [...bad, { text: 'x'.repeat(1_000) }]) {
      await assert.rejects(search(query), { code: 'invalid_request' }, JSON.stringify(query))
    }
  })

  it('keeps the newest revision, and nothing of what a peer stopped showing', async () => {
    const [old, current] = [await sign({ revision: 1, price: 1n }), await sign({ revision: 2, price: 2n })]
    catalogue.learn(current)
    catalogue.learn(old)
    assert.equal((await search()).listings[0]?.manifest.price, 2n)
    self.connected = [peer()]
    shown = [current, await sign({ name: 'other' })]
    await clock.advance(CATALOGUE_FRESH_MS)
    assert.deepEqual(await names(), ['other', 'ticker'])
    shown = [current]
    await clock.advance(CATALOGUE_FRESH_MS)
    assert.deepEqual(await names(), ['ticker'])
  })

  it('forgets what has expired or was not seen for long', async () => {
    catalogue.learn(await sign({ name: 'brief', expiresAt: NOW + 1_000 }))
    catalogue.learn(await sign({ name: 'long' }))
    await clock.advance(1_000)
    assert.deepEqual(await names(), ['long'])
    await clock.advance(CATALOGUE_ENTRY_MS)
    assert.deepEqual(await names(), [])
  })

  it('gives no publisher more than its share', async () => {
    const crowd = Array.from({ length: CATALOGUE_PER_PUBLISHER_MAX + 10 }, (_, i) => ({ name: `spam-${i}` }))
    await learnAll(crowd)
    const honest = await keyOf('honest')
    catalogue.learn(await sign({ name: 'useful' }, honest))
    let count = 0
    let cursor: string | undefined
    do {
      const { listings, next } = await search(cursor === undefined ? {} : { cursor })
      count += listings.length
      cursor = next
    } while (cursor !== undefined)
    assert.equal(count, CATALOGUE_PER_PUBLISHER_MAX + 1)
    await settle()
  })
})
