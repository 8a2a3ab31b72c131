import assert from 'node:assert/strict'
import { answer, eventually, RawClient, type Running, startIngress } from './harness.ts'

describe('ingress: hostile requests', () => {
  let ingress: Running
  beforeEach(async () => {
    ingress = await startIngress()
  })
  afterEach(() => ingress.close())

  const problemOf = (received: string): Record<string, unknown> => {
    const [head = '', body = ''] = received.split('\r\n\r\n')
    assert.match(head, /\r\ncontent-type: application\/problem\+json/i)
    assert.match(head, /\r\nx-request-id: [0-9a-f-]{36}/i)
    const problem = JSON.parse(body) as Record<string, unknown>
    assert.equal(problem['status'], Number(head.slice(9, 12)))
    assert.doesNotMatch(body, /HPE_|FST_|ERR_|\.[jt]s:\d|\n\s+at /)
    return problem
  }

  for (const [what, request, status, code] of [
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00', 400, 'invalid_request'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
    ['an unknown version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
    ['a header without a name', 'GET /livez HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400, 'invalid_request'],
    ['a folded header', 'GET /livez HTTP/1.1\r\nHost: x\r\nA: b\r\n\x01 c\r\n\r\n', 400, 'invalid_request'],
    ['a negative length', 'POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400, 'invalid_request'],
    [
      'two lengths',
      'POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
      400,
      'invalid_request'
    ],
    [
      'a length and chunks, as in request smuggling',
      'POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid_request'
    ],
    ['no host', 'GET /livez HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
    ['two hosts', 'GET /livez HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n', 400, 'invalid_request'],
    ['the same host twice', 'GET /livez HTTP/1.1\r\nHost: x\r\nHOST: x\r\n\r\n', 400, 'invalid_request'],
    [
      'a target whose host differs from the header',
      'GET http://y/livez HTTP/1.1\r\nHost: x\r\n\r\n',
      400,
      'invalid_request'
    ],
    [
      'a header above the size limit',
      `GET /livez HTTP/1.1\r\nHost: x\r\nA: ${'b'.repeat(17_000)}\r\n\r\n`,
      413,
      'request_too_large'
    ],
    ['a URL larger than any', `GET /${'b'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 413, 'request_too_large'],
    ['a broken percent-encoding', 'GET /v1/apis/%zz HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
    ['a percent-encoding that is not UTF-8', 'GET /v1/apis/%ff HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
    ['a name longer than any', `GET /v1/apis/${'a'.repeat(300)} HTTP/1.1\r\nHost: x\r\n\r\n`, 413, 'request_too_large'],
    ['an expectation', 'GET /livez HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n', 400, 'invalid_request'],
    ['a path that leads nowhere', 'GET /etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'api_not_found'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'api_not_found'],
    ['an asterisk for a page', 'GET * HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
    ['a wrong method', 'DELETE /v1/apis HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
    ['an unknown method', 'TRACE /api/demo/api/x HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
    ['a method of WebDAV', 'PROPFIND /api/demo/api/x HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
    ['a method that needs a body', 'QUERY /api/demo/api/x HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
    [
      'a wrong method with a malformed type',
      'POST /v1/apis HTTP/1.1\r\nHost: x\r\nContent-Type: ?\r\nContent-Length: 2\r\n\r\n{}',
      405,
      'method_not_allowed'
    ],
    ['no path, with a method that needs a body', 'QUERY /nope HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'api_not_found'],
    [
      'an unsupported upgrade',
      'GET /api/demo/api/x HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
      426,
      'upgrade_required'
    ]
  ] as const) {
    it(`${what}: ${status} ${code}`, async () => {
      const client = new RawClient(ingress.port).send(request)
      const received = await client.until('"source":"ingress"}')
      assert.equal(problemOf(received)['code'], code)
      assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} `))
      client.destroy()
      assert.equal((await fetch(`${ingress.url}/livez`)).status, 200, 'the next request is served')
    })
  }

  it('returns the allowed methods', async () => {
    const response = await fetch(`${ingress.url}/v1/apis`, { method: 'POST' })
    assert.equal(response.headers.get('allow'), 'GET, HEAD')
  })

  it('closes a CONNECT', async () => {
    await new RawClient(ingress.port).send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n').closed()
  })

  for (const target of ['/api/demo/api/x/\xe9', '/api/demo/api/x?q=\xe9', '/api/demo/api/x/#fragment']) {
    it(`rejects the unencoded target ${JSON.stringify(target)}`, async () => {
      const client = new RawClient(ingress.port)
      const line = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\n\r\n`, 'latin1')
      const received = await client.send(line).until('"source":"ingress"}')
      assert.equal(problemOf(received)['code'], 'invalid_request')
      assert.equal(ingress.calls.length, 0)
      client.destroy()
    })
  }

  it('accepts a target in absolute form, as sent to proxies', async () => {
    const client = new RawClient(ingress.port)
    client.send(`GET http://x/api/demo/api/ticker/a?b HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\n\r\n`)
    await client.until('{"ok":true}')
    assert.equal(ingress.calls[0]?.path, '/a?b')
    client.destroy()
  })

  for (const [name, ...values] of [
    ['X-Consumer-Key', 'key', 'other'],
    ['Idempotency-Key', 'a', 'b'],
    ['Souk-Max-Price', '1', '2'],
    ['Souk-Timeout-Ms', '1000', '2000'],
    ['PAYMENT-SIGNATURE', 'e30=', 'e31=']
  ] as const) {
    it(`rejects a ${name} of two values, as a call and as a WebSocket`, async () => {
      const [first, second] = values.map((value) => `${name}: ${value === 'key' ? ingress.key : value}\r\n`)
      const key = name === 'X-Consumer-Key' ? '' : `X-Consumer-Key: ${ingress.key}\r\n`
      const upgrade =
        'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n'
      for (const how of ['', upgrade]) {
        const client = new RawClient(ingress.port)
        client.send(`GET /api/demo/api/ticker HTTP/1.1\r\nHost: x\r\n${how}${key}${first}${second}\r\n`)
        const { code, detail } = problemOf(await client.until('"source":"ingress"}'))
        assert.equal(code, 'invalid_request')
        assert.equal(detail, `The header ${name} has 2 values. Send it once.`)
        client.destroy()
      }
      assert.equal(ingress.calls.length, 0)
    })
  }

  it('takes headers that a client sends twice with one value', async () => {
    const client = new RawClient(ingress.port)
    const headers = `X-Consumer-Key: ${ingress.key}\r\nIdempotency-Key: a\r\nSouk-Timeout-Ms: 1000\r\n`
    client.send(`GET /api/demo/api/ticker HTTP/1.1\r\nHost: x\r\n${headers}${headers}\r\n`)
    await client.until('{"ok":true}')
    assert.equal(ingress.calls[0]?.idempotencyKey, 'a')
    client.destroy()
  })

  it('takes one Idempotency-Key that contains a comma', async () => {
    const client = new RawClient(ingress.port)
    const headers = `X-Consumer-Key: ${ingress.key}\r\nIdempotency-Key: a, b\r\n`
    client.send(`GET /api/demo/api/ticker HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)
    await client.until('{"ok":true}')
    assert.equal(ingress.calls[0]?.idempotencyKey, 'a, b')
    client.destroy()
  })

  it('responds to pipelined requests in order', async () => {
    const one = (name: string) =>
      `GET /api/demo/api/${name} HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\n\r\n`
    const client = new RawClient(ingress.port).send(one('a') + one('B') + one('c'))
    await eventually(() => (client.received.match(/HTTP\/1\.1 /g) ?? []).length >= 3)
    assert.deepEqual(
      [...client.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
      ['200', '400', '200']
    )
    client.destroy()
  })

  it('rejects a keyless request and keeps the connection if its body is small', async () => {
    const client = new RawClient(ingress.port)
    client.send(
      'POST /api/demo/api/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
    )
    await client.until('key_missing')
    client.send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
    await client.until('{"status":"ok"}')
    client.destroy()
  })

  it('cuts a stream instead of inserting the error for later garbage', async () => {
    let end = () => {}
    ingress.onCall = () => ({
      ...answer(),
      body: (async function* () {
        yield Buffer.from('first')
        await new Promise<void>((resolve) => (end = resolve))
      })()
    })
    const client = new RawClient(ingress.port)
    client.send(`GET /api/demo/api/x HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\n\r\n`)
    await client.until('first')
    client.send('\x00garbage\r\n\r\n')
    const received = await client.closed()
    assert.doesNotMatch(received, /problem\+json/)
    end()
  })
})

describe('ingress: slow requests', () => {
  for (const [what, start] of [
    ['headers', 'POST /api/demo/api/x HTTP/1.1\r\nHost: x\r\n'],
    [
      'a body',
      'POST /api/demo/api/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'
    ]
  ] as const) {
    it(`that never finish ${what} are ended`, async () => {
      const ingress = await startIngress({ receiveMs: 300 })
      const client = new RawClient(ingress.port)
      const key = `X-Consumer-Key: ${ingress.key}\r\n`
      client.send(start.replace('Host: x\r\n', `Host: x\r\n${key}`))
      await client.until('The request did not arrive in time.')
      await client.closed()
      assert.equal(ingress.calls.length, 0)
      await ingress.close()
    })
  }
})
