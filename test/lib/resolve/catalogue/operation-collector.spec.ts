import assert from 'node:assert/strict'
import { utf8 } from '../../../../lib/base/bytes.ts'
import { SoukError } from '../../../../lib/base/errors.ts'
import { toHex } from '../../../../lib/base/hex.ts'
import {
  DESCRIPTION_PAGE_BYTES_MAX,
  DESCRIPTIONS_REQUEST_BYTES_MAX,
  OPERATIONS_PER_PAGE
} from '../../../../lib/base/limits/descriptions.ts'
import { OPERATIONS_FETCH_PAUSE_MS, OPERATIONS_RETRY_MS } from '../../../../lib/base/limits/directory.ts'
import type { ExchangeHandler } from '../../../../lib/interface/link.ts'
import { DESCRIPTION_PROTOCOL } from '../../../../lib/describe/description-exchange.ts'
import { DESCRIPTION_REPLY } from '../../../../lib/describe/description-codec.ts'
import { merkleTree } from '../../../../lib/describe/merkle.ts'
import type { Operation } from '../../../../lib/interface/adapter.ts'
import { apiId } from '../../../../lib/base/api-name.ts'
import { manualClock, settle } from '../../../helpers/manual-clock.ts'
import { DiscoveryBench, type DiscoveryNode } from './discovery-bench.ts'
import { NOW } from '../fixtures.ts'

const { signal } = new AbortController()

/** A description that is too large for a manifest. */
const MANY: readonly Operation[] = Array.from({ length: 350 }, (_, at) => ({
  name: at === 345 ? 'PostInvoices' : `GetThing${at}`,
  description: at === 345 ? 'Create an invoice\n\nAt length.' : `Returns thing ${at}. ${'x'.repeat(80)}`
}))

describe('operations of listings', () => {
  let bench: DiscoveryBench
  let shop: DiscoveryNode
  let consumer: DiscoveryNode
  let serves: ExchangeHandler

  beforeEach(async () => {
    bench = new DiscoveryBench(manualClock(NOW))
    shop = await bench.add('shop')
    consumer = await bench.add('consumer')
    bench.connect(shop, consumer)
    asked = 0
    const served = shop.link.handlerOf(DESCRIPTION_PROTOCOL)
    assert.ok(served)
    serves = served.handler
    answers(serves)
    for (const node of [shop, consumer]) node.start()
  })
  afterEach(() => {
    for (const node of [shop, consumer]) node.stop()
  })

  const serveLarge = async (name: string, operations = MANY, revision = 1) => {
    const api = await shop.shelf.publish(apiId(name, shop.link.self), { operations })
    assert.ok(api.described)
    return shop.serve({ name, revision, api, description: '' })
  }
  const pass = async (ms = 2_000) => {
    for (let left = ms; left > 0; left -= 50) {
      await settle()
      await bench.clock.advance(50)
    }
    await settle()
  }
  const matching = async (text: string, node = consumer) => {
    const { listings } = await node.catalogue.search({ text }, signal)
    return listings.map((each) => [each.manifest.name, ...each.matching.map(({ name }) => name)])
  }
  /** Requests for documents that reached the shop. */
  let asked: number
  /** Replaces the shop's answers to them. */
  const answers = (handler: ExchangeHandler) =>
    shop.link.serve(
      DESCRIPTION_PROTOCOL,
      (bytes, peer) => {
        asked++
        return handler(bytes, peer)
      },
      { requestBytesMax: DESCRIPTIONS_REQUEST_BYTES_MAX }
    )

  it('are found at another node soon after the listing arrived, and fetched once', async () => {
    await serveLarge('bank')
    await pass()
    assert.deepEqual(await matching('create invoice'), [['bank', 'PostInvoices']])
    assert.deepEqual(await matching('create invoice', shop), [['bank', 'PostInvoices']], 'the own one')
    assert.equal(asked, 1)
    await serveLarge('bank')
    await shop.serve({
      name: 'small',
      description: '',
      api: { operations: [{ name: 'makeBill', description: 'Bills.' }] }
    })
    await pass()
    assert.equal(asked, 1, 'the same description again, and one in the manifest')
    assert.deepEqual(await matching('make bill'), [['small', 'makeBill']])
  })

  it('are found by the first search of a node that learns of the listing in it', async () => {
    await serveLarge('bank')
    const late = await bench.add('late', { withGossip: false })
    late.start()
    bench.connect(late, shop)
    const search = matching('create invoice', late)
    await pass()
    assert.deepEqual(await search, [['bank', 'PostInvoices']])
    late.stop()
  })

  it('are fetched with pauses, and not on behalf of a search', async () => {
    const count = 12
    for (let at = 0; at < count; at++) await serveLarge(`bank${at}`, [...MANY, { name: `own${at}` }])
    await settle()
    assert.ok(asked <= 4, `asked ${asked} times at once`)
    await pass(OPERATIONS_FETCH_PAUSE_MS)
    assert.ok(asked <= 8, `asked ${asked} times in half a second`)
    await pass(count * OPERATIONS_FETCH_PAUSE_MS)
    assert.equal(asked, count)
    assert.equal((await matching('create invoice')).length, count)
  })

  it('of a revision that arrives while those of the last one are fetched are indexed afterwards', async () => {
    const first = Promise.withResolvers<Uint8Array>()
    answers(() => first.promise)
    await serveLarge('bank')
    await settle()
    assert.equal(asked, 1)
    answers(serves)
    await serveLarge('bank', [...MANY, { name: 'SettleInvoices' }], 2)
    await pass()
    assert.equal(asked, 1, 'only one worker for a listing')
    first.reject(new SoukError('overloaded'))
    await pass(2 * OPERATIONS_RETRY_MS)
    assert.deepEqual(await matching('settle'), [['bank', 'SettleInvoices']])
  })

  it('of a provider without an answer are fetched later', async () => {
    answers(() => Promise.reject(new SoukError('overloaded')))
    await serveLarge('bank')
    await pass()
    assert.deepEqual(await matching('create invoice'), [])
    answers(serves)
    await pass(2 * OPERATIONS_RETRY_MS)
    assert.deepEqual(await matching('create invoice'), [['bank', 'PostInvoices']])
  })

  const json = (value: unknown) => utf8(JSON.stringify(value))
  const page = (entry: unknown) => json({ operations: Array.from({ length: OPERATIONS_PER_PAGE }, () => entry) })
  const hostile: Readonly<Record<string, Uint8Array>> = {
    'is no JSON': utf8('{'),
    'has too few entries': json({ operations: [{ name: 'invoice' }] }),
    'has names with control characters': page({ name: 'invoice\u001b[2J' }),
    'has long summaries': page({ name: 'invoice', summary: 'x'.repeat(10_000) }),
    'has nested values': page({ name: { toString: 'invoice' } }),
    'is too large': Buffer.concat([page({ name: 'invoice' }), Buffer.alloc(DESCRIPTION_PAGE_BYTES_MAX, ' ')])
  }
  for (const [what, document] of Object.entries(hostile)) {
    it(`of a page that ${what} are not indexed, and its publisher is not asked again soon`, async () => {
      const tree = merkleTree([document, json({ name: 'invoice', parts: { input: [], output: [] } })])
      const described = { root: toHex(tree.root), documents: 101, operations: 100, sdlParts: 0 }
      answers(async () => DESCRIPTION_REPLY.encode({ documents: [{ leaf: 0, document, path: tree.path(0) }] }))
      for (let at = 0; at < 20; at++) await shop.serve({ name: `evil${at}`, api: { operations: [], described } })
      await serveOwn('honest')
      await pass(5_000)
      assert.deepEqual(await matching('invoice'), [])
      assert.ok(asked >= 1 && asked <= 8, `asked ${asked} times`)
      const before = asked
      await pass(OPERATIONS_RETRY_MS * 1.5)
      assert.ok(asked - before <= 8, `asked ${asked - before} times more`)
      assert.deepEqual(await matching('honest bill'), [['honest', 'makeBill']])
    })
  }
  const serveOwn = (name: string) =>
    shop.serve({ name, api: { operations: [{ name: 'makeBill', description: `Bills.` }] } })
})
