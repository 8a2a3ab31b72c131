import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { SoukError } from '../../../lib/base/errors.ts'
import { INLINE_BODY_BYTES_MAX } from '../../../lib/base/limits/link.ts'
import type { Adapter, AdapterRequest } from '../../../lib/interface/adapter.ts'
import type { Headers } from '../../../lib/interface/payload.ts'
import { restFactory } from '../../../protocols/rest/rest-factory.ts'
import { bytesOf, FOREVER, jsonOf, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import {
  answering,
  type Behaviour,
  type ScriptedUpstream,
  scriptedUpstream,
  until
} from '../../helpers/scripted-upstream.ts'

const json = { 'content-type': 'application/json' }

describe('a REST call', () => {
  let upstream: ScriptedUpstream
  let posting: Adapter
  let getting: Adapter

  beforeEach(async () => {
    upstream = await scriptedUpstream(answering(200, json, '{}'))
    posting = restFactory.open({ endpoint: `${upstream.url}/v1/candles` }, '')
    getting = restFactory.open({ endpoint: `${upstream.url}/v1/candles?key=secret`, method: 'GET' }, '')
  })
  afterEach(async () => {
    await posting.close?.()
    await getting.close?.()
    await upstream.close()
  })

  const last = () => upstream.received.at(-1) ?? assert.fail('nothing was received')
  const forwarded = (method: string, path: string, more: Partial<AdapterRequest> = {}) =>
    posting.call({ method, path, headers: [], body: new Uint8Array(), ...more }, FOREVER)

  it('posts the body unchanged', async () => {
    const body = '{ "n": 12345678901234567890, "a": 1, "a": 2, "text": "]]]\\"}" }'
    await posting.call(plainCall(Buffer.from(body)), FOREVER)
    const { method, target, headers } = last()
    assert.deepEqual([method, target, last().body.toString()], ['POST', '/v1/candles', body])
    assert.equal(headers['content-type'], 'application/json')
  })

  it('prefers JSON in calls that accept anything, and passes on other wishes', async () => {
    const sent = async (...headers: Headers) => {
      await posting.call({ ...plainCall({}), headers }, FOREVER)
      return last().headers.accept
    }
    assert.equal(await sent(), 'application/json, */*;q=0.5')
    assert.equal(await sent(['accept', '*/*']), 'application/json, */*;q=0.5')
    assert.equal(await sent(['accept', 'text/csv, */*']), 'text/csv, */*')
  })

  for (const body of ['[1,2]', '"text"', '7', 'null', ' {} ']) {
    it(`posts ${body}, which is valid JSON`, async () => {
      await posting.call(plainCall(Buffer.from(body)), FOREVER)
      assert.equal(last().body.toString(), body)
    })
  }

  for (const type of ['application/json; charset=utf-8', 'application/vnd.api+json', 'Application/JSON']) {
    it(`accepts ${type} as JSON`, async () => {
      await posting.call({ ...plainCall({}), headers: [['content-type', type]] }, FOREVER)
      assert.equal(last().headers['content-type'], 'application/json')
    })
  }

  it('does not count brackets in strings as depth', async () => {
    await posting.call(plainCall({ text: '[{'.repeat(1_000), quote: '\\"[' }), FOREVER)
    assert.equal(upstream.received.length, 1)
  })

  it('converts the fields to query parameters if the API is read by GET', async () => {
    const body =
      '{"symbol":"BTC USD&x=1","n":12345678901234567890,"f":1.10,"on":true,"off":null,"tags":["a",2,false],"none":[]}'
    const headers: Headers = [['accept', 'text/event-stream']]
    await getting.call(plainCall(Buffer.from(body), headers), FOREVER)
    assert.equal(last().method, 'GET')
    assert.equal(
      last().target,
      '/v1/candles?key=secret&symbol=BTC+USD%26x%3D1&n=12345678901234567890&f=1.10&on=true&tags=a&tags=2&tags=false'
    )
    assert.equal(last().body.length, 0)
    assert.equal(last().headers['content-type'], undefined)
    assert.equal(last().headers.accept, 'text/event-stream')
  })

  for (const body of [
    '{"a":{}}',
    '{"a":[[1]]}',
    '{"a":[{}]}',
    '[1]',
    '7',
    'null',
    '{"key":"mine"}',
    `{"a":"${'x'.repeat(9_000)}"}`
  ]) {
    it(`rejects ${body.slice(0, 20)} as query parameters`, async () => {
      await rejectsWith(getting.call(plainCall(Buffer.from(body)), FOREVER), 'invalid_request')
      assert.equal(upstream.received.length, 0)
    })
  }

  it('sends no parameters for an empty object', async () => {
    await getting.call(plainCall({}), FOREVER)
    assert.equal(last().target, '/v1/candles?key=secret')
  })

  it('forwards methods, sub-paths and other bodies', async () => {
    const headers: Headers = [['content-type', 'text/csv']]
    await forwarded('PUT', '/7?x=1', { headers, body: Buffer.from('a;b') })
    assert.deepEqual([last().method, last().target, last().body.toString()], ['PUT', '/v1/candles/7?x=1', 'a;b'])
    assert.equal(last().headers['content-type'], 'text/csv')
    await forwarded('POST', '/7', { headers, body: Buffer.from('a;b') })
    assert.equal(last().target, '/v1/candles/7')
    await forwarded('DELETE', '/7')
    assert.equal(last().method, 'DELETE')
  })

  it('sends the content of a GET, as searches of Elasticsearch have it', async () => {
    const headers: Headers = [['content-type', 'application/json']]
    for (const body of [Buffer.from('{"query":{}}'), Readable.from([Buffer.from('{"query":'), Buffer.from('{}}')])]) {
      await forwarded('GET', '/_search', { body, headers })
      assert.deepEqual([last().method, last().body.toString()], ['GET', '{"query":{}}'])
      assert.equal(last().headers['content-type'], 'application/json')
    }
  })

  it('sends no type with a GET without content', async () => {
    for (const body of [new Uint8Array(), Readable.from([])]) {
      await forwarded('GET', '/7', { body, headers: [['content-type', 'text/csv']] })
      assert.deepEqual([last().method, last().body.length, last().headers['content-type']], ['GET', 0, undefined])
    }
  })

  describe('forwarded with a streamed body', () => {
    const redirect: Behaviour = (response, { target }) =>
      target === '/v1/candles/end' ? response.end() : response.writeHead(307, { location: '/v1/candles/end' }).end()

    it('repeats a small one for a redirect, with its length', async () => {
      upstream.behave(redirect)
      const body = Readable.from([Buffer.alloc(INLINE_BODY_BYTES_MAX - 1, 'a'), Buffer.from('b')])
      await forwarded('PUT', '/7', { body })
      assert.equal(last().target, '/v1/candles/end')
      assert.equal(last().body.length, INLINE_BODY_BYTES_MAX)
      assert.equal(last().headers['content-length'], String(INLINE_BODY_BYTES_MAX))
    })

    it('streams a larger one, which cannot be repeated', async () => {
      const chunks = () => Readable.from([Buffer.from('a'), Buffer.alloc(INLINE_BODY_BYTES_MAX, 'b'), Buffer.from('c')])
      await forwarded('PUT', '/7', { body: chunks() })
      assert.equal(last().body.toString(), `a${'b'.repeat(INLINE_BODY_BYTES_MAX)}c`)
      assert.equal(last().headers['content-length'], undefined)
      upstream.behave(redirect)
      await rejectsWith(forwarded('PUT', '/7', { body: chunks() }), 'upstream_invalid_response')
    })

    it('sends nothing if it fails early, or if memory is short', async () => {
      async function* failing() {
        yield Buffer.from('a')
        await Promise.reject(new Error('gone'))
      }
      await rejectsWith(forwarded('PUT', '/7', { body: failing() }), 'call_interrupted')
      const full = new SoukError('overloaded')
      const memory = { take: () => assert.fail(full), wait: () => Promise.resolve() }
      const body = Readable.from([Buffer.from('a')])
      await rejectsWith(forwarded('PUT', '/7', { body, memory }), 'overloaded')
      assert(body.destroyed)
      assert.equal(upstream.received.length, 0)
    })
  })

  it('responds to HEAD with headers only', async () => {
    upstream.behave(answering(200, { ...json, 'content-length': '1000000' }, ''))
    const reply = await forwarded('HEAD', '')
    assert.equal(reply.success, true)
    assert.equal((await bytesOf(reply.body)).length, 0)
  })

  it('never leaves the path of the endpoint', async () => {
    await rejectsWith(forwarded('GET', '/../admin'), 'invalid_request')
    await rejectsWith(forwarded('GET', '//evil.example'), 'invalid_request')
    await rejectsWith(forwarded('CONNECT', '/x'), 'method_not_allowed')
    assert.equal(upstream.received.length, 0)
  })

  for (const [status, success] of [
    [200, true],
    [201, true],
    [204, true],
    [304, false],
    [400, false],
    [500, false]
  ] as const) {
    it(`counts ${status} as ${success ? 'a success' : 'a failure'}`, async () => {
      upstream.behave(answering(status, {}, ''))
      assert.equal((await posting.call(plainCall({}), FOREVER)).success, success)
    })
  }

  it('passes on an error of the upstream unchanged', async () => {
    upstream.behave(answering(422, { 'content-type': 'text/plain; charset=latin1' }, Buffer.from([0xe9, 0])))
    const reply = await posting.call(plainCall({}), FOREVER)
    assert.deepEqual(reply.headers, [['content-type', 'text/plain; charset=latin1']])
    assert.deepEqual([...(await bytesOf(reply.body))], [0xe9, 0])
  })

  it('streams events as they arrive, even long after the response began', async () => {
    let write: (text: string) => void = () => undefined
    upstream.behave((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      write = (text) => response.write(text)
      write('data: 1\n\n')
    })
    const reply = await posting.call(plainCall({}, [['accept', 'text/event-stream']]), FOREVER)
    assert.equal(reply.success, true)
    assert(!(reply.body instanceof Uint8Array))
    assert.equal(last().headers.accept, 'text/event-stream')
    const events = reply.body[Symbol.asyncIterator]()
    assert.equal(String((await events.next()).value), 'data: 1\n\n')
    const next = events.next()
    write('data: 2\n\n')
    assert.equal(String((await next).value), 'data: 2\n\n')
    await events.return?.()
    await until(() => last().gone, 'the upstream to lose its connection')
  })

  it('ends a stream with an error when the call is aborted', async () => {
    upstream.behave((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n'))
    const controller = new AbortController()
    const reply = await posting.call(plainCall({}), controller.signal)
    const reading = rejectsWith(bytesOf(reply.body), 'call_interrupted')
    controller.abort()
    await reading
    await until(() => last().gone, 'the upstream to lose its connection')
  })

  it('buffers JSON of unknown length, and streams it only when it is large', async () => {
    const answer = (size: number) => {
      upstream.behave((response) => {
        response.writeHead(200, json)
        response.write('"')
        setImmediate(() => response.end(`${'x'.repeat(size)}"`))
      })
      return posting.call(plainCall({}), FOREVER)
    }
    const small = await answer(1_000)
    assert(small.body instanceof Uint8Array)
    const large = await answer(INLINE_BODY_BYTES_MAX)
    assert(!(large.body instanceof Uint8Array))
    assert.equal(await jsonOf(large), 'x'.repeat(INLINE_BODY_BYTES_MAX))
  })

  it('warns at registration about conditions that will fail calls', async () => {
    const warnings = async (status: number, method?: 'GET' | 'POST') => {
      upstream.behave(answering(status, {}, ''))
      return (await restFactory.inspect({ endpoint: upstream.url, ...(method && { method }) }, FOREVER)).warnings.join()
    }
    assert.equal(await warnings(200), '')
    assert.equal(await warnings(404), '')
    assert.match(await warnings(404, 'GET'), /responds with 404 to a GET/)
    assert.match(await warnings(401), /require credentials/)
    assert.match(await warnings(402), /payment of its own/)
    assert.match(await warnings(503), /responds with 503/)
  })

  for (const method of ['PUT', 'PATCH'] as const) {
    it(`sends the body by ${method} if the API requires it`, async () => {
      const adapter = restFactory.open({ endpoint: `${upstream.url}/v1`, method }, '')
      await adapter.call(plainCall({ a: 1 }), FOREVER)
      assert.deepEqual([last().method, last().target, last().body.toString()], [method, '/v1', '{"a":1}'])
      await adapter.close?.()
    })
  }

  for (const method of ['DELETE', 'HEAD'] as const) {
    it(`converts the fields to query parameters for ${method} as well`, async () => {
      const adapter = restFactory.open({ endpoint: `${upstream.url}/v1`, method }, '')
      await adapter.call(plainCall({ a: [1, 2], b: 'x' }), FOREVER)
      assert.deepEqual([last().method, last().target, last().body.length], [method, '/v1?a=1&a=2&b=x', 0])
      await adapter.close?.()
    })
  }

  it('rejects methods that HTTP clients must not choose', () => {
    for (const method of ['TRACE', 'CONNECT', 'get', '']) {
      const config = { endpoint: upstream.url, method: method as 'GET' }
      assert.throws(() => restFactory.open(config, ''), { code: 'invalid_request' })
    }
  })

  it('passes on a partial response', async () => {
    upstream.behave(answering(206, { 'content-range': 'bytes 0-1/10', 'accept-ranges': 'bytes' }, 'ab'))
    const reply = await forwarded('GET', '/file', { headers: [['range', 'bytes=0-1']] })
    assert.equal(last().headers.range, 'bytes=0-1')
    assert.deepEqual([reply.status, reply.success], [206, true])
    assert.deepEqual(reply.headers, [
      ['accept-ranges', 'bytes'],
      ['content-range', 'bytes 0-1/10']
    ])
    assert.equal(String(await bytesOf(reply.body)), 'ab')
  })

  it('forwards additional headers if the provider allows them, but never credentials', async () => {
    const endpoint = upstream.url
    const config = { endpoint, requestHeaders: ['X-Tenant'], responseHeaders: ['X-Total'] }
    const adapter = restFactory.open(config, '')
    upstream.behave(answering(200, { 'x-total': '7', 'x-other': '8' }, '{}'))
    const reply = await adapter.call(
      plainCall({}, [
        ['x-tenant', 't'],
        ['x-else', 'e']
      ]),
      FOREVER
    )
    assert.deepEqual([last().headers['x-tenant'], last().headers['x-else']], ['t', undefined])
    assert.deepEqual(reply.headers, [['x-total', '7']])
    await adapter.close?.()
    for (const name of [
      'Authorization',
      'cookie',
      'Host',
      'x-forwarded-for',
      'x-consumer-key',
      'souk-price',
      'a b',
      ''
    ]) {
      assert.throws(() => restFactory.open({ endpoint, requestHeaders: [name] }, ''), { code: 'invalid_request' }, name)
      assert.throws(
        () => restFactory.open({ endpoint, responseHeaders: [name] }, ''),
        { code: 'invalid_request' },
        name
      )
    }
  })

  it("runs the provider's health check", async () => {
    const adapter = restFactory.open({ endpoint: `${upstream.url}/v1`, healthPath: '/health' }, '')
    await adapter.probe?.(FOREVER)
    assert.deepEqual([last().method, last().target], ['GET', '/v1/health'])
    upstream.behave(answering(500, {}, ''))
    await rejectsWith(adapter.probe?.(FOREVER) ?? assert.fail(), 'upstream_unreachable')
    await adapter.close?.()
    assert.throws(() => restFactory.open({ endpoint: upstream.url, healthPath: '/../x' }, ''), {
      code: 'invalid_request'
    })
  })
})
