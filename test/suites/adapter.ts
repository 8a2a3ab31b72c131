import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { ByteBudget } from '../../lib/base/byte-budget.ts'
import type { ErrorCode } from '../../lib/base/errors.ts'
import { JSON_DEPTH_MAX, RESPONSE_BYTES_MAX } from '../../lib/base/limits/call.ts'
import { INLINE_BODY_BYTES_MAX } from '../../lib/base/limits/link.ts'
import type { Adapter, UpstreamConfig } from '../../lib/interface/adapter.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import {
  type AdapterSubject,
  type Bench,
  bytesOf,
  FOREVER,
  jsonOf,
  plainCall,
  rejectsWith
} from '../helpers/adapter-bench.ts'
import {
  answering,
  type Behaviour,
  resetting,
  type ScriptedUpstream,
  scriptedUpstream
} from '../helpers/scripted-upstream.ts'
import { inspectionCases, lifeCases, timeCases } from './adapter-life.ts'

/** The contract of `lib/interface/adapter.ts`, case by case. */
export function adapterSuite(subject: AdapterSubject): void {
  describe(`${subject.factory.protocol} implements the Adapter contract`, () => {
    const opened: Adapter[] = []
    let upstream: ScriptedUpstream
    let snapshot: string
    let bench: Bench

    before(async () => {
      const described = await scriptedUpstream(subject.inspectable)
      const endpoint = described.url + subject.endpointPath
      snapshot = (await subject.factory.inspect({ endpoint }, FOREVER)).snapshot.replaceAll(
        described.url,
        'http://souk.test'
      )
      await described.close()
    })
    beforeEach(async () => {
      upstream = await scriptedUpstream(answering(200, subject.answer.headers, subject.answer.body))
      const endpoint = upstream.url + subject.endpointPath
      // A snapshot may contain the upstream's address, as a WSDL does, so each test server has its own.
      const open = (config: Partial<UpstreamConfig> = {}) => {
        const adapter = subject.factory.open(
          { endpoint, ...config },
          snapshot.replaceAll('http://souk.test', upstream.url)
        )
        opened.push(adapter)
        return adapter
      }
      const inspect: Bench['inspect'] = (config = {}, signal = FOREVER) =>
        subject.factory.inspect({ endpoint, ...config }, signal)
      bench = { subject, upstream, adapter: open(), open, inspect }
    })
    afterEach(async () => {
      for (const adapter of opened.splice(0)) await adapter.close?.()
      await upstream.close()
    })

    const given = () => bench
    describe('responses', () => answerCases(given))
    describe('failures of the upstream', () => failureCases(given))
    describe('requests', () => requestCases(given))
    describe('time and cancelling', () => timeCases(given))
    describe('concurrency and closing', () => lifeCases(given))
    describe('inspection', () => inspectionCases(given))
  })
}

function answerCases(given: () => Bench): void {
  it('converts the response to JSON for the consumer', async () => {
    const { adapter, subject } = given()
    const reply = await adapter.call(plainCall(subject.call), FOREVER)
    assert.equal(reply.status, 200)
    assert.equal(reply.success, true)
    assert(reply.upstreamMs > 0)
    const types = reply.headers.filter(([name]) => name === 'content-type')
    assert.equal(types.length, 1)
    assert.match(types[0]?.[1] ?? '', /^application\/(?:[a-z.-]+\+)?json/)
    assert.deepEqual(await jsonOf(reply), subject.reply)
  })

  it('returns a small response as a whole', async () => {
    const { adapter, subject } = given()
    assert((await adapter.call(plainCall(subject.call), FOREVER)).body instanceof Uint8Array)
  })

  it('accepts a response in many small pieces', async () => {
    const { adapter, subject, upstream } = given()
    upstream.behave((response) => {
      response.writeHead(200, subject.answer.headers)
      for (const byte of Buffer.from(subject.answer.body)) response.write(Buffer.of(byte))
      response.end()
    })
    assert.deepEqual(await jsonOf(await adapter.call(plainCall(subject.call), FOREVER)), subject.reply)
  })

  it('decodes a compressed response', async () => {
    const { adapter, subject, upstream } = given()
    const headers = { ...subject.answer.headers, 'content-encoding': 'gzip' }
    upstream.behave(answering(200, headers, gzipSync(subject.answer.body)))
    const reply = await adapter.call(plainCall(subject.call), FOREVER)
    assert(!reply.headers.some(([name]) => name === 'content-encoding' || name === 'content-length'))
    assert.deepEqual(await jsonOf(reply), subject.reply)
  })

  for (const status of [400, 404, 429, 500, 503]) {
    it(`passes on the upstream's ${status} as a failure`, async () => {
      const { adapter, subject, upstream } = given()
      upstream.behave(answering(status, { 'content-type': 'text/plain', 'retry-after': '7' }, 'not now'))
      const reply = await adapter.call(plainCall(subject.call), FOREVER)
      assert.equal(reply.status, status)
      assert.equal(reply.success, false)
      assert(reply.headers.some(([name, value]) => name === 'retry-after' && value === '7'))
      await bytesOf(reply.body)
    })
  }

  it('drops cookies, framing and challenges of the upstream', async () => {
    const { adapter, subject, upstream } = given()
    const own = {
      'set-cookie': 'session=1',
      'www-authenticate': 'Basic',
      connection: 'close',
      location: '/inner',
      server: 'x'
    }
    upstream.behave(answering(200, { ...subject.answer.headers, ...own }, subject.answer.body))
    const { headers } = await adapter.call(plainCall(subject.call), FOREVER)
    const names = headers.map(([name]) => name)
    for (const name of [...Object.keys(own), 'transfer-encoding', 'content-length']) assert(!names.includes(name), name)
    for (const name of names) assert.equal(name, name.toLowerCase())
  })

  it('never buffers more of a huge response than allowed', async () => {
    const { adapter, subject, upstream } = given()
    const body = subject.huge(RESPONSE_BYTES_MAX + 1)
    upstream.behave(answering(200, subject.answer.headers, body))
    const call = adapter.call(plainCall(subject.call), FOREVER)
    if (subject.holdsResponses) {
      await rejectsWith(call, 'response_too_large')
    } else {
      const reply = await call
      assert(!(reply.body instanceof Uint8Array))
      assert.equal((await bytesOf(reply.body)).compare(body), 0)
    }
  })

  it('waits for the memory of a large response that it keeps whole', async () => {
    const { adapter, subject, upstream } = given()
    const body = subject.huge(4 * INLINE_BODY_BYTES_MAX)
    upstream.behave(answering(200, subject.answer.headers, body))
    let counted = 0
    const memory = { take: () => {}, wait: async (bytes: number) => void (counted += bytes) }
    const reply = await adapter.call({ ...plainCall(subject.call), memory }, FOREVER)
    assert.equal(counted, subject.holdsResponses ? body.length : 0)
    await bytesOf(reply.body)
  })

  it('counts the decompressed bytes of a response', async () => {
    const { adapter, subject, upstream } = given()
    const body = gzipSync(subject.huge(RESPONSE_BYTES_MAX + 1))
    upstream.behave(answering(200, { ...subject.answer.headers, 'content-encoding': 'gzip' }, body))
    const call = adapter.call(plainCall(subject.call), FOREVER)
    if (subject.holdsResponses) await rejectsWith(call, 'response_too_large')
    else assert(!((await call).body instanceof Uint8Array))
  })
}

function failureCases(given: () => Bench): void {
  const cases: ReadonlyArray<
    readonly [what: string, behaviour: (subject: AdapterSubject) => Behaviour, code: ErrorCode]
  > = [
    ['cuts the connection', () => resetting, 'upstream_unreachable'],
    ['closes without a word', () => (response) => response.socket?.end(), 'upstream_unreachable'],
    [
      'closes the connection in the middle',
      ({ answer }) =>
        (response) => {
          response.writeHead(200, { ...answer.headers, 'content-length': answer.body.length + 10 })
          response.write(answer.body, () => response.socket?.destroy())
        },
      'upstream_unreachable'
    ],
    [
      'speaks another protocol',
      () => (response) => response.socket?.end('220 mail.example ESMTP\r\n\r\n'),
      'upstream_invalid_response'
    ],
    [
      'sends endless headers',
      () => (response) => response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
      'upstream_invalid_response'
    ],
    [
      'declares a compression but does not compress',
      ({ answer }) => answering(200, { ...answer.headers, 'content-encoding': 'gzip' }, 'plain'),
      'upstream_invalid_response'
    ],
    [
      'uses an unrequested, unknown coding',
      ({ answer }) => answering(200, { ...answer.headers, 'content-encoding': 'x-own' }, answer.body),
      'upstream_invalid_response'
    ],
    [
      'redirects to another origin',
      () => answering(307, { location: 'http://203.0.113.1/' }, ''),
      'upstream_invalid_response'
    ]
  ]
  for (const [what, behaviour, code] of cases) {
    it(`is ${code} when the upstream ${what}`, async () => {
      const { adapter, subject, upstream } = given()
      upstream.behave(behaviour(subject))
      await rejectsWith(adapter.call(plainCall(subject.call), FOREVER), code)
    })
  }

  it('is upstream_unreachable if the connection is refused', async () => {
    const { adapter, subject, upstream } = given()
    await upstream.close()
    await rejectsWith(adapter.call(plainCall(subject.call), FOREVER), 'upstream_unreachable')
  })

  it('works again after each failure', async () => {
    const { adapter, subject, upstream } = given()
    upstream.behave(resetting)
    await rejectsWith(adapter.call(plainCall(subject.call), FOREVER), 'upstream_unreachable')
    upstream.behave(answering(200, subject.answer.headers, subject.answer.body))
    assert.deepEqual(await jsonOf(await adapter.call(plainCall(subject.call), FOREVER)), subject.reply)
  })
}

function requestCases(given: () => Bench): void {
  const refused: ReadonlyArray<readonly [what: string, body: Uint8Array, headers: Headers, code: ErrorCode]> = [
    ['no JSON', Buffer.from('{"a":'), [], 'invalid_request'],
    ['an empty body', Buffer.alloc(0), [], 'invalid_request'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), [], 'invalid_request'],
    ['JSON without a bottom', Buffer.from('['.repeat(100_000)), [], 'invalid_request'],
    [
      'JSON one level too deep',
      Buffer.from(`${'{"a":'.repeat(JSON_DEPTH_MAX + 1)}1${'}'.repeat(JSON_DEPTH_MAX + 1)}`),
      [],
      'invalid_request'
    ],
    ['another content type', Buffer.from('<a/>'), [['content-type', 'text/xml']], 'unsupported_media_type']
  ]
  for (const [what, body, headers, code] of refused) {
    it(`rejects ${what} before the upstream is called`, async () => {
      const { adapter, upstream } = given()
      const request = { ...plainCall(body), headers: headers.length > 0 ? headers : plainCall(body).headers }
      await rejectsWith(adapter.call(request, FOREVER), code)
      assert.equal(upstream.received.length, 0)
    })
  }

  it('reads a streamed body', async () => {
    const { adapter, subject, upstream } = given()
    const whole = plainCall(subject.call)
    async function* pieces() {
      for (const byte of await bytesOf(whole.body)) yield Uint8Array.of(byte)
    }
    await adapter.call(whole, FOREVER)
    const reply = await adapter.call({ ...whole, body: pieces() }, FOREVER)
    assert.deepEqual(await jsonOf(reply), subject.reply)
    const [first, second] = upstream.received
    assert.deepEqual([second?.target, second?.body], [first?.target, first?.body])
  })

  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
    it(`collects a body of the type ${type.split(';')[0]} only as far as there is memory for it`, async () => {
      const { adapter, upstream } = given()
      const memory = new ByteBudget(10_000).hold([])
      async function* body() {
        for (let sent = 0; sent < 20; sent++) yield Buffer.alloc(1_000, ' ')
      }
      const request = { ...plainCall({}), headers: [['content-type', type]] as const, body: body(), memory }
      await rejectsWith(adapter.call(request, FOREVER), 'overloaded')
      assert.equal(upstream.received.length, 0)
    })
  }

  it('sends the upstream the trace, but no credentials of the consumer', async () => {
    const { adapter, subject, upstream } = given()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const secrets: Headers = [
      ['x-consumer-key', 'souk_live_x'],
      ['authorization', 'Bearer x'],
      ['cookie', 'a=b'],
      ['proxy-authorization', 'Basic x'],
      ['host', 'evil.example'],
      ['content-length', '1'],
      ['transfer-encoding', 'chunked'],
      ['x-forwarded-for', '203.0.113.1']
    ]
    await adapter.call(plainCall(subject.call, [...secrets, ['traceparent', traceparent]]), FOREVER)
    const seen = upstream.received[0]?.headers ?? {}
    assert.equal(seen.traceparent, traceparent)
    assert.equal(`http://${seen.host}`, upstream.url)
    for (const name of [
      'x-consumer-key',
      'authorization',
      'cookie',
      'proxy-authorization',
      'x-forwarded-for',
      'transfer-encoding'
    ]) {
      assert.equal(seen[name], undefined, name)
    }
  })

  it('prevents header injection', async () => {
    const { adapter, subject, upstream } = given()
    const request = plainCall(subject.call, [['accept-language', 'en\r\nx-evil: 1']])
    await rejectsWith(adapter.call(request, FOREVER), 'invalid_request')
    assert.equal(upstream.received.length, 0)
  })
}
