import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { createMemoryStore } from '../../../lib/index.ts'
import type { Problem, Store } from '../../../lib/interface/index.ts'
import { balanceOf, kindOf, moved, PREPAID } from '../../../node/accounts/account-books.ts'
import type { RegisterInput } from '../../../node/admin/api.ts'
import type { BookEntryView, BooksView, WithdrawInput } from '../../../node/admin/money-api.ts'
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

  it('registers an API, calls it, meters the call and forgets the API again', async () => {
    const { api, updated, warnings } = await bench.client.register(TICKER)
    assert.equal(api.id, `bb-sse-ticker@${bench.souk.status().provider}`)
    assert.deepEqual([api.state, api.revision, api.price, api.own, updated], ['published', 1, '0.001', true, false])
    assert.deepEqual(warnings, ['A warning.'])

    const { head, body } = await bench.client.call({ api: 'bb-sse-ticker', body: { symbol: 'BTC' } })
    assert.equal(await readBody(body), '{"symbol":"BTC"}')
    assert.deepEqual([head.status, head.price, head.charged], [200, '0.001', '0'])
    assert.match(head.request_id, /^[\da-f-]{36}$/)
    assert.ok(head.ms >= 0 && head.timing.upstream >= 0)

    const shown = await bench.client.api('bb-sse-ticker')
    assert.deepEqual([shown.calls, shown.metered, shown.charged], [{ captured: 1, voided: 0 }, '0.001', '0'])

    await bench.client.remove('bb-sse-ticker')
    assert.deepEqual((await bench.client.apis()).apis, [])
    assert.equal(bench.upstream.closed, 1)
    await assert.rejects(bench.client.api('bb-sse-ticker'), code('api_not_found'))
    await assert.rejects(bench.client.remove('bb-sse-ticker'), code('api_not_found'))
  })

  it('makes a new revision of a name that is registered again', async () => {
    await bench.client.register(TICKER)
    const { api, updated } = await bench.client.register({ ...TICKER, price: '0.002' })
    assert.deepEqual([updated, api.revision, api.price], [true, 2, '0.002'])
    assert.equal((await bench.client.apis()).apis.length, 1)
    assert.deepEqual([bench.upstream.opened, bench.upstream.closed], [2, 1])
  })

  it('keeps nothing of an API whose endpoint does not answer', async () => {
    bench.upstream.down = true
    await assert.rejects(bench.client.register(TICKER), code('upstream_unreachable'))
    assert.deepEqual((await bench.client.apis()).apis, [])
    assert.equal(bench.souk.listings().length, 0)

    bench.upstream.down = false
    await bench.client.register(TICKER)
    bench.upstream.down = true
    await assert.rejects(bench.client.register({ ...TICKER, price: '9' }), code('upstream_unreachable'))
    assert.equal((await bench.client.api(TICKER.name)).price, '0.001')
  })

  it('says which field is wrong', async () => {
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
      await assert.rejects(bench.client.register(input), (error: Error & { problem?: { invalid?: unknown } }) => {
        assert.match(JSON.stringify(error.problem?.invalid), new RegExp(`"field":"${field}"`))
        return true
      })
    }
    await assert.rejects(bench.client.register({ ...TICKER, name: 'Not A Name' }), code('invalid_request'))
    await assert.rejects(bench.client.register({ ...TICKER, request_bytes_max: 1e12 }), code('invalid_request'))
    assert.equal(bench.upstream.opened, bench.upstream.closed)
  })

  it('pauses and resumes', async () => {
    await bench.client.register(TICKER)
    assert.equal((await bench.client.pause(TICKER.name)).state, 'paused')
    await assert.rejects(bench.client.call({ api: TICKER.name, body: {} }), (error: Error & { problem?: Problem }) => {
      assert.equal(error.problem?.status, 503)
      return true
    })
    assert.equal((await bench.client.resume(TICKER.name)).state, 'published')
    assert.equal((await bench.client.call({ api: TICKER.name, body: {} })).head.status, 200)
  })

  it('serves after a restart what it served before, without its upstream, under the same revision', async () => {
    const store = keptOpen(createMemoryStore())
    const privateKey = await generateKeyPair('Ed25519')
    const first = await startBench({ store, privateKey })
    await first.client.register(TICKER)
    await first.client.pause(TICKER.name)
    await first.stop()

    const second = await startBench({ store, privateKey })
    peers.push(second)
    second.upstream.down = true
    const api = await second.client.api(TICKER.name)
    assert.deepEqual([api.state, api.revision, api.problem], ['paused', 2, null])
  })

  it('streams a body as it comes, and tells how it ended', async () => {
    await bench.client.register(TICKER)
    const gate = Promise.withResolvers<void>()
    bench.upstream.reply = () => ({
      headers: [['content-type', 'text/event-stream']],
      body: (async function* () {
        yield Buffer.from('data: 1\n\n')
        await gate.promise
        throw new Error('the upstream broke')
      })()
    })
    const { head, body } = await bench.client.call({ api: TICKER.name, body: {}, stream: true })
    assert.equal(head.status, 200)
    const chunks = body[Symbol.asyncIterator]()
    assert.equal(Buffer.from((await chunks.next()).value ?? '').toString(), 'data: 1\n\n')
    gate.resolve()
    await assert.rejects(chunks.next(), (error: Error & { problem?: unknown }) => {
      assert.doesNotMatch(JSON.stringify(error.problem), /broke/)
      return true
    })
  })

  it('passes a large body whole', async () => {
    await bench.client.register(TICKER)
    const large = JSON.stringify('x'.repeat(3 * 1024 * 1024))
    bench.upstream.reply = () => ({ body: Buffer.from(large) })
    const { body } = await bench.client.call({ api: TICKER.name, body: {} })
    assert.equal(await readBody(body), large)
  })

  it('opens accounts, and shows them with what they come to', async () => {
    const opened = await bench.client.openAccount({ label: 'shop' })
    assert.match(opened.key, /^souk_test_/)
    const { ledger } = bench.souk.store
    const event = { kind: kindOf('deposit', opened.id), reference: 'a', at: 0 }
    await ledger.book(moved(event, 1_500_000n, PREPAID, balanceOf(opened.id)))
    const { accounts, owed } = await bench.client.accounts()
    assert.equal(owed, '1.5')
    const [listed] = accounts
    assert.deepEqual([listed?.id, listed?.label, listed?.balance, listed?.funding], [opened.id, 'shop', '1.5', null])
    assert.doesNotMatch(JSON.stringify(listed), /souk_test_/)
    assert.deepEqual(await bench.client.account(opened.id), listed)
    await assert.rejects(bench.client.account('acct_none'), code('invalid_request'))
  })

  it('issues, lists and revokes keys, and shows each once', async () => {
    const issued = await bench.client.issueKey({ label: 'shop', daily_cap: '2.5' })
    assert.match(issued.key, /^souk_test_/)
    assert.deepEqual([issued.max_price, issued.daily_cap], ['0.05', '2.5'])
    await assert.rejects(bench.client.issueKey({ max_price: '-1' }), code('invalid_request'))
    const [listed] = (await bench.client.keys()).keys
    assert.deepEqual([listed?.id, listed?.label, listed?.state], [issued.id, 'shop', 'active'])
    assert.doesNotMatch(JSON.stringify(listed), new RegExp(issued.key))
    assert.equal((await bench.client.revokeKey(issued.id)).state, 'revoked')
    await assert.rejects(bench.client.revokeKey('key_none'), code('invalid_request'))
    await assert.rejects(bench.client.issueKey({ expires_at: 1 }), code('invalid_request'))
  })

  it('limits keys to APIs, rotates, disables and enables them', async () => {
    const issued = await bench.client.issueKey({ apis: ['ticker', 'ticker'] })
    assert.deepEqual(
      [issued.apis, issued.lineage, issued.account, issued.manages],
      [['ticker'], issued.id, null, false]
    )
    const next = await bench.client.rotateKey(issued.id, { overlap_ms: 60_000 })
    assert.match(next.key, /^souk_test_/)
    assert.deepEqual([next.apis, next.lineage, next.replaces], [['ticker'], issued.id, issued.id])
    const old = await bench.client.key(issued.id)
    assert.deepEqual([old.state, old.successor, (old.retires_at ?? 0) > Date.now()], ['rotating', next.id, true])
    assert.equal((await bench.client.disableKey(next.id)).state, 'disabled')
    assert.equal((await bench.client.enableKey(next.id)).state, 'active')
    await assert.rejects(bench.client.rotateKey(issued.id, {}), code('invalid_request'))
    await assert.rejects(bench.client.rotateKey(next.id, { overlap_ms: -1 }), code('invalid_request'))
    await assert.rejects(bench.client.issueKey({ apis: ['No such'] }), code('invalid_request'))
    await assert.rejects(bench.client.key('key_none'), code('invalid_request'))
  })

  it('issues keys of accounts that there are', async () => {
    const { id } = await bench.client.openAccount({})
    const issued = await bench.client.issueKey({ account: id })
    assert.deepEqual([issued.account, issued.manages], [id, false])
    await assert.rejects(bench.client.issueKey({ account: 'acct_none' }), code('invalid_request'))
  })

  it('finds, calls and then serves what another provider delegated', async () => {
    const replica = await startBench({ bootstrap: bench.souk.status().addresses })
    peers.push(replica)
    const { api } = await bench.client.register(TICKER)
    await eventually(async () => (await replica.client.peers()).peers.length > 0)
    await eventually(async () => (await replica.client.search({ q: 'ticker' })).listings[0]?.id === api.id)
    const { peer } = replica.souk.status()

    await assert.rejects(replica.client.serve({ api: api.id, endpoint: TICKER.endpoint }), code('key_not_permitted'))
    assert.equal(replica.upstream.opened, replica.upstream.closed)
    await bench.client.delegate(peer)
    assert.deepEqual(
      (await bench.client.delegations()).delegations.map((each) => each.peer),
      [peer]
    )
    const served = await replica.client.serve({ api: api.id, endpoint: TICKER.endpoint })
    assert.deepEqual([served.api.id, served.api.own, served.api.price], [api.id, false, '0.001'])
    await assert.rejects(replica.client.register(TICKER), code('invalid_request'))
    await replica.client.remove(TICKER.name)
    await assert.rejects(bench.client.delegate('nobody'), code('invalid_request'))
  })

  it('searches by price, and pins a name', async () => {
    const { api } = await bench.client.register(TICKER)
    assert.equal((await bench.client.search({ max_price: '0.001' })).listings.length, 1)
    assert.equal((await bench.client.search({ max_price: '0.0009' })).listings.length, 0)
    await bench.client.pin(TICKER.name, api.provider)
    await assert.rejects(bench.client.pin(TICKER.name, 'nobody'), code('invalid_request'))
    await assert.rejects(bench.client.call({ api: 'no-such-api', body: {} }), code('api_not_found'))
  })

  it('reads what is asked about money before it says that there is none', async () => {
    const { client } = bench
    for (const ask of [
      () => client.earnings(),
      () => client.wallet(),
      () => client.receipts({ role: 'payer' }),
      () => client.withdraw({ amount: '1', to: '0x00', id: 'x' })
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
      await assert.rejects(client.withdraw(withdrawal as WithdrawInput), code('invalid_request'))
    }
  })

  it('gives the whole ledger, a page at a time, with what was deleted of it', async () => {
    const { ledger, retention } = bench.souk.store
    const had = (await bench.client.books({})).entries.length
    for (let n = 0; n < 5; n++) {
      const postings = [
        { account: 'books/a', amount: 1_500_000n },
        { account: 'books/b', amount: -1_500_000n }
      ]
      await ledger.book({ kind: 'lease', reference: `books ${n}`, at: n, postings })
    }
    const entries: BookEntryView[] = []
    for (let after: number | null = 0; after !== null; ) {
      const page: BooksView = await bench.client.books({ after, limit: 2 })
      assert.deepEqual(page.carried, [])
      entries.push(...page.entries)
      after = page.next
    }
    assert.equal(entries.length, had + 5)
    const { kind, at, postings } = entries[had] ?? assert.fail()
    assert.deepEqual([kind, at, postings[0]?.amount, postings[1]?.amount], ['lease', 0, '1.5', '-1.5'])
    const rules = { before: 3, freeBefore: 0, now: 0, kinds: ['lease'], isDue: () => true, limit: 1_000 }
    while (!(await retention.trim(rules)).isOver);
    const page = await bench.client.books({ book: 'accounts' })
    assert.deepEqual(page.carried, [
      { account: 'books/a', amount: '4.5' },
      { account: 'books/b', amount: '-4.5' }
    ])
    assert.equal(page.entries.length, had + 2)
    await assert.rejects(bench.client.books({ limit: 1_001 }), code('invalid_request'))
  })

  it('says that no node runs when nobody, or somebody else, answers', async () => {
    const gone = await startBench()
    await gone.stop()
    await assert.rejects(gone.client.status(), code('node_not_running'))
  })
})

/** A memory store that outlives its node, as a file does. */
function keptOpen(store: Store): Store {
  return { ...store, calls: store.calls, documents: store.documents, open: () => store.open(), close: async () => {} }
}

async function eventually(holds: () => Promise<boolean>, boundMs = 10_000): Promise<void> {
  const until = performance.now() + boundMs
  while (!(await holds())) {
    if (performance.now() > until) throw new Error(`Never became true: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
