import assert from 'node:assert/strict'
import { request } from 'node:https'
import type { SearchQuery, SignedManifest } from '../../../lib/interface/index.ts'
import { SoukError } from '../../../lib/index.ts'
import { SELF_SIGNED } from '../../helpers/self-signed.ts'
import { answer, eventually, PROVIDER, RawClient, type Running, startIngress } from './harness.ts'

const signed: SignedManifest = {
  id: `bank@${PROVIDER}`,
  envelope: new Uint8Array(0),
  manifest: {
    name: 'bank',
    provider: PROVIDER,
    protocol: 'SOAP',
    description: 'Accounts',
    tags: ['money'],
    price: 1_500n,
    currency: 'USDC',
    idempotent: true,
    api: { operations: [{ name: 'getBalance', input: { type: 'object' } }], sdl: 'type Query { a: Int }' },
    state: 'published',
    revision: 3,
    issuedAt: Date.UTC(2026, 0, 1),
    expiresAt: Date.UTC(2026, 0, 31)
  }
}

const summary = {
  id: `bank@${PROVIDER}`,
  name: 'bank',
  provider: PROVIDER,
  protocol: 'SOAP',
  description: 'Accounts',
  tags: ['money'],
  price: '0.0015',
  currency: 'USDC',
  state: 'published',
  revision: 3
}

describe('ingress: /v1/apis', () => {
  let ingress: Running
  beforeEach(async () => {
    ingress = await startIngress()
  })
  afterEach(() => ingress.close())
  const get = async (path: string) => {
    const response = await fetch(ingress.url + path)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  it('searches the catalogue without a key', async () => {
    let asked: SearchQuery | undefined
    ingress.onSearch = async (query, signal) => {
      asked = query
      assert.equal(signal?.aborted, false)
      const quality = { score: 0.9123, calls: 7.34, successRate: 0.98567, p50Ms: 12.5 }
      const matching = [{ name: 'GetBalance', summary: 'Returns a balance.' }]
      const probed = { probes: 3.96, reachedRate: 0.75, p50Ms: 8.1, lastAt: Date.UTC(2026, 0, 2) }
      const selfReport = { until: Date.UTC(2026, 0, 3), days: 7, calls: 2_000, goodPerMille: 995, p50Ms: 30 }
      const listing = { ...signed, manifest: { ...signed.manifest, selfReport } }
      return { listings: [{ ...listing, firstSeenAt: Date.UTC(2026, 0, 1), matching, quality, probed }], next: 'page2' }
    }
    const { status, body } = await get(
      '/v1/apis?q=balance%20x&protocol=soap&tag=money&max_price=0.01&limit=5&cursor=abc&sort=price&min_quality=0.5'
    )
    assert.equal(status, 200)
    const quality = { score: 0.912, calls: 7.3, success_rate: 0.986, p50_ms: 12.5, p95_ms: null }
    const reputation = {
      known_since: '2026-01-01T00:00:00.000Z',
      quality,
      probed: { probes: 4, reached_rate: 0.75, p50_ms: 8.1, last_at: '2026-01-02T00:00:00.000Z' },
      claimed_by_owner: {
        days: 7,
        until: '2026-01-03T00:00:00.000Z',
        calls: 2_000,
        success_rate: 0.995,
        p50_ms: 30,
        p95_ms: null
      }
    }
    const listed = {
      ...summary,
      pay_per_call: true,
      cheapest_plan: null,
      operation_count: 1,
      operations: ['getBalance'],
      matching_operations: [{ name: 'GetBalance', summary: 'Returns a balance.' }],
      ...reputation
    }
    assert.deepEqual(body, { data: [listed], next_cursor: 'page2' })
    assert.deepEqual(asked, {
      text: 'balance x',
      protocol: 'SOAP',
      tag: 'money',
      maxPrice: 10_000n,
      limit: 5,
      cursor: 'abc',
      sort: 'price',
      minQuality: 0.5
    })
  })

  it('lists everything without parameters', async () => {
    let asked: SearchQuery | undefined
    ingress.onSearch = async (query) => {
      asked = query
      return { listings: [] }
    }
    assert.deepEqual((await get('/v1/apis')).body, { data: [], next_cursor: null })
    assert.deepEqual(asked, {})
  })

  for (const query of [
    'limit=0',
    'limit=101',
    'limit=ten',
    'limit=-1',
    'max_price=cheap',
    'max_price=-1',
    'sort=best',
    'min_quality=2',
    'min_quality=',
    'min_quality=0x1',
    'protocol=gRPC'
  ]) {
    it(`refuses ${query}`, async () => {
      const { status, body } = await get(`/v1/apis?${query}`)
      assert.deepEqual([status, body['code']], [400, 'invalid_request'])
    })
  }

  it('shows one API in full', async () => {
    ingress.onResolve = async (api) => {
      assert.equal(api, `bank@${PROVIDER}`)
      return { signed, owners: [] }
    }
    for (const at of ['@', '%40']) {
      const { status, body } = await get(`/v1/apis/bank${at}${PROVIDER}`)
      assert.equal(status, 200)
      assert.deepEqual(body, {
        ...summary,
        pay_per_call: true,
        major: 1,
        plans: [],
        deprecation: null,
        idempotent: true,
        issued_at: '2026-01-01T00:00:00.000Z',
        expires_at: '2026-01-31T00:00:00.000Z',
        operation_count: 1,
        operations: signed.manifest.api.operations,
        sdl: 'type Query { a: Int }',
        known_since: null,
        quality: { score: 0.8, calls: 0, success_rate: null, p50_ms: null, p95_ms: null },
        probed: null,
        claimed_by_owner: null
      })
    }
  })

  it('shows an API’s open plans and its end date', async () => {
    const free = { id: 'free', name: '<b>Free', fee: 0n, period: 'year', trialDays: 0, overage: [], since: 0 } as const
    const plans = [
      { ...free, closedAt: 1 },
      { ...free, id: 'month', fee: 4_000_000n, period: 'month' as const, included: 9 },
      { ...free, id: 'week', fee: 1_000_000n, period: 'week' as const }
    ]
    const deprecation = { at: 0, sunsetAt: 86_400_000, successor: `new@${PROVIDER}` as const }
    const sold: SignedManifest = { ...signed, manifest: { ...signed.manifest, plans, payPerCall: false, deprecation } }
    ingress.onSearch = async () => ({
      listings: [{ ...sold, firstSeenAt: 0, matching: [], quality: { score: 0.8, calls: 0 } }]
    })
    const [listed] = (await get('/v1/apis')).body['data'] as Array<Record<string, unknown>>
    assert.equal(listed?.['pay_per_call'], false)
    assert.deepEqual(listed?.['cheapest_plan'], { id: 'month', fee: '4', period: 'month' })
    ingress.onResolve = async () => ({ signed: sold, owners: [] })
    const { body } = await get('/v1/apis/bank')
    assert.deepEqual(
      (body['plans'] as Array<Record<string, unknown>>).map(({ id, fee, included }) => [id, fee, included]),
      [
        ['month', '4', 9],
        ['week', '1', null]
      ]
    )
    assert.deepEqual(body['deprecation'], {
      at: '1970-01-01T00:00:00.000Z',
      sunset_at: '1970-01-02T00:00:00.000Z',
      successor: `new@${PROVIDER}`,
      link: null
    })
  })

  it('returns errors with status and code of the table', async () => {
    ingress.onResolve = () => Promise.reject(new SoukError('api_not_found'))
    assert.equal((await get('/v1/apis/nothing')).body['code'], 'api_not_found')
    ingress.onSearch = () => Promise.reject(new Error('secret'))
    const { status, body } = await get('/v1/apis')
    assert.deepEqual([status, body['code']], [500, 'internal_error'])
    assert.doesNotMatch(JSON.stringify(body), /secret/)
    assert.equal(ingress.log.length, 1)
  })

  it('stops the search when the client leaves', async () => {
    let aborted = false
    let asked = false
    ingress.onSearch = (_query, signal) =>
      new Promise((_, reject) => {
        asked = true
        signal?.addEventListener('abort', () => {
          aborted = true
          reject(signal.reason as Error)
        })
      })
    const client = new RawClient(ingress.port).send('GET /v1/apis HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually(() => asked)
    client.destroy()
    await eventually(() => aborted)
  })
})

describe('ingress: its addresses', () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com']) {
    it(`refuses ${host} without TLS`, async () => {
      await assert.rejects(startIngress({ host }), { code: 'config_invalid', message: /unencrypted/ })
    })
  }

  it('accepts a public address behind a TLS proxy', async () => {
    const ingress = await startIngress({ host: '0.0.0.0', trustProxy: true })
    assert.equal((await fetch(`${ingress.url}/livez`)).status, 200)
    assert.match(ingress.url, /^http:\/\/127\.0\.0\.1:/)
    await ingress.close()
  })

  it('moves up from a busy port, unless it was requested', async () => {
    const first = await startIngress()
    const second = await startIngress({ port: first.port })
    assert.ok(second.port > first.port)
    await assert.rejects(startIngress({ port: first.port, exact: true }), { code: 'port_busy' })
    await Promise.all([first.close(), second.close()])
  })

  it('supports TLS', async () => {
    const ingress = await startIngress({ host: '0.0.0.0', tls: SELF_SIGNED })
    assert.match(ingress.url, /^https:/)
    // An unfinished TLS handshake must not delay the shutdown.
    const silent = new RawClient(ingress.port)
    const status = await new Promise((resolve, reject) => {
      request(`${ingress.url}/livez`, { ca: SELF_SIGNED.cert }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end()
    })
    assert.equal(status, 200)
    silent.destroy()
    await ingress.close()
  })
})

describe('ingress: shutdown', () => {
  const call = (ingress: Running) =>
    `POST /api/demo/api/ticker HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'

  it('waits for running calls, accepts no new ones, and closes idle connections', async () => {
    const ingress = await startIngress()
    let finish = () => {}
    ingress.onCall = async () => {
      await new Promise<void>((resolve) => (finish = resolve))
      return answer()
    }
    const unused = new RawClient(ingress.port)
    const idle = new RawClient(ingress.port).send('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n')
    await idle.until('{"status":"ok"}')
    const busy = new RawClient(ingress.port).send(call(ingress))
    await eventually(() => ingress.calls.length === 1)

    let ended = false
    const end = ingress.close().then(() => (ended = true))
    await Promise.all([unused.closed(), idle.closed()])
    await assert.rejects(fetch(`${ingress.url}/livez`))
    assert.equal(ended, false)
    finish()
    assert.match(await busy.closed(), /^HTTP\/1\.1 200 .*\{"ok":true\}$/s)
    await end
  })

  it('serves liveness probes on busy connections, but no new calls', async () => {
    const ingress = await startIngress()
    const running: (() => void)[] = []
    ingress.onCall = async () => {
      await new Promise<void>((resolve) => running.push(resolve))
      return answer()
    }
    const clients = ['/livez', '/readyz', '/v1/apis'].map((path) => ({ path, client: new RawClient(ingress.port) }))
    for (const { client } of clients) client.send(call(ingress))
    await eventually(() => running.length === 3)
    const end = ingress.close()
    for (const { path, client } of clients) client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await Promise.all(clients.map(({ client }) => client.written()))
    for (const finish of running) finish()
    const [alive = '', ready = '', search = ''] = await Promise.all(clients.map(({ client }) => client.closed()))
    assert.match(alive, /\{"ok":true\}HTTP\/1\.1 200 /)
    for (const refused of [ready, search]) {
      assert.match(refused, /\{"ok":true\}HTTP\/1\.1 503 .*"code":"overloaded"/s)
    }
    await end
  })

  it('cuts calls that run longer than the limit', async () => {
    const ingress = await startIngress({ drainMs: 100 })
    ingress.onCall = () => new Promise(() => {})
    const client = new RawClient(ingress.port).send(call(ingress))
    await eventually(() => ingress.calls.length === 1)
    await ingress.close()
    assert.equal(await client.closed(), '')
    await eventually(() => ingress.calls[0]?.signal?.aborted === true)
  })

  it('may be requested twice', async () => {
    const ingress = await startIngress()
    await Promise.all([ingress.close(), ingress.close()])
  })
})
