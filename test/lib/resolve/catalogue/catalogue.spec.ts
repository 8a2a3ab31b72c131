import assert from 'node:assert/strict'
import { sleep } from '../../../../lib/base/clock.ts'
import { isSoukError } from '../../../../lib/base/errors.ts'
import {
  CATALOGUE_DISTRUST_MS,
  CATALOGUE_ENTRY_MS,
  CATALOGUE_EPOCH_CHARS_MAX,
  CATALOGUE_FRESH_MS,
  CATALOGUE_PER_PUBLISHER_MAX,
  CATALOGUE_PULL_MS,
  CATALOGUE_QUIET_MS,
  CATALOGUE_REFRESH_MS,
  CATALOGUE_SETTLE_MS,
  LOOKUP_MS,
  PAGE_MAX
} from '../../../../lib/base/limits/directory.ts'
import { CATALOGUE_REQUEST, CATALOGUE_REPLY } from '../../../../lib/resolve/catalogue/catalogue-codec.ts'
import type { ExchangeHandler } from '../../../../lib/interface/link.ts'
import { manualClock, settle } from '../../../helpers/manual-clock.ts'
import { DiscoveryBench, type DiscoveryNode } from './discovery-bench.ts'
import { keyOf, manifestOf, NOW, idOf, offerOf } from '../fixtures.ts'
import { createRecordAuthor } from '../../../../lib/resolve/directory/record-author.ts'
import { signManifest } from '../../../../lib/resolve/manifest/sign-manifest.ts'

/** One response that is large, or whose link is slow. */
const SLOW_MS = 10_000

describe('catalogue', () => {
  let bench: DiscoveryBench
  let self: DiscoveryNode
  let shop: DiscoveryNode
  const addressOf = ({ link }: DiscoveryNode) => ({ id: link.self, addresses: [] })

  beforeEach(async () => {
    bench = new DiscoveryBench(manualClock(NOW))
    self = await bench.add('self', { withGossip: false })
    shop = await bench.add('shop', { withGossip: false })
  })

  it('queries connected peers and those that the directory names', async () => {
    await shop.serve({ name: 'one' })
    bench.connect(self, shop)
    assert.deepEqual(await self.search(), ['one'])
    self.link.connected = []
    await shop.serve({ name: 'two' })
    self.named.push(addressOf(shop))
    await bench.clock.advance(CATALOGUE_FRESH_MS)
    assert.deepEqual(await self.search(), ['one', 'two'])
  })

  it('finds nothing by a text without letters and digits, and everything by a blank one', async () => {
    await self.serve({ name: 'one' })
    for (const text of ['%', '🙂', ' - ']) assert.deepEqual(await self.search({ text }), [], text)
    assert.deepEqual(await self.search({ text: ' ' }), ['one'])
  })

  it('queries the peers that the directory names for a tag', async () => {
    await shop.serve({ name: 'tagged', tags: ['Weather'] })
    self.tagged.push(addressOf(shop))
    assert.deepEqual(await self.search(), [])
    assert.deepEqual(await self.search({ tag: 'weather' }), ['tagged'])
    await self.search({ tag: 'WEATHER' })
    assert.equal(shop.link.askedBy.length, 2, 'the records, then the manifest')
  })

  it('queries again only when it is old, each peer once, and only for changes', async () => {
    await shop.serve()
    bench.connect(self, shop)
    self.named.push(addressOf(shop), addressOf(self))
    await Promise.all([self.search(), self.search()])
    assert.equal(shop.link.askedBy.length, 2, 'the records, then the manifest')
    await self.search()
    assert.equal(shop.link.askedBy.length, 2)
    await bench.clock.advance(CATALOGUE_FRESH_MS)
    await self.search()
    assert.equal(shop.link.askedBy.length, 3)
    assert.deepEqual(self.link.askedBy, [])
  })

  it('forwards listings, so they survive the peers they came from', async () => {
    const late = await bench.add('late', { withGossip: false })
    await shop.serve({ name: 'far' })
    bench.connect(self, shop)
    assert.deepEqual(await self.search(), ['far'])
    shop.link.mood = 'refuses'
    bench.connect(self, late)
    assert.deepEqual(await late.search(), ['far'])
  })

  it('contains what this node serves, without drafts, until it stops serving', async () => {
    self.local.push(await self.sign({ name: 'mine' }), await self.sign({ name: 'draft', state: 'draft' }))
    assert.deepEqual(await self.search(), ['mine'])
    self.local.splice(0, 1)
    assert.deepEqual(await self.search(), [])
  })

  it('reads all pages of a peer', async () => {
    const sellers = await Promise.all([1, 2, 3].map((i) => keyOf(`seller ${i}`)))
    for (let i = 0; i < 300; i++) {
      const key = sellers[i % sellers.length]
      assert.ok(key !== undefined)
      await shop.index.put([await recordPut(key, await signManifest(manifestOf(idOf(key), { name: `api-${i}` }), key))])
    }
    bench.connect(self, shop)
    const { listings, next } = await self.catalogue.search({}, new AbortController().signal)
    assert.equal(listings.length, PAGE_MAX)
    const names = new Set(listings.map(({ id }) => id))
    let cursor = next
    while (cursor !== undefined) {
      const page = await self.catalogue.search({ cursor }, new AbortController().signal)
      for (const { id } of page.listings) names.add(id)
      cursor = page.next
    }
    assert.equal(names.size, 300)
  })

  async function recordPut(key: Awaited<ReturnType<typeof keyOf>>, signed: Awaited<ReturnType<typeof signManifest>>) {
    const author = createRecordAuthor({ privateKey: key, clock: bench.clock, network: 'dev' })
    const offer = offerOf(signed)
    const bytes = await author.write(offer)
    return {
      signed,
      hash: Uint8Array.from(offer.manifestHash),
      record: { bytes, seq: BigInt(NOW) },
      liveUntil: NOW + 3_600_000,
      source: 'x',
      grade: { quality: 0.8 },
      now: NOW
    }
  }

  it('does not wait for silent peers, and stores their later responses', async () => {
    bench.connect(self, shop)
    shop.link.mood = 'hangs'
    self.catalogue.learn(await shop.sign({ name: 'known' }))
    const searching = self.search()
    await bench.clock.advance(CATALOGUE_REFRESH_MS)
    assert.deepEqual(await searching, ['known'])
  })

  it('returns the known listings of a provider whose nodes do not respond in time, or says that it knows none', async () => {
    self.owners.push(addressOf(shop), addressOf(shop))
    bench.connect(self, shop)
    shop.link.mood = 'hangs'
    const signed = await shop.sign({ name: 'known' })
    self.catalogue.learn(signed)
    const { provider } = signed.manifest
    const queries = [{ provider }, { provider, protocol: 'SOAP' }]
    const searching = Promise.allSettled(queries.map((query) => self.search(query)))
    await bench.clock.advance(LOOKUP_MS)
    const [known, none] = await searching
    assert.deepEqual(known, { status: 'fulfilled', value: ['known'] })
    assert.ok(none?.status === 'rejected' && isSoukError(none.reason) && none.reason.code === 'lookup_timeout')
  })

  it('reads a peer on a slow link to the end, for longer than a search waits', async () => {
    bench.connect(self, shop)
    await shop.serve({ name: 'slow' })
    const protocol = '/souk/catalogue/1.0.0'
    const { handler, requestBytesMax } = shop.link.handlerOf(protocol)!
    const slowly: ExchangeHandler = async (request, from) => {
      await sleep(bench.clock, SLOW_MS)
      return handler(request, from)
    }
    shop.link.serve(protocol, slowly, { requestBytesMax })
    const searching = self.search()
    await bench.clock.advance(CATALOGUE_REFRESH_MS)
    assert.deepEqual(await searching, [])
    // Records, and their manifests.
    await bench.clock.advance(2 * SLOW_MS)
    assert.equal((await self.index.heads([(await shop.sign({ name: 'slow' })).id])).length, 1)
  })

  it('stops with the caller', async () => {
    bench.connect(self, shop)
    shop.link.mood = 'hangs'
    const controller = new AbortController()
    const searching = self.catalogue.search({}, controller.signal)
    controller.abort(new Error('enough'))
    await assert.rejects(searching, /enough/)
  })

  it('queries some peers from time to time, and each new peer', async () => {
    await shop.serve({ name: 'first' })
    self.catalogue.start()
    bench.connect(self, shop)
    self.catalogue.peerJoined()
    self.catalogue.peerJoined()
    await bench.clock.advance(CATALOGUE_SETTLE_MS)
    assert.equal((await self.index.heads([(await shop.sign({ name: 'first' })).id])).length, 1)
    const second = await shop.serve({ name: 'second' })
    await bench.clock.advance(CATALOGUE_PULL_MS)
    assert.equal((await self.index.heads([second.id])).length, 1)
    self.catalogue.stop()
    await settle()
    assert.equal(bench.clock.pending, 0)
  })

  it('rejects an invalid limit, cursor, text, order or quality', async () => {
    const bad = [{ limit: 0 }, { limit: PAGE_MAX + 1 }, { limit: 1.5 }, { cursor: '!' }, { minQuality: 2 }]
    for (const query of [...bad, { text: 'x'.repeat(1_000) }, { sort: 'constructor' as 'new' }]) {
      await assert.rejects(self.search(query), { code: 'invalid_request' }, JSON.stringify(query))
    }
  })

  it('keeps the newest revision, and deletes expired and unconfirmed listings', async () => {
    self.catalogue.learn(await shop.sign({ name: 'ticker', revision: 2, price: 2n }))
    self.catalogue.learn(await shop.sign({ name: 'ticker', revision: 1, price: 1n }))
    self.catalogue.learn(await shop.sign({ name: 'brief', expiresAt: NOW + 1_000 }))
    assert.deepEqual(await self.search(), ['brief', 'ticker'])
    assert.deepEqual(await self.search({ maxPrice: 1n }), ['brief'].slice(1))
    await bench.clock.advance(1_000)
    assert.deepEqual(await self.search(), ['ticker'])
    await bench.clock.advance(CATALOGUE_ENTRY_MS)
    assert.deepEqual(await self.search(), [])
  })

  it('limits the listings of one publisher', async () => {
    for (let i = 0; i < CATALOGUE_PER_PUBLISHER_MAX + 10; i++) {
      self.catalogue.learn(await shop.sign({ name: `spam-${String(i).padStart(3, '0')}` }))
    }
    let count = 0
    let cursor: string | undefined
    do {
      const query = cursor === undefined ? {} : { cursor }
      const page = await self.catalogue.search(query, new AbortController().signal)
      count += page.listings.length
      cursor = page.next
    } while (cursor !== undefined)
    assert.equal(count, CATALOGUE_PER_PUBLISHER_MAX)
  })

  describe('with a malicious peer', () => {
    /** A peer that returns any response the test sets. */
    async function liar(answer: (request: ReturnType<typeof CATALOGUE_REQUEST.decode>) => Uint8Array) {
      const link = bench.links.join('liar')
      let asked = 0
      const handler: ExchangeHandler = async (bytes) => {
        asked++
        return answer(CATALOGUE_REQUEST.decode(bytes))
      }
      link.serve('/souk/catalogue/1.0.0', handler, { requestBytesMax: 4_096 })
      self.link.connected = [{ id: 'liar', addresses: [] }]
      return () => asked
    }
    const reply = { epoch: 'e', records: [], through: 0, hasMore: false, manifests: [] }

    it('stops querying a peer that always has more, or repeats itself', async () => {
      const asked = await liar(() => CATALOGUE_REPLY.encode({ ...reply, through: 1, hasMore: true }))
      assert.deepEqual(await self.search(), [])
      assert.ok(asked() <= 3, String(asked()))
      await bench.clock.advance(CATALOGUE_FRESH_MS)
      await self.search()
      assert.ok(asked() <= 3, String(asked()))
    })

    it('stops querying a peer whose epoch is too long to remember', async () => {
      const ofLength = (chars: number) => liar(() => CATALOGUE_REPLY.encode({ ...reply, epoch: 'e'.repeat(chars) }))
      const asked = await ofLength(CATALOGUE_EPOCH_CHARS_MAX + 1)
      await self.search()
      await bench.clock.advance(CATALOGUE_QUIET_MS)
      await self.search()
      assert.equal(asked(), 1)
      await bench.clock.advance(CATALOGUE_DISTRUST_MS)
      const askedAgain = await ofLength(CATALOGUE_EPOCH_CHARS_MAX)
      await self.search()
      await bench.clock.advance(CATALOGUE_QUIET_MS)
      await self.search()
      assert.equal(askedAgain(), 2)
    })

    it('rejects a manifest that was not requested, or that the record does not name', async () => {
      const signed = await shop.sign()
      const { record } = await recordPut(shop.key, signed)
      const other = await shop.sign({ price: 1n })
      const asked = await liar(({ wanted }) =>
        CATALOGUE_REPLY.encode(
          wanted.length === 0 ? { ...reply, records: [record.bytes] } : { ...reply, manifests: [other.envelope] }
        )
      )
      assert.deepEqual(await self.search(), [])
      assert.equal(asked(), 2)
    })

    it('rejects anything forged, malformed, or of another network', async () => {
      const signed = await shop.sign()
      const { record } = await recordPut(shop.key, signed)
      const forged = record.bytes.slice()
      forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1
      for (const records of [
        [forged],
        [new Uint8Array(40)],
        [(await (await bench.add('abroad', { network: 'base' })).serve()).envelope]
      ]) {
        await liar(() => CATALOGUE_REPLY.encode({ ...reply, records }))
        assert.deepEqual(await self.search(), [])
        await bench.clock.advance(3_600_000)
      }
    })

    it('refuses a peer that queries too often, too much, or from another network', async () => {
      await shop.serve()
      const exchange = shop.link.handlerOf('/souk/catalogue/1.0.0')
      assert.ok(exchange !== undefined)
      const first = { network: 'dev', epoch: '', after: 0, wanted: [] }
      await assert.rejects(exchange.handler(CATALOGUE_REQUEST.encode({ ...first, network: 'base' }), 'abroad'))
      const request = CATALOGUE_REQUEST.encode(first)
      const answers = await Promise.allSettled(Array.from({ length: 1_000 }, () => exchange.handler(request, 'greedy')))
      assert.ok(answers.filter(({ status }) => status === 'fulfilled').length < 300)
      await exchange.handler(request, 'modest')
    })
  })
})
