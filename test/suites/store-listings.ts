import assert from 'node:assert/strict'
import { apiId } from '../../lib/base/api-name.ts'
import { sha256, utf8 } from '../../lib/base/bytes.ts'
import { searchTerms } from '../../lib/base/search-terms.ts'
import { toHex } from '../../lib/base/hex.ts'
import type { ListingPut, ListingQuery, OperationBounds, OperationsPut } from '../../lib/interface/listing-index.ts'
import type { Manifest } from '../../lib/interface/manifest.ts'
import type { Store } from '../../lib/interface/store.ts'
import { peerId } from '../helpers/call-record.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000
const PROVIDER = peerId('P')

interface Changes extends Partial<Manifest> {
  readonly put?: Partial<ListingPut>
}

/** The input of the index, which checks no signature. */
function listing({ put = {}, ...changes }: Changes = {}): ListingPut {
  const manifest: Manifest = {
    name: 'ticker',
    provider: PROVIDER,
    protocol: 'REST',
    description: '',
    tags: [],
    price: 1_000n,
    currency: 'USDC',
    idempotent: false,
    api: { operations: [] },
    state: 'published',
    revision: 1,
    issuedAt: NOW,
    expiresAt: NOW + 24 * HOUR,
    ...changes
  }
  const json = JSON.stringify(manifest, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  const envelope = Uint8Array.from(utf8(json))
  return {
    signed: { id: apiId(manifest.name, manifest.provider), manifest, envelope },
    hash: Uint8Array.from(sha256(envelope)),
    liveUntil: NOW + HOUR,
    source: peerId('S'),
    grade: { quality: 0.8 },
    now: NOW,
    ...put
  }
}

const record = (seq: bigint, text = `record ${seq}`) => ({ record: { bytes: Uint8Array.from(utf8(text)), seq } })
const idOf = (name: string) => apiId(name, PROVIDER)

export function listingCases(current: () => Store, reopen: () => Promise<Store>): void {
  const put = (...listings: ListingPut[]) => current().listings.put(listings)
  const page = (query: Partial<ListingQuery> & { text?: string } = {}) => {
    const { text = '', ...rest } = query
    return current().listings.search({ terms: searchTerms(text), sort: 'relevance', limit: 100, now: NOW, ...rest })
  }
  const found = async (query?: Parameters<typeof page>[0]) =>
    (await page(query)).listings.map(({ id }) => id.slice(0, id.indexOf('@')))

  it('returns a listing as stored, even after reopening', async () => {
    const one = listing({ put: record(7n) })
    assert.deepEqual(await put(one), ['new'])
    const store = await reopen()
    const kept = await store.listings.get(one.signed.id)
    assert.deepEqual(kept, {
      id: one.signed.id,
      hash: one.hash,
      revision: 1,
      seq: 7n,
      liveUntil: NOW + HOUR,
      firstSeenAt: NOW,
      source: peerId('S'),
      envelope: one.signed.envelope
    })
    assert.deepEqual(await store.listings.envelope(one.hash), one.signed.envelope)
    assert.deepEqual(await found({ text: 'ticker' }), ['ticker'])
    assert.deepEqual(
      (await store.listings.heads([one.signed.id, idOf('other')])).map(({ id }) => id),
      [one.signed.id]
    )
    assert.equal(await store.listings.get(idOf('other')), undefined)
    assert.equal(await store.listings.envelope(sha256(utf8('?'))), undefined)
  })

  it('names the APIs of one name that can be called, sorted by id, as many as asked for', async () => {
    const [first, second, third] = [peerId('A'), peerId('B'), peerId('C')]
    await put(
      listing({ provider: second }),
      listing({ provider: first }),
      listing({ provider: third, state: 'retired' }),
      ...['ticker-2', 'tick', 'tickera'].map((name) => listing({ name }))
    )
    const store = await reopen()
    const named = (name: string, limit = 10, now = NOW) => store.listings.named(name, { limit, now })
    const ids = [first, second].map((provider) => apiId('ticker', provider)).sort()
    assert.deepEqual(await named('ticker'), ids)
    assert.deepEqual(await named('ticker', 1), ids.slice(0, 1))
    assert.deepEqual(await named('ticker', 10, NOW + HOUR), [])
    assert.deepEqual(await named('t'), [])
  })

  it('finds prefixes of words in name, tags, description and operations, without regard to case or accents', async () => {
    const operations = [{ name: 'getQuote' }]
    await put(
      listing({
        name: 'bb-sse-ticker',
        description: 'Kerzen für Märkte; candles\n日本語',
        tags: ['Market Data'],
        api: { operations }
      }),
      listing({ name: 'other' })
    )
    for (const text of [
      'TICKER',
      'bb sse',
      'bb-sse',
      'marke',
      'Märkte',
      'markt',
      'getquote',
      'quote',
      'cand kerz',
      '日本'
    ]) {
      assert.deepEqual(await found({ text }), ['bb-sse-ticker'], text)
    }
    for (const text of ['icker', 'ticker nothing', 'xyz']) assert.deepEqual(await found({ text }), [], text)
    assert.deepEqual(await found({ text: '"; -- *' }), ['bb-sse-ticker', 'other'], 'a text without words matches all')
    for (const text of ['a" OR "b', "ticker':*", 'NOT ticker', 'name:ticker', '\\', 'ticker & !x', '(ticker'])
      await found({ text })
  })

  const ROOT = toHex(sha256(utf8('root')))
  const describe = (
    { signed, hash }: ListingPut,
    names: readonly (readonly [name: string, summary?: string])[],
    changes: Partial<OperationsPut> = {},
    bounds?: OperationBounds
  ) => {
    const operations = names.map(([name, summary]) => ({ name, ...(summary === undefined ? {} : { summary }) }))
    const part = { id: signed.id, hash, root: ROOT, from: 0, operations, isLast: true, ...changes }
    return current().listings.describe(part, bounds)
  }
  const matches = async (text: string) =>
    Object.fromEntries(
      (await page({ text })).listings.map(({ id, matching }) => [
        id.slice(0, id.indexOf('@')),
        matching.map(({ name }) => name)
      ])
    )

  it('finds operations that have all words, after names and before the rest', async () => {
    const shop = listing({ name: 'shop' })
    const words = listing({ name: 'words', description: 'create an invoice' })
    const named = listing({ name: 'create-invoice' })
    const apart = listing({ name: 'apart' })
    await put(words, shop, named, apart)
    await describe(shop, [
      ['GetInvoices', 'List all invoices'],
      ['PostInvoiceLines', 'Create the lines of an invoice that was drafted'],
      ['PostInvoices', 'Create an invoice'],
      ['crème\u0000\ud800 brûlée', 'Ünïcode']
    ])
    await describe(apart, [['create'], ['invoice']])
    await describe(named, [['list']])
    assert.deepEqual(await found({ text: 'create invoice' }), ['create-invoice', 'shop', 'words'])
    assert.deepEqual(await matches('create invoice'), {
      'create-invoice': [],
      shop: ['PostInvoices', 'PostInvoiceLines'],
      words: []
    })
    assert.deepEqual(await matches('shop create invoice'), { shop: ['PostInvoices', 'PostInvoiceLines'] })
    assert.deepEqual(await matches('shop'), { shop: [] }, 'the name alone matches no operation')
    assert.deepEqual(await matches('creme unicode'), { shop: ['crème\u0000\ud800 brûlée'] })
    const { listings } = await page({ text: 'post invoices' })
    assert.deepEqual(listings[0]?.matching, [{ name: 'PostInvoices', summary: 'Create an invoice' }])
    for (const text of ['a" OR "b', "ticker':*A", 'own : x', 'NOT create', 'create & !x']) await matches(text)
  })

  it('knows which listings have no operations yet, also after their manifest changed', async () => {
    const { listings } = current()
    const one = listing({ put: { keepUntil: NOW + HOUR } })
    await put(one)
    assert.deepEqual(await listings.undescribed(NOW), [one.signed.id])
    assert.equal(await describe(one, [['aa']], { isLast: false }), true)
    assert.deepEqual(await listings.undescribed(NOW), [one.signed.id], 'a part is missing')
    assert.equal(await describe(one, [['xx']], { from: 7 }), false, 'a gap')
    assert.equal(await describe(one, [['bb']], { from: 1 }), false)
    assert.deepEqual(await listings.undescribed(NOW), [])
    assert.deepEqual(await matches('bb'), { ticker: ['bb'] })
    const next = listing({ revision: 2 })
    await put(next)
    assert.deepEqual(await listings.undescribed(NOW), [one.signed.id])
    assert.equal(await describe(one, [['late']]), false, 'of the earlier manifest')
    assert.equal(await listings.hasOperations(one.signed.id, next.hash, toHex(sha256(utf8('other')))), false)
    assert.equal(await listings.hasOperations(one.signed.id, next.hash, ROOT), true)
    assert.deepEqual(await listings.undescribed(NOW), [])
    assert.equal(await describe(next, [['cc']]), false)
    assert.deepEqual([await found({ text: 'bb' }), await found({ text: 'cc' })], [[], ['ticker']])
    await listings.forget(one.signed.id)
    await put(next)
    assert.deepEqual(await found({ text: 'cc' }), ['ticker'], 'it came back before the next prune')
    await listings.forget(one.signed.id)
    await listings.prune(NOW)
    await put(next)
    assert.deepEqual(await found({ text: 'cc' }), [])
  })

  it('bounds operations by publisher and in all, and removes those of the peer that sent most', async () => {
    const by = (name: string, source: string, provider = PROVIDER) =>
      listing({ name, provider, put: { source: peerId(source) } })
    const bounds = { operationsMax: 6, perPublisherMax: 4 }
    const many = ['a', 'b', 'c'].map((word) => [`${word}op`] as const)
    const own = { ...by('mine', 'S') }
    const { source: _, ...mine } = own
    const [first, second, other] = [by('first', 'M'), by('second', 'M'), by('other', 'N', peerId('Q'))]
    await put(mine, first, second, other)
    assert.equal(await describe(first, many, { isLast: false }, bounds), true)
    assert.equal(await describe(second, many, { isLast: false }, bounds), false, 'over the share of its publisher')
    assert.deepEqual(await matches('bop'), { first: ['bop'] })
    assert.deepEqual(await matches('aop'), { first: ['aop'], second: ['aop'] })
    await describe(other, many, {}, bounds)
    assert.deepEqual(await matches('bop'), { other: ['bop'] }, 'the oldest of the peer that sent most')
    await describe(mine, [...many, ['dop'], ['eop']], {}, bounds)
    assert.deepEqual(Object.keys(await matches('bop')), ['mine'], 'an own listing has no share and stays')
    assert.deepEqual(await current().listings.undescribed(NOW), [], 'a removed one is not fetched again')
  })

  it('filters by provider', async () => {
    await put(listing({ name: 'a' }), listing({ name: 'b', provider: peerId('Q') }))
    assert.deepEqual(await found({ provider: PROVIDER }), ['a'])
    assert.deepEqual(await found({ provider: peerId('Q'), text: 'b' }), ['b'])
  })

  it('filters by protocol, tag, price and quality', async () => {
    await put(
      listing({ name: 'a', protocol: 'SOAP', tags: ['Gov'], price: 5n, put: { grade: { quality: 0.9 } } }),
      listing({ name: 'b', tags: ['gov', 'demo'], price: 6n, put: { grade: { quality: 0.5 } } }),
      listing({ name: 'c', price: 10n ** 15n, put: { grade: { quality: 0.1 } } })
    )
    assert.deepEqual(await found({ protocol: 'soap' }), ['a'])
    assert.deepEqual(await found({ tag: 'GOV' }), ['a', 'b'])
    assert.deepEqual(await found({ tag: 'go' }), [])
    assert.deepEqual(await found({ maxPrice: 5n }), ['a'])
    assert.deepEqual(await found({ maxPrice: 10n ** 15n }), ['a', 'b', 'c'])
    assert.deepEqual(await found({ minQuality: 0.5 }), ['a', 'b'])
    assert.deepEqual(await found({ tag: 'demo', maxPrice: 6n, protocol: 'REST', text: 'b' }), ['b'])
  })

  it('sorts by relevance, quality, price, latency and age', async () => {
    await put(
      listing({ name: 'said', description: 'about weather', price: 1n, put: { grade: { quality: 1 }, now: NOW - 3 } }),
      listing({
        name: 'tagged',
        tags: ['weather'],
        price: 3n,
        put: { grade: { quality: 0.2, latencyMs: 90 }, now: NOW - 2 }
      }),
      listing({ name: 'weather', price: 2n, put: { grade: { quality: 0.1, latencyMs: 80.6 }, now: NOW - 1 } }),
      listing({ name: 'weather-two', price: 2n, put: { grade: { quality: 0.1 }, now: NOW - 4 } })
    )
    const text = 'weather'
    assert.deepEqual(await found({ text }), ['weather-two', 'weather', 'tagged', 'said'])
    assert.deepEqual(await found(), ['said', 'tagged', 'weather-two', 'weather'])
    assert.deepEqual(await found({ text, sort: 'quality' }), ['said', 'tagged', 'weather-two', 'weather'])
    assert.deepEqual(await found({ text, sort: 'price' }), ['said', 'weather-two', 'weather', 'tagged'])
    assert.deepEqual(await found({ text, sort: 'latency' }), ['weather', 'tagged', 'said', 'weather-two'])
    assert.deepEqual(await found({ text, sort: 'new' }), ['weather', 'tagged', 'said', 'weather-two'])
    await current().listings.grade([
      { id: idOf('said'), quality: 0, latencyMs: 1 },
      { id: idOf('unknown'), quality: 1 }
    ])
    assert.deepEqual(await found({ sort: 'latency', limit: 1 }), ['said'])
    assert.deepEqual((await found({ sort: 'quality' })).at(-1), 'said')
  })

  it('pages through every order without repeats, while listings come and go', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `api-${String(i).padStart(2, '0')}`)
    const puts = names.map((name, i) =>
      listing({ name, price: BigInt(i % 3), put: { grade: { quality: (i % 4) / 4 } } })
    )
    await put(...puts)
    for (const sort of ['relevance', 'quality', 'price', 'latency', 'new'] as const) {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const { listings, next } = await page({
          sort,
          limit: 4,
          text: 'api',
          ...(cursor === undefined ? {} : { cursor })
        })
        seen.push(...listings.map(({ id }) => id))
        cursor = next
        await current().listings.forget(idOf('api-24'))
      } while (cursor !== undefined)
      assert.equal(new Set(seen).size, seen.length, sort)
      assert.ok(seen.length >= 24, sort)
    }
    const { next = '' } = await page({ sort: 'price', limit: 1 })
    await assert.rejects(page({ sort: 'new', cursor: next }), { code: 'invalid_request' })
    for (const cursor of ['!', 'YWJj', Buffer.from('[0,0,0,"x"]').toString('base64url'), next.slice(1)]) {
      await assert.rejects(page({ cursor }), { code: 'invalid_request' }, cursor)
    }
  })

  it('shows only live, callable listings', async () => {
    await put(
      listing({ name: 'published' }),
      listing({ name: 'deprecated', state: 'deprecated' }),
      listing({ name: 'paused', state: 'paused' }),
      listing({ name: 'retired', state: 'retired' }),
      listing({ name: 'over', put: { liveUntil: NOW } })
    )
    assert.deepEqual(await found(), ['deprecated', 'published'])
    assert.deepEqual(await found({ now: NOW + HOUR }), [])
  })

  it('never accepts an older revision, an older record, or another with the same number', async () => {
    const second = listing({ revision: 2, price: 2n, put: record(20n) })
    assert.deepEqual(await put(second), ['new'])
    assert.deepEqual(await put(listing({ revision: 1, put: record(30n) })), ['refused'])
    assert.deepEqual(await put(listing({ revision: 2, price: 3n, put: record(31n) })), ['refused'])
    assert.deepEqual(await put(listing({ revision: 3, put: record(19n) })), ['refused'])
    assert.deepEqual(await put(second), ['known'])
    assert.deepEqual(await put({ ...second, ...record(19n) }), ['refused'])
    assert.deepEqual(await put({ ...second, ...record(21n), liveUntil: NOW + 2 * HOUR }), ['refreshed'])
    assert.equal((await current().listings.get(second.signed.id))?.liveUntil, NOW + 2 * HOUR)
    const third = listing({ revision: 2, issuedAt: NOW + 1, put: record(22n) })
    assert.deepEqual(await put(third), ['changed'])
    assert.deepEqual((await current().listings.get(second.signed.id))?.hash, third.hash)
    assert.equal((await current().listings.get(second.signed.id))?.firstSeenAt, NOW)
  })

  it('accepts a record that ends a listing, and keeps it for peers', async () => {
    const live = listing({ put: record(1n) })
    await put(live)
    assert.deepEqual(await put({ ...live, ...record(2n), liveUntil: NOW, keepUntil: NOW + HOUR }), ['refreshed'])
    assert.deepEqual(await found(), [])
    assert.deepEqual(await put({ ...live, ...record(1n) }), ['refused'])
    assert.equal(await current().listings.prune(NOW), 0)
    assert.equal((await current().listings.changes(0, { limit: 10, bytesMax: 1_000 })).records.length, 1)
    assert.equal(await current().listings.prune(NOW + HOUR), 1)
    assert.equal(await current().listings.get(live.signed.id), undefined)
  })

  it('lists changes in order, each listing once, in pages', async () => {
    const tell = async (after: number, limit = 10, bytesMax = 1_000) => {
      const { records, ...rest } = await current().listings.changes(after, { limit, bytesMax })
      return { ...rest, records: records.map((bytes) => Buffer.from(bytes).toString()) }
    }
    const named = (name: string, seq: bigint) => listing({ name, put: record(seq, `${name} ${seq}`) })
    await put(named('a', 1n), named('b', 1n), listing({ name: 'unannounced' }), named('c', 1n))
    const first = await tell(0, 2)
    assert.deepEqual(first.records, ['a 1', 'b 1'])
    assert.ok(first.hasMore)
    const rest = await tell(first.through)
    assert.deepEqual([rest.records, rest.hasMore], [['c 1'], false])
    assert.deepEqual(await tell(rest.through), { ...rest, records: [] })
    await put(named('a', 2n), named('a', 3n), named('b', 1n))
    assert.deepEqual((await tell(rest.through)).records, ['a 3'])
    assert.deepEqual((await tell(0, 10, 7)).records, ['b 1', 'c 1'])
    const { epoch } = await tell(0)
    assert.ok(epoch.length >= 16)
    const { through } = await tell(0)
    await reopen()
    assert.equal((await tell(0)).epoch, epoch)
    assert.deepEqual((await tell(through)).records, [])
  })

  it('limits each publisher to its share, except its own node', async () => {
    const bounds = { listingsMax: 100, bytesMax: 1e9, perPublisherMax: 2 }
    const crowd = ['a', 'b', 'c'].map((name) => listing({ name }))
    assert.deepEqual(await current().listings.put(crowd, bounds), ['new', 'new', 'refused'])
    assert.deepEqual(await current().listings.put([listing({ name: 'a', revision: 2 })], bounds), ['changed'])
    const { source: _, ...own } = listing({ name: 'own' })
    assert.deepEqual(await current().listings.put([own], bounds), ['new'])
    const other = listing({ name: 'other', provider: peerId('Q') })
    assert.deepEqual(await current().listings.put([other], bounds), ['new'])
  })

  it('is limited: it evicts from the peer with the most listings, called ones last', async () => {
    const bounds = { listingsMax: 4, bytesMax: 1e9, perPublisherMax: 100 }
    const { source: _, ...own } = listing({ name: 'own' })
    const flood = Array.from({ length: 10 }, (_, i) =>
      listing({ name: `flood-${i}`, provider: peerId('F'), put: { source: peerId('F'), now: NOW + i } })
    )
    const called = listing({ name: 'called', put: { source: peerId('F'), grade: { quality: 0.1, latencyMs: 5 } } })
    await current().listings.put([own, listing({ name: 'honest' }), called, ...flood], bounds)
    assert.deepEqual((await found({ sort: 'price' })).sort(), ['called', 'flood-9', 'honest', 'own'])
    const one = listing({ name: 'last' })
    await current().listings.put([one], { ...bounds, bytesMax: one.signed.envelope.length * 2 + 50 })
    assert.ok((await found()).includes('own'))
    assert.ok((await found()).length <= 2)
  })

  it('accepts many concurrent puts', async () => {
    const crowd = Array.from({ length: 300 }, (_, i) => listing({ name: `api-${i}`, provider: peerId(String(i % 5)) }))
    await Promise.all(crowd.map((each) => current().listings.put([each])))
    assert.equal((await page({ limit: 1_000 })).listings.length, 300)
    assert.equal(await current().listings.prune(NOW + HOUR), 300)
    assert.deepEqual(await found(), [])
    assert.deepEqual(await found({ text: 'api' }), [])
  })
}
