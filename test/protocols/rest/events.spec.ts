import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { SSE_HEARTBEAT_MS } from '../../../lib/base/limits/upstream.ts'
import { collectEvents, isEventStream, withHeartbeat } from '../../../protocols/rest/event-stream.ts'
import { restFactory } from '../../../protocols/rest/rest-factory.ts'
import { bytesOf, FOREVER, jsonOf, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import { manualClock, settle } from '../../helpers/manual-clock.ts'
import { type ScriptedUpstream, scriptedUpstream, until } from '../../helpers/scripted-upstream.ts'

const BOUNDS = { maxEvents: 100, maxMs: 60_000 }

async function* inChunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('collected events', () => {
  const text =
    ': hello\n\nevent: candle\nid: 1\ndata: {"close": 1.5}\n\r\ndata: two\r\ndata:  lines ü\r\n\r\nid\nevent: x\n\n' +
    'retry: 5\ndata\r\r:\n\ndata: never ended'
  for (const size of [1, 2, 3, 7, 1_000]) {
    it(`are parsed by the standard, ${size} bytes at a time`, async () => {
      assert.deepEqual(await collectEvents(inChunks(text, size), BOUNDS), {
        events: [
          { event: 'candle', id: '1', data: { close: 1.5 } },
          { id: '1', data: 'two\n lines ü' },
          { id: '', data: '' }
        ],
        complete: true
      })
    })
  }

  it('keep the digits of their numbers', async () => {
    const data = '{"id":12345678901234567890,"price":1.10,"none":-0}'
    const collected = await collectEvents(inChunks(`data: ${data}\n\n`, 1_000), BOUNDS)
    assert.equal(JSON.stringify(collected.events), `[{"data":${data}}]`)
  })

  it('are limited in number, and the stream is closed then', async () => {
    let returned = false
    async function* endless() {
      try {
        for (let i = 0; ; i++) yield Buffer.from(`data: ${i}\n\ndata: again\n\n`)
      } finally {
        returned = true
      }
    }
    const { events, complete } = await collectEvents(endless(), { ...BOUNDS, maxEvents: 3 })
    assert.deepEqual([events.map(({ data }) => data), complete, returned], [[0, 'again', 1], false, true])
  })

  it('are limited in bytes', async () => {
    async function* flood() {
      for (;;) yield Buffer.alloc(1024 * 1024, 'x')
    }
    await assert.rejects(collectEvents(flood(), BOUNDS), { code: 'response_too_large' })
  })

  for (const [type, is] of [
    ['text/event-stream', true],
    ['Text/Event-Stream; charset=utf-8', true],
    ['text/event-streams', false],
    ['application/json', false]
  ] as const) {
    it(`are ${is ? '' : 'not '}in ${type}`, () => assert.equal(isEventStream(type), is))
  }
})

describe('an API with events', () => {
  let upstream: ScriptedUpstream
  beforeEach(async () => {
    upstream = await scriptedUpstream((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\ndata: 2\n\n')
    })
  })
  afterEach(() => upstream.close())

  it('is collected for a while for clients that accept no stream', async () => {
    const adapter = restFactory.open({ endpoint: upstream.url, collect: { maxEvents: 10, maxMs: 100 } }, '')
    const reply = await adapter.call(plainCall({}), FOREVER)
    assert.deepEqual(reply.headers, [['content-type', 'application/json']])
    assert.deepEqual(await jsonOf(reply), { events: [{ data: 1 }, { data: 2 }], complete: false })
    await until(() => upstream.received[0]?.gone === true, 'the stream to be given up')
    await adapter.close?.()
  })

  for (const accept of ['text/event-stream', 'application/json, text/event-stream;q=0.9']) {
    it(`is streamed to clients that accept ${accept}`, async () => {
      const adapter = restFactory.open({ endpoint: upstream.url, collect: { maxEvents: 2, maxMs: 1_000 } }, '')
      const reply = await adapter.call(plainCall({}, [['accept', accept]]), FOREVER)
      assert(!(reply.body instanceof Uint8Array))
      const chunks = reply.body[Symbol.asyncIterator]()
      assert.equal(String((await chunks.next()).value), 'data: 1\n\ndata: 2\n\n')
      await chunks.return?.()
      await until(() => upstream.received[0]?.gone === true, 'the stream to be given up')
      await adapter.close?.()
    })
  }

  it('is streamed if its provider has set no limits', async () => {
    upstream.behave((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\n'))
    const adapter = restFactory.open({ endpoint: upstream.url }, '')
    const reply = await adapter.call(plainCall({}), FOREVER)
    assert.equal(String(await bytesOf(reply.body)), 'data: 1\n\n')
    await adapter.close?.()
  })

  it('is limited by the decompressed size', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    upstream.behave((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end(bomb)
    })
    const adapter = restFactory.open({ endpoint: upstream.url, collect: { maxEvents: 10, maxMs: 10_000 } }, '')
    await rejectsWith(adapter.call(plainCall({}), FOREVER), 'response_too_large')
    const { url } = upstream
    const inspecting = restFactory.inspect({ endpoint: url, openapi: { url } }, FOREVER)
    await rejectsWith(inspecting, 'response_too_large')
    await adapter.close?.()
  })

  for (const collect of [
    { maxEvents: 0, maxMs: 1 },
    { maxEvents: 1, maxMs: 1e9 },
    { maxEvents: 1.5, maxMs: 1 }
  ]) {
    it(`rejects the limits ${JSON.stringify(collect)}`, () => {
      assert.throws(() => restFactory.open({ endpoint: upstream.url, collect }, ''), { code: 'invalid_request' })
    })
  }
})

describe('the heartbeat of a stream', () => {
  it('is a comment after silence, only between events', async () => {
    const clock = manualClock()
    let send: (text: string) => void = () => assert.fail('nobody reads')
    const source: AsyncIterator<Uint8Array> = {
      next: () => new Promise((resolve) => (send = (text) => resolve({ done: false, value: Buffer.from(text) })))
    }
    const beating = withHeartbeat({ [Symbol.asyncIterator]: () => source }, clock)[Symbol.asyncIterator]()
    const next = () => beating.next().then(({ value }) => Buffer.from(value as Uint8Array).toString())
    const silent = async (promise: Promise<string>) => {
      let seen: string | undefined
      void promise.then((text) => (seen = text))
      await clock.advance(SSE_HEARTBEAT_MS)
      await settle()
      return seen
    }
    const first = next()
    assert.equal(await silent(first), ':\n\n')
    const second = next()
    send('data: ha')
    assert.equal(await second, 'data: ha')
    const third = next()
    assert.equal(await silent(third), undefined)
    send('lf\r\n\r\n')
    assert.equal(await third, 'lf\r\n\r\n')
    assert.equal(await silent(next()), ':\n\n')
  })

  it('passes on a failed stream, even without a pending read', async () => {
    const clock = manualClock()
    let fail: (error: Error) => void = () => assert.fail('nobody reads')
    const source: AsyncIterator<Uint8Array> = { next: () => new Promise((_, reject) => (fail = reject)) }
    const beating = withHeartbeat({ [Symbol.asyncIterator]: () => source }, clock)[Symbol.asyncIterator]()
    const first = beating.next()
    await clock.advance(SSE_HEARTBEAT_MS)
    await first
    fail(new Error('broken'))
    await settle()
    await assert.rejects(beating.next(), /broken/)
  })
})
