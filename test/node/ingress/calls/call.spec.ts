import assert from 'node:assert/strict'
import { SoukError } from '../../../../lib/index.ts'
import { answer, foundListing, PROVIDER, RawClient, type Running, startIngress } from '../harness.ts'

const OTHER = '12D3KooWGzBXbTiFcQvfTVUqRt7BsxkLzTLyGgXFVYXV1PsJMhXY'

describe('ingress: a call', () => {
  let ingress: Running
  beforeEach(async () => {
    ingress = await startIngress()
  })
  afterEach(() => ingress.close())

  const lastCall = () => {
    const call = ingress.calls.at(-1)
    assert.ok(call !== undefined)
    return call
  }
  const refusal = async (response: Response, status: number, code: string) => {
    assert.equal(response.status, status)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    const problem = (await response.json()) as Record<string, unknown>
    assert.equal(problem['code'], code)
    assert.equal(problem['status'], status)
    assert.equal(problem['type'], `https://souk.dev/problems/${code}`)
    assert.equal(problem['request_id'], response.headers.get('x-request-id'))
    assert.doesNotMatch(JSON.stringify(problem), /\.[jt]s:\d|node_modules|\n\s+at /)
    return problem
  }

  it('forwards the body’s bytes unchanged', async () => {
    const body = ' {"symbol" : "BTC\\u0055SDT",\n"amount":1.0, "amount":1e2 }'
    const response = await ingress.post('/api/demo/api/bb-sse-ticker', body)
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { ok: true })
    const { api, method, path, signal } = lastCall()
    assert.deepEqual({ api, method, path }, { api: { name: 'bb-sse-ticker' }, method: 'POST', path: '' })
    assert.equal(Buffer.from(lastCall().body as Uint8Array).toString(), body)
    assert.equal(signal?.aborted, false)
  })

  it('returns price, charge, owner, receipt, request id and timing', async () => {
    ingress.onCall = () => answer({ charged: 1_500n, price: 2_000n, receipt: Buffer.from([0xfb, 0xff]) })
    const { headers } = await ingress.post('/api/demo/api/ticker', {})
    assert.equal(headers.get('souk-charged'), '0.0015')
    assert.equal(headers.get('souk-price'), '0.002')
    assert.equal(headers.get('souk-owner'), PROVIDER)
    assert.equal(headers.get('souk-receipt'), '-_8')
    assert.equal(headers.get('souk-error-source'), null)
    assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/)
    assert.equal(
      headers.get('x-request-id')?.replaceAll('-', ''),
      Buffer.from(lastCall().requestId ?? []).toString('hex')
    )
    assert.match(
      headers.get('server-timing') ?? '',
      /^ingress;dur=[\d.]+, lookup;dur=0\.1, pay;dur=0\.05, net;dur=0\.2, owner;dur=0\.3, upstream;dur=0\.4$/
    )
  })

  it('sends no receipt header if the payment scheme signs none', async () => {
    assert.equal((await ingress.post('/api/demo/api/ticker', {})).headers.get('souk-receipt'), null)
  })

  it('forwards only harmless request headers', async () => {
    await ingress.post(
      '/api/demo/api/ticker',
      {},
      {
        accept: 'text/event-stream',
        'accept-language': 'de',
        authorization: 'Bearer secret',
        cookie: 'a=b',
        'x-forwarded-for': '10.0.0.1',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'idempotency-key': 'order 17',
        'souk-timeout-ms': '1500',
        'souk-max-price': '0.01'
      }
    )
    const call = lastCall()
    assert.deepEqual(Object.fromEntries(call.headers ?? []), {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'accept-language': 'de'
    })
    assert.equal(call.traceparent, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
    assert.equal(call.idempotencyKey, 'order 17')
    assert.equal(call.timeoutMs, 1500)
    assert.equal(call.maxPrice, '0.01')
  })

  it('ignores an invalid trace context (W3C Trace Context)', async () => {
    assert.equal((await ingress.post('/api/demo/api/ticker', {}, { traceparent: 'nonsense' })).status, 200)
    assert.equal(lastCall().traceparent, undefined)
  })

  describe('names', () => {
    for (const [path, api] of [
      [`/api/demo/api/ticker@${PROVIDER}`, { name: 'ticker', provider: PROVIDER }],
      [`/api/demo/api/ticker%40${PROVIDER}`, { name: 'ticker', provider: PROVIDER }],
      [`/api/${PROVIDER}/api/ticker`, { name: 'ticker', provider: PROVIDER }],
      [`/api/${PROVIDER}/api/ticker@${PROVIDER}`, { name: 'ticker', provider: PROVIDER }]
    ] as const) {
      it(`reads ${path.replaceAll(PROVIDER, '<provider>')}`, async () => {
        assert.equal((await ingress.post(path, {})).status, 200)
        assert.deepEqual(lastCall().api, api)
      })
    }

    it('rejects unknown scopes', async () => {
      const problem = await refusal(await ingress.post('/api/acme/api/ticker', {}), 404, 'api_not_found')
      assert.match(String(problem['detail']), /"acme".*"demo"/)
    })

    it('rejects two different providers in one path', async () => {
      await refusal(await ingress.post(`/api/${PROVIDER}/api/ticker@${OTHER}`, {}), 400, 'invalid_request')
    })

    for (const name of ['Ticker', 'tick_er', 'a'.repeat(64), 'ticker@nobody', '%00', '..%2f..%2fetc']) {
      it(`refuses the name ${name.slice(0, 20)}`, async () => {
        await refusal(await ingress.post(`/api/demo/api/${name}`, {}), 400, 'invalid_request')
        assert.equal(ingress.calls.length, 0)
      })
    }
  })

  describe('keys', () => {
    it('are required', async () => {
      const response = await ingress.post('/api/demo/api/ticker', {}, { 'x-consumer-key': '' })
      assert.match(response.headers.get('www-authenticate') ?? '', /X-Consumer-Key/)
      await refusal(response, 401, 'key_missing')
      assert.equal(ingress.calls.length, 0)
    })

    it('are checked before anything else', async () => {
      const headers = { 'x-consumer-key': 'souk_test_nonsense', 'content-type': 'text/plain' }
      await refusal(await ingress.post('/api/nowhere/api/Bad', '{', headers), 401, 'key_invalid')
    })

    it('return key_revoked from the next call after a revocation', async () => {
      const [{ id } = { id: '' }] = await ingress.keys.list()
      assert.equal((await ingress.post('/api/demo/api/ticker', {})).status, 200)
      await ingress.keys.revoke(id)
      await refusal(await ingress.post('/api/demo/api/ticker', {}), 401, 'key_revoked')
    })

    it('are never revealed', async () => {
      ingress.onCall = () => Promise.reject(new Error('boom'))
      const text = await (await ingress.post('/api/demo/api/ticker', {})).text()
      const said = text + JSON.stringify(ingress.log) + JSON.stringify(lastCall().headers)
      assert.ok(!said.includes(ingress.key))
    })
  })

  describe('bodies', () => {
    for (const type of [
      'text/plain',
      'application/xml',
      'application/jsonp',
      'application/x-www-form-urlencoded',
      ';;;'
    ]) {
      it(`are not ${type}`, async () => {
        const response = await ingress.post('/api/demo/api/ticker', '{}', { 'content-type': type })
        await refusal(response, 415, 'unsupported_media_type')
      })
    }

    it('require a content type', async () => {
      const headers = { 'x-consumer-key': ingress.key }
      const response = await fetch(`${ingress.url}/api/demo/api/ticker`, { method: 'POST', headers })
      await refusal(response, 415, 'unsupported_media_type')
    })

    it('are not compressed, whether they are collected or streamed', async () => {
      for (const coding of ['gzip', ' BR ', 'gzip, deflate', '\u00e9']) {
        const headers = { 'content-encoding': coding }
        const problem = await refusal(
          await ingress.post('/api/demo/api/ticker', '{}', headers),
          415,
          'unsupported_media_type'
        )
        assert.match(String(problem.detail), /^The body is compressed.*Send it uncompressed\.$/)
        const upload = { method: 'PUT', body: 'abc', headers: { ...headers, 'x-consumer-key': ingress.key } }
        await refusal(await fetch(`${ingress.url}/api/demo/api/ticker/x`, upload), 415, 'unsupported_media_type')
      }
      const head = `Host: x\r\nX-Consumer-Key: ${ingress.key}\r\nContent-Type: application/json\r\nTransfer-Encoding: gzip, chunked`
      const raw = new RawClient(Number(new URL(ingress.url).port))
      raw.send(`POST /api/demo/api/ticker HTTP/1.1\r\n${head}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`)
      assert.match(await raw.until('\r\n\r\n'), /^HTTP\/1\.1 415/)
      raw.socket.destroy()
      const plain = { 'content-encoding': 'identity' }
      assert.equal((await ingress.post('/api/demo/api/ticker', '{}', plain)).status, 200)
    })

    it('must be UTF-8', async () => {
      const headers = { 'content-type': 'application/json; charset=iso-8859-1' }
      await refusal(await ingress.post('/api/demo/api/ticker', '{}', headers), 415, 'unsupported_media_type')
      await refusal(await ingress.post('/api/demo/api/ticker', Buffer.from([0x22, 0xff, 0x22])), 400, 'invalid_request')
    })

    it('may declare charset=utf-8', async () => {
      const headers = { 'content-type': 'Application/JSON ; Charset="UTF-8"' }
      assert.equal((await ingress.post('/api/demo/api/ticker', '{}', headers)).status, 200)
    })

    it('with a syntax error return its position, without the content', async () => {
      const response = await ingress.post('/api/demo/api/ticker', '{"password":"hunter2",}')
      const problem = await refusal(response, 400, 'invalid_request')
      assert.equal(problem['position'], 22)
      assert.doesNotMatch(JSON.stringify(problem), /hunter2|password/)
    })

    it('must be JSON objects', async () => {
      ingress.onResolve = async () => ({ signed: foundListing('ticker'), owners: [] })
      for (const body of ['[]', '"text"', '7', 'null']) {
        const problem = await refusal(await ingress.post('/api/demo/api/ticker', body), 400, 'invalid_request')
        assert.match(String(problem['detail']), /JSON object/)
      }
    })

    it('must not be empty', async () => {
      const problem = await refusal(await ingress.post('/api/demo/api/ticker', ''), 400, 'invalid_request')
      assert.match(String(problem['detail']), /empty/)
    })

    it('are limited in nesting', async () => {
      const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
      assert.equal((await ingress.post('/api/demo/api/ticker', nested(64))).status, 200)
      await refusal(await ingress.post('/api/demo/api/ticker', nested(65)), 400, 'invalid_request')
      await refusal(await ingress.post('/api/demo/api/ticker', nested(400_000)), 400, 'invalid_request')
    })
  })

  describe('options', () => {
    for (const [header, values] of [
      ['souk-timeout-ms', ['0', '-1', '1.5', '120001', 'soon', '1e3', '']],
      ['souk-max-price', ['-1', '1e3', 'free', '0.0000001', '']],
      ['idempotency-key', ['x'.repeat(256), '']]
    ] as const) {
      it(`refuses a wrong ${header}`, async () => {
        for (const value of values) {
          const response = await ingress.post('/api/demo/api/ticker', {}, { [header]: value })
          await refusal(response, 400, 'invalid_request')
        }
      })
    }
  })

  describe('other methods and sub-paths', () => {
    const send = (
      method: string,
      path: string,
      init: { body?: string | Uint8Array<ArrayBuffer>; headers?: Record<string, string> } = {}
    ) => fetch(ingress.url + path, { method, ...init, headers: { 'x-consumer-key': ingress.key, ...init.headers } })

    it('are forwarded exactly as sent', async () => {
      for (const [method, tail] of [
        ['GET', '?symbol=BTC%2FUSD&x='],
        ['GET', '/'],
        ['DELETE', '/orders/%7Bid%7D/a%2Fb?force'],
        ['HEAD', '/orders'],
        ['PUT', '/orders//7']
      ] as const) {
        assert.equal((await send(method, `/api/demo/api/ticker${tail}`)).status, 200)
        const call = lastCall()
        assert.deepEqual([call.method, call.path], [method, tail])
        assert.equal((call.body as Uint8Array).length, 0)
      }
    })

    it('may have any JSON body, which must be valid', async () => {
      const json = { 'content-type': 'application/json' }
      assert.equal((await send('PUT', '/api/demo/api/ticker/x', { body: '[1]', headers: json })).status, 200)
      assert.equal(Buffer.from(lastCall().body as Uint8Array).toString(), '[1]')
      const broken = await send('POST', '/api/demo/api/ticker/x', { body: '[1', headers: json })
      await refusal(broken, 400, 'invalid_request')
    })

    it('require a JSON body for a plain POST, even with a query', async () => {
      const response = await send('POST', '/api/demo/api/ticker?x=1', { body: 'text' })
      await refusal(response, 415, 'unsupported_media_type')
    })

    it('stream bodies that are not JSON', async () => {
      const sent = Buffer.alloc(300_000, 'souk')
      let received = Buffer.alloc(0)
      ingress.onCall = async ({ body }) => {
        assert.ok(!(body instanceof Uint8Array))
        for await (const chunk of body as AsyncIterable<Uint8Array>) received = Buffer.concat([received, chunk])
        return answer({ status: 201 })
      }
      const response = await send('PUT', '/api/demo/api/files/a.bin', {
        body: sent,
        headers: { 'content-type': 'application/octet-stream' }
      })
      assert.equal(response.status, 201)
      assert.ok(received.equals(sent))
      assert.deepEqual(lastCall().headers?.find(([name]) => name === 'content-type')?.[1], 'application/octet-stream')
    })

    it('are rejected by the owner, not by the ingress', async () => {
      ingress.onCall = () => Promise.reject(new SoukError('method_not_allowed', 'Only POST.', { source: 'owner' }))
      const response = await send('GET', '/api/demo/api/ticker')
      assert.equal(response.headers.get('allow'), 'POST')
      assert.equal((await refusal(response, 405, 'method_not_allowed'))['source'], 'owner')
    })

    it('reject an overlong sub-path', async () => {
      const response = await send('GET', `/api/demo/api/ticker/${'x'.repeat(8 * 1024)}`)
      await refusal(response, 413, 'request_too_large')
    })
  })

  describe('errors', () => {
    it('carry code, status, members and source from the table', async () => {
      ingress.onCall = () =>
        Promise.reject(
          new SoukError('name_conflict', 'Two providers.', { source: 'owner', members: { candidates: ['a', 'b'] } })
        )
      const problem = await refusal(await ingress.post('/api/demo/api/ticker', {}), 409, 'name_conflict')
      assert.deepEqual(problem['candidates'], ['a', 'b'])
      assert.equal(problem['source'], 'owner')
      assert.equal(problem['charged'], false)
      assert.equal(problem['amount_charged'], '0')
    })

    it('say when to retry', async () => {
      ingress.onCall = () => Promise.reject(new SoukError('overloaded', undefined, { retryAfterMs: 1_200 }))
      const response = await ingress.post('/api/demo/api/ticker', {})
      assert.equal(response.headers.get('retry-after'), '2')
      assert.equal((await refusal(response, 503, 'overloaded'))['retryable'], true)
    })

    it('keep status 400 of a SOAP fault', async () => {
      ingress.onCall = () => Promise.reject(new SoukError('soap_fault', 'No such account.', { status: 400 }))
      await refusal(await ingress.post('/api/demo/api/bank', {}), 400, 'soap_fault')
    })

    it('hide unexpected errors and log them', async () => {
      const cause = new Error('secret internals')
      ingress.onCall = () => Promise.reject(cause)
      const problem = await refusal(await ingress.post('/api/demo/api/ticker', {}), 500, 'internal_error')
      assert.doesNotMatch(JSON.stringify(problem), /secret/)
      const [entry] = ingress.log
      assert.equal(entry?.level, 'error')
      assert.deepEqual(entry.facts, { request_id: problem['request_id'], cause })
    })

    it('are not logged as errors of this node if they are those of another', async () => {
      const error = new SoukError('internal_error', undefined, { source: 'owner' })
      ingress.onCall = () => Promise.reject(error)
      await refusal(await ingress.post('/api/demo/api/ticker', {}), 500, 'internal_error')
      assert.deepEqual(ingress.log, [])
    })

    it("forward an upstream's own errors, marked as such", async () => {
      ingress.onCall = () => answer({ status: 422, charged: 0n, body: Buffer.from('{"field":"symbol"}') })
      const response = await ingress.post('/api/demo/api/ticker', {})
      assert.equal(response.status, 422)
      assert.equal(response.headers.get('souk-error-source'), 'upstream')
      assert.equal(response.headers.get('souk-charged'), '0')
      assert.equal(await response.text(), '{"field":"symbol"}')
    })
  })
})
