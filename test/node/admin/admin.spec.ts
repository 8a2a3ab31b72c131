import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { createMemoryStore } from '../../../lib/index.ts'
import type { Problem, Store } from '../../../lib/interface/index.ts'
import { balanceOf, kindOf, moved, PREPAID } from '../../../node/accounts/account-ledger.ts'
import type { RegisterInput } from '../../../node/admin/api.ts'
import { allPages } from '../../../node/cli/options/all-pages.ts'
import type { BookEntryView, BooksView, WithdrawInput } from '../../../node/admin/money/money-api.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type Bench, startBench, TOKEN } from './harness.ts'

const TICKER: RegisterInput = {
  name: 'bb-sse-ticker',
  protocol: 'REST',
  endpoint: 'http://127.0.0.1:9/',
  price: '0.001',
  tags: ['market']
}

describe('admin API', () => {
  let bench: Bench
  let peers: Bench[]

  beforeEach(async () => {
    bench = await startBench()
    peers = []
  })
  afterEach(() => Promise.all([bench, ...peers].map((each) => each.stop())))

  const code = (expected: string) => (error: Error & { code?: string }) => error.code === expected
  async function readBody(body: AsyncIterable<Uint8Array>): Promise<string> {
    const chunks: Uint8Array[] = []
    for await (const chunk of body) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  it('registers an API, calls it, meters the call and removes the API', async () => {
    const { api, updated, warnings } = await bench.client.request('POST /apis', { body: TICKER })
    assert.equal(api.id, `bb-sse-ticker@${bench.souk.status().provider}`)
    assert.deepEqual([api.state, api.revision, api.price, api.own, updated], ['published', 1, '0.001', true, false])
    assert.deepEqual(warnings, ['A warning.'])

    const { head, body } = await bench.client.call({ api: 'bb-sse-ticker', body: { symbol: 'BTC' } })
    assert.equal(await readBody(body), '{"symbol":"BTC"}')
    assert.deepEqual([head.status, head.price, head.charged], [200, '0.001', '0'])
    assert.match(head.request_id, /^[\da-f-]{36}$/)
    assert.ok(head.ms >= 0 && head.timing.upstream >= 0)

    const shown = await bench.client.request('GET /apis/:name', { params: { name: 'bb-sse-ticker' } })
    assert.deepEqual([shown.calls, shown.metered, shown.charged], [{ captured: 1, voided: 0 }, '0.001', '0'])

    await bench.client.request('DELETE /apis/:name', { params: { name: 'bb-sse-ticker' } })
    assert.deepEqual((await bench.client.request('GET /apis')).apis, [])
    assert.equal(bench.upstream.closed, 1)
    await assert.rejects(
      bench.client.request('GET /apis/:name', { params: { name: 'bb-sse-ticker' } }),
      code('api_not_found')
    )
    await assert.rejects(
      bench.client.request('DELETE /apis/:name', { params: { name: 'bb-sse-ticker' } }),
      code('api_not_found')
    )
  })

  it('lists no subscribers of an API, and reports an API that does not exist', async () => {
    const { api } = await bench.client.request('POST /apis', { body: TICKER })
    const of = (id: string) => bench.client.request('GET /subscribers', { query: { api: id } })
    for (const id of [api.name, api.id]) assert.deepEqual(await of(id), { subscribers: [], next: null })
    await assert.rejects(of('nosuch'), code('api_not_found'))
  })

  it('creates a new revision when a name is registered again', async () => {
    await bench.client.request('POST /apis', { body: TICKER })
    const changed = { ...TICKER, price: '0.002' }
    const { api, updated } = await bench.client.request('POST /apis', { body: { ...changed, replace: true } })
    assert.deepEqual([updated, api.revision, api.price], [true, 2, '0.002'])
    assert.equal((await bench.client.request('GET /apis')).apis.length, 1)
    assert.deepEqual([bench.upstream.opened, bench.upstream.closed], [2, 1])
  })

  it('changes a registered API only with `replace`, and says what would change', async () => {
    await bench.client.request('POST /apis', { body: TICKER })
    const changed = { ...TICKER, price: '0.5', endpoint: 'http://127.0.0.1:10/', tags: [] }
    await assert.rejects(
      bench.client.request('POST /apis', { body: changed }),
      (error: Error & { problem: Problem }) => {
        const { code, status, changes } = error.problem
        assert.deepEqual([code, status], ['api_exists', 409])
        assert.deepEqual(changes, [
          { field: 'endpoint', from: 'http://127.0.0.1:9/', to: 'http://127.0.0.1:10/' },
          { field: 'price', from: '0.001 USDC', to: '0.5 USDC' },
          { field: 'tags', from: '["market"]', to: '-' }
        ])
        return true
      }
    )
    const { updated, api } = await bench.client.request('POST /apis', { body: TICKER })
    assert.deepEqual([updated, api.price], [true, '0.001'])
  })

  it('keeps plans when a name is registered again', async () => {
    await bench.client.request('POST /apis', { body: TICKER })
    const plan = { fee: '1', included: 10 }
    await bench.client.request('PUT /apis/:name/plans/:plan', {
      params: { name: TICKER.name, plan: 'pro' },
      body: plan
    })
    const { api } = await bench.client.request('POST /apis', { body: { ...TICKER, price: '0.003', replace: true } })
    assert.deepEqual([api.price, api.plans.map(({ id }) => id)], ['0.003', ['pro']])
  })

  it('stores nothing of an API whose endpoint does not respond', async () => {
    bench.upstream.down = true
    await assert.rejects(bench.client.request('POST /apis', { body: TICKER }), code('upstream_unreachable'))
    assert.deepEqual((await bench.client.request('GET /apis')).apis, [])
    assert.equal(bench.souk.listings().length, 0)

    bench.upstream.down = false
    await bench.client.request('POST /apis', { body: TICKER })
    bench.upstream.down = true
    await assert.rejects(
      bench.client.request('POST /apis', { body: { ...TICKER, price: '9', replace: true } }),
      code('upstream_unreachable')
    )
    assert.equal((await bench.client.request('GET /apis/:name', { params: { name: TICKER.name } })).price, '0.001')
  })

  it('names the invalid field', async () => {
    for (const [wrong, field] of [
      [{ endpoint: 'ftp://x/' }, 'endpoint'],
      [{ endpoint: 'nowhere' }, 'endpoint'],
      [{ price: '-1' }, 'price'],
      [{ price: '0.0000001' }, 'price'],
      [{ currency: 'EUR' }, 'currency'],
      [{ timeout_ms: 0 }, 'timeout_ms'],
      [{ protocol: 'gRPC' }, 'protocol']
    ] as const) {
      const input = { ...TICKER, ...wrong } as unknown as RegisterInput
      await assert.rejects(
        bench.client.request('POST /apis', { body: input }),
        (error: Error & { problem?: { invalid?: unknown } }) => {
          assert.match(JSON.stringify(error.problem?.invalid), new RegExp(`"field":"${field}"`))
          return true
        }
      )
    }
    await assert.rejects(
      bench.client.request('POST /apis', { body: { ...TICKER, name: 'Not A Name' } }),
      code('invalid_request')
    )
    await assert.rejects(
      bench.client.request('POST /apis', { body: { ...TICKER, request_bytes_max: 1e12 } }),
      code('invalid_request')
    )
    assert.equal(bench.upstream.opened, bench.upstream.closed)
  })

  it('pauses and resumes an API', async () => {
    await bench.client.request('POST /apis', { body: TICKER })
    assert.equal(
      (await bench.client.request('POST /apis/:name/pause', { params: { name: TICKER.name } })).state,
      'paused'
    )
    await assert.rejects(bench.client.call({ api: TICKER.name, body: {} }), (error: Error & { problem?: Problem }) => {
      assert.equal(error.problem?.status, 503)
      return true
    })
    assert.equal(
      (await bench.client.request('POST /apis/:name/resume', { params: { name: TICKER.name } })).state,
      'published'
    )
    assert.equal((await bench.client.call({ api: TICKER.name, body: {} })).head.status, 200)
  })

  it('serves the same revisions after a restart, without reading the upstream again', async () => {
    const store = keptOpen(createMemoryStore())
    const privateKey = await generateKeyPair('Ed25519')
    const first = await startBench({ store, privateKey })
    await first.client.request('POST /apis', { body: TICKER })
    await first.client.request('POST /apis/:name/pause', { params: { name: TICKER.name } })
    await first.stop()

    const second = await startBench({ store, privateKey })
    peers.push(second)
    second.upstream.down = true
    const api = await second.client.request('GET /apis/:name', { params: { name: TICKER.name } })
    assert.deepEqual([api.state, api.revision, api.problem], ['paused', 2, null])
  })

  it('streams a body as it arrives, and reports how it ended', async () => {
    await bench.client.request('POST /apis', { body: TICKER })
    const keyLimiter = Promise.withResolvers<void>()
    bench.upstream.reply = () => ({
      headers: [['content-type', 'text/event-stream']],
      body: (async function* () {
        yield Buffer.from('data: 1\n\n')
        await keyLimiter.promise
        throw new Error('the upstream broke')
      })()
    })
    const { head, body } = await bench.client.call({ api: TICKER.name, body: {}, stream: true })
    assert.equal(head.status, 200)
    const chunks = body[Symbol.asyncIterator]()
    assert.equal(Buffer.from((await chunks.next()).value ?? '').toString(), 'data: 1\n\n')
    keyLimiter.resolve()
    await assert.rejects(chunks.next(), (error: Error & { problem?: unknown }) => {
      assert.doesNotMatch(JSON.stringify(error.problem), /broke/)
      return true
    })
  })

  it('forwards a large body completely', async () => {
    await bench.client.request('POST /apis', { body: TICKER })
    const large = JSON.stringify('x'.repeat(3 * 1024 * 1024))
    bench.upstream.reply = () => ({ body: Buffer.from(large) })
    const { body } = await bench.client.call({ api: TICKER.name, body: {} })
    assert.equal(await readBody(body), large)
  })

  it('opens accounts, and lists them with the sum of their balances', async () => {
    const opened = await bench.client.request('POST /accounts', { body: { label: 'shop' } })
    assert.match(opened.key, /^souk_test_/)
    const { ledger } = bench.souk.store
    const event = { kind: kindOf('deposit', opened.id), reference: 'a', at: 0 }
    await ledger.book(moved(event, 1_500_000n, PREPAID, balanceOf(opened.id)))
    const { accounts, owed } = await bench.client.request('GET /accounts', { query: {} })
    assert.equal(owed, '1.5')
    const [listed] = accounts
    assert.deepEqual([listed?.id, listed?.label, listed?.balance, listed?.funding], [opened.id, 'shop', '1.5', null])
    assert.doesNotMatch(JSON.stringify(listed), /souk_test_/)
    assert.deepEqual(await bench.client.request('GET /accounts/:id', { params: { id: opened.id } }), listed)
    await assert.rejects(
      bench.client.request('GET /accounts/:id', { params: { id: 'acct_none' } }),
      code('invalid_request')
    )
  })

  it('issues, lists and revokes keys, and shows each once', async () => {
    const issued = await bench.client.request('POST /keys', { body: { label: 'shop', daily_cap: '2.5' } })
    assert.match(issued.key, /^souk_test_/)
    assert.deepEqual([issued.max_price, issued.daily_cap], ['0.05', '2.5'])
    await assert.rejects(bench.client.request('POST /keys', { body: { max_price: '-1' } }), code('invalid_request'))
    const [listed] = (await bench.client.request('GET /keys', { query: {} })).keys
    assert.deepEqual([listed?.id, listed?.label, listed?.state], [issued.id, 'shop', 'active'])
    assert.doesNotMatch(JSON.stringify(listed), new RegExp(issued.key))
    assert.equal((await bench.client.request('DELETE /keys/:id', { params: { id: issued.id } })).state, 'revoked')
    await assert.rejects(
      bench.client.request('DELETE /keys/:id', { params: { id: 'key_none' } }),
      code('invalid_request')
    )
    await assert.rejects(bench.client.request('POST /keys', { body: { expires_at: 1 } }), code('invalid_request'))
  })

  it('lists keys and accounts in pages, newest first, also while others come', async () => {
    const keyIds: string[] = []
    const accountIds: string[] = []
    const addOne = async () => {
      keyIds.unshift((await bench.client.request('POST /keys', { body: {} })).id)
      const opened = await bench.client.request('POST /accounts', { body: {} })
      accountIds.unshift(opened.id)
      keyIds.unshift(opened.key_id)
    }
    const before = (await bench.client.request('GET /keys', { query: {} })).keys.length
    for (let n = 0; n < 3; n++) await addOne()
    const known = { keys: new Set(keyIds), accounts: new Set(accountIds) }
    const listed = { keys: [] as string[], accounts: [] as string[] }
    for (let next: string | null = ''; next !== null; ) {
      const query: { limit: number; cursor?: string } = { limit: 2, ...(next === '' ? {} : { cursor: next }) }
      const page: { keys: readonly { id: string }[]; next: string | null } = await bench.client.request('GET /keys', {
        query
      })
      assert.ok(page.keys.length <= 2)
      listed.keys.push(...page.keys.map(({ id }) => id))
      if (next === '') await addOne()
      ;({ next } = page)
    }
    for (const page of await allPages((cursor) =>
      bench.client.request('GET /accounts', { query: { limit: 1, cursor } })
    )) {
      assert.ok(page.accounts.length <= 1)
      listed.accounts.push(...page.accounts.map(({ id }) => id))
    }
    assert.deepEqual(new Set(listed.keys.slice(0, known.keys.size)), known.keys)
    assert.equal(listed.keys.length, known.keys.size + before)
    assert.deepEqual(new Set(listed.accounts.slice(0, accountIds.length)), new Set(accountIds))
    for (const query of [{ limit: 0 }, { limit: 1_001 }, { cursor: 'x' }, { cursor: '' }]) {
      await assert.rejects(bench.client.request('GET /keys', { query }), code('invalid_request'))
    }
  })

  it('limits keys to APIs, rotates, disables and enables them', async () => {
    const issued = await bench.client.request('POST /keys', { body: { apis: ['ticker', 'ticker'] } })
    assert.deepEqual(
      [issued.apis, issued.lineage, issued.account, issued.manages],
      [['ticker'], issued.id, null, false]
    )
    const next = await bench.client.request('POST /keys/:id/rotate', {
      params: { id: issued.id },
      body: { overlap_ms: 60_000 }
    })
    assert.match(next.key, /^souk_test_/)
    assert.deepEqual([next.apis, next.lineage, next.replaces], [['ticker'], issued.id, issued.id])
    const old = await bench.client.request('GET /keys/:id', { params: { id: issued.id } })
    assert.deepEqual([old.state, old.successor, (old.retires_at ?? 0) > Date.now()], ['rotating', next.id, true])
    assert.equal((await bench.client.request('POST /keys/:id/disable', { params: { id: next.id } })).state, 'disabled')
    assert.equal((await bench.client.request('POST /keys/:id/enable', { params: { id: next.id } })).state, 'active')
    await assert.rejects(
      bench.client.request('POST /keys/:id/rotate', { params: { id: issued.id }, body: {} }),
      code('invalid_request')
    )
    await assert.rejects(
      bench.client.request('POST /keys/:id/rotate', { params: { id: next.id }, body: { overlap_ms: -1 } }),
      code('invalid_request')
    )
    await assert.rejects(bench.client.request('POST /keys', { body: { apis: ['No such'] } }), code('invalid_request'))
    await assert.rejects(bench.client.request('GET /keys/:id', { params: { id: 'key_none' } }), code('invalid_request'))
  })

  it('issues keys only for existing accounts', async () => {
    const { id } = await bench.client.request('POST /accounts', { body: {} })
    const issued = await bench.client.request('POST /keys', { body: { account: id } })
    assert.deepEqual([issued.account, issued.manages], [id, false])
    await assert.rejects(
      bench.client.request('POST /keys', { body: { account: 'acct_none' } }),
      code('invalid_request')
    )
  })

  it('finds, calls and then serves an API that another provider delegated', async () => {
    const replica = await startBench({ bootstrap: bench.souk.status().addresses })
    peers.push(replica)
    const { api } = await bench.client.request('POST /apis', { body: TICKER })
    await eventually('a peer', 10_000, async () => (await replica.client.request('GET /peers')).peers[0])
    await eventually('the listing', 10_000, async () => {
      const { listings } = await replica.client.request('GET /search', { query: { q: 'ticker' } })
      return listings[0]?.id === api.id ? true : undefined
    })
    const { peer } = replica.souk.status()

    await assert.rejects(
      replica.client.request('POST /replicas', { body: { api: api.id, endpoint: TICKER.endpoint } }),
      code('key_not_permitted')
    )
    assert.equal(replica.upstream.opened, replica.upstream.closed)
    await bench.client.request('POST /delegations', { body: { peer } })
    assert.deepEqual(
      (await bench.client.request('GET /delegations')).delegations.map((each) => each.peer),
      [peer]
    )
    const served = await replica.client.request('POST /replicas', { body: { api: api.id, endpoint: TICKER.endpoint } })
    assert.deepEqual([served.api.id, served.api.own, served.api.price], [api.id, false, '0.001'])
    await assert.rejects(replica.client.request('POST /apis', { body: TICKER }), code('invalid_request'))
    await replica.client.request('DELETE /apis/:name', { params: { name: TICKER.name } })
    await assert.rejects(
      bench.client.request('POST /delegations', { body: { peer: 'nobody' } }),
      code('invalid_request')
    )
  })

  it('searches by price, and pins a name', async () => {
    const { api } = await bench.client.request('POST /apis', { body: TICKER })
    assert.equal((await bench.client.request('GET /search', { query: { max_price: '0.001' } })).listings.length, 1)
    assert.equal((await bench.client.request('GET /search', { query: { max_price: '0.0009' } })).listings.length, 0)
    await bench.client.request('PUT /pins/:name', { params: { name: TICKER.name }, body: { provider: api.provider } })
    await assert.rejects(
      bench.client.request('PUT /pins/:name', { params: { name: TICKER.name }, body: { provider: 'nobody' } }),
      code('invalid_request')
    )
    await assert.rejects(bench.client.call({ api: 'no-such-api', body: {} }), code('api_not_found'))
  })

  it('validates requests about money before it reports settlement_unavailable', async () => {
    const { client } = bench
    for (const ask of [
      () => client.request('GET /earnings'),
      () => client.request('GET /wallet'),
      () => client.request('GET /receipts', { query: { role: 'payer' } }),
      () => client.request('POST /wallet/withdrawals', { body: { amount: '1', to: '0x00', id: 'x' } })
    ]) {
      await assert.rejects(ask(), code('settlement_unavailable'))
    }
    for (const query of [
      '',
      'role=thief',
      'role=payer&limit=0',
      'role=payer&limit=1001',
      'role=owner&since=x&and=more'
    ]) {
      const headers = { authorization: `Bearer ${TOKEN}` }
      const response = await fetch(`${bench.url}/admin/v1/receipts?${query}`, { headers })
      assert.equal(response.status, 400, query)
    }
    for (const withdrawal of [{}, { amount: '-1', to: '0x00', id: 'x' }, { amount: 1, to: '0x00', id: 'x' }]) {
      await assert.rejects(
        client.request('POST /wallet/withdrawals', { body: withdrawal as WithdrawInput }),
        code('invalid_request')
      )
    }
  })

  it('returns the whole ledger in pages, with the sums of deleted entries', async () => {
    const { ledger, retention } = bench.souk.store
    const had = (await bench.client.request('GET /books', { query: {} })).entries.length
    for (let n = 0; n < 5; n++) {
      const postings = [
        { account: 'books/a', amount: 1_500_000n },
        { account: 'books/b', amount: -1_500_000n }
      ]
      await ledger.book({ kind: 'lease', reference: `books ${n}`, at: n, postings })
    }
    const entries: BookEntryView[] = []
    for (let after: number | null = 0; after !== null; ) {
      const page: BooksView = await bench.client.request('GET /books', { query: { after, limit: 2 } })
      assert.deepEqual(page.carried, [])
      entries.push(...page.entries)
      after = page.next
    }
    assert.equal(entries.length, had + 5)
    const { kind, at, postings } = entries[had] ?? assert.fail()
    assert.deepEqual([kind, at, postings[0]?.amount, postings[1]?.amount], ['lease', 0, '1.5', '-1.5'])
    const rules = { before: 3, freeBefore: 0, now: 0, kinds: ['lease'], isDue: () => true, limit: 1_000 }
    while (!(await retention.trim(rules)).isOver);
    const page = await bench.client.request('GET /books', { query: { book: 'accounts' } })
    assert.deepEqual(page.carried, [
      { account: 'books/a', amount: '4.5' },
      { account: 'books/b', amount: '-4.5' }
    ])
    assert.equal(page.entries.length, had + 2)
    await assert.rejects(bench.client.request('GET /books', { query: { limit: 1_001 } }), code('invalid_request'))
  })

  it('reports node_not_running if nothing, or another program, listens', async () => {
    const gone = await startBench()
    await gone.stop()
    await assert.rejects(gone.client.request('GET /status'), code('node_not_running'))
  })
})

/** A memory store that survives its node, like a file. */
function keptOpen(store: Store): Store {
  return { ...store, calls: store.calls, documents: store.documents, open: () => store.open(), close: async () => {} }
}
