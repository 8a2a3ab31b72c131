import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type AddressInfo, type Server, createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { ByteBudget } from '../../../lib/base/byte-budget.ts'
import { type Clock, systemClock } from '../../../lib/base/clock.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import { STREAM_IDLE_MS } from '../../../lib/base/limits/call.ts'
import { VALUE_SILENCE_MS } from '../../../lib/base/limits/upstream.ts'
import { type Upstream, type UpstreamRequest, createUpstream } from '../../../protocols/upstream/upstream.ts'
import { bytesOf, FOREVER, rejectsWith } from '../../helpers/adapter-bench.ts'
import { within } from '../../helpers/eventually.ts'
import {
  type Behaviour,
  type ScriptedUpstream,
  answering,
  scriptedUpstream,
  until
} from '../../helpers/scripted-upstream.ts'

const MiB = 1024 * 1024
const LIMIT_MS = 54_321
const get: UpstreamRequest = { method: 'GET', headers: [], signal: FOREVER }

/** Sends a body as fast as its reader takes it. */
function sending(bytes: number) {
  let written = 0
  const behaviour: Behaviour = (response) => {
    const more = () => {
      let flows = true
      while (flows && written < bytes) {
        flows = response.write(Buffer.alloc(64 * 1024))
        written += 64 * 1024
      }
      if (written === bytes) response.end()
    }
    response.on('drain', more)
    more()
  }
  /** Resolves with the bytes written once the buffers of both kernels and of the client are full. */
  const stalled = async (): Promise<number> => {
    let before = -1
    while (before !== written) {
      before = written
      for (let i = 0; i < 200; i++) await turn()
    }
    return written
  }
  return { behaviour, stalled }
}

describe('the response of an upstream', () => {
  const opened: Upstream[] = []
  let server: ScriptedUpstream
  let upstream: Upstream

  const open = (endpoint: string, options: { timeoutMs?: number; clock?: Clock } = {}): Upstream => {
    const made = createUpstream({ endpoint, ...options })
    opened.push(made)
    return made
  }
  beforeEach(async () => {
    server = await scriptedUpstream(answering(200, {}, 'ok'))
    upstream = open(server.url)
  })
  afterEach(async () => {
    for (const made of opened.splice(0)) await made.close()
    await server.close()
  })

  describe('head and body', () => {
    it('passes on the allow-listed headers', async () => {
      const kept = {
        allow: 'GET',
        'cache-control': 'no-store',
        'content-language': 'en',
        'content-type': 'text/plain',
        deprecation: '@1',
        etag: '"x"',
        'last-modified': 'Thu, 01 Jan 1970 00:00:00 GMT',
        link: '</next>; rel="next"',
        'retry-after': '1',
        sunset: 'Thu, 01 Jan 2099 00:00:00 GMT'
      }
      const dropped = {
        'x-powered-by': 'x',
        'proxy-authenticate': 'Basic',
        'keep-alive': 'timeout=5',
        trailer: 'x',
        age: '1'
      }
      server.behave(answering(200, { ...kept, ...dropped }, 'ok'))
      const response = await upstream.request(get)
      assert.deepEqual(Object.fromEntries(response.headers), kept)
      response.discard()
    })

    for (const link of [
      '<http://10.0.0.1/next>; rel="next"',
      '<//10.0.0.1/next>',
      '<HTTP://10.0.0.1/b>',
      '< //x>',
      'no link'
    ]) {
      it(`drops the link ${link}, which shows an internal address`, async () => {
        server.behave(answering(200, { link }, 'ok'))
        const response = await upstream.request(get)
        assert.deepEqual(response.headers, [])
        response.discard()
      })
    }

    it('passes on links and locations that lead to the API, as paths below it', async () => {
      const api = createUpstream({ endpoint: `${server.url}/v1?version=2`, auth: { query: { key: 'k-secret' } } })
      const link = `<${server.url}/v1/items?page=2&key=k-secret&version=2>; rel="next", <items/7>; title="a, <b>", </other>; rel=x, <?p=1>`
      const states = { 'content-location': `${server.url}/v1/jobs/1`, 'operation-location': 'http://10.0.0.1/jobs/1' }
      server.behave(answering(201, { link, location: '/v1/items/7', ...states, vary: 'Accept' }, 'ok'))
      const response = await api.request({ ...get, path: '/items' })
      response.discard()
      assert.deepEqual(response.headers, [
        ['link', '</items?page=2>; rel="next", </items/7>; title="a, <b>", </items?p=1>'],
        ['vary', 'Accept'],
        ['location', '/items/7'],
        ['content-location', '/jobs/1']
      ])
      await api.close()
    })

    it('drops values that could not be written again', async () => {
      server.behave((response) =>
        response.socket?.end('HTTP/1.1 200 OK\r\netag: "\u{e9}"\r\ncontent-length: 0\r\n\r\n')
      )
      assert.deepEqual((await upstream.request(get)).headers, [])
    })

    it('skips interim responses', async () => {
      server.behave((response) => {
        response.writeProcessing()
        response.writeEarlyHints({ link: '</style.css>; rel=preload' })
        response.end('ok')
      })
      const response = await upstream.request(get)
      assert.equal(response.status, 200)
      assert.equal((await response.bytes(MiB)).toString(), 'ok')
    })

    for (const [coding, coded] of [
      ['gzip', gzipSync('hello')],
      ['X-GZIP', gzipSync('hello')],
      ['br', brotliCompressSync('hello')],
      ['deflate', deflateSync('hello')],
      ['deflate', deflateRawSync('hello')],
      ['zstd', zstdCompressSync('hello')],
      ['identity', Buffer.from('hello')]
    ] as const) {
      it(`reads ${coding}, as a whole and as a stream`, async () => {
        server.behave(answering(200, { 'content-encoding': coding }, coded))
        assert.equal((await (await upstream.request(get)).bytes(5)).toString(), 'hello')
        assert.equal((await bytesOf((await upstream.request(get)).body)).toString(), 'hello')
      })
    }

    it('reads several fields of content codings as one list', async () => {
      const coded =
        (codings: readonly string[], body: Uint8Array): Behaviour =>
        (response) =>
          response.setHeader('content-encoding', codings).end(body)
      server.behave(coded(['identity', 'GZIP'], gzipSync('hello')))
      assert.equal((await (await upstream.request(get)).bytes(5)).toString(), 'hello')
      server.behave(coded(['identity', 'identity, none'], Buffer.from('hello')))
      assert.equal((await (await upstream.request(get)).bytes(5)).toString(), 'hello')
      server.behave(coded(['gzip', 'gzip'], gzipSync(gzipSync('hello'))))
      await rejectsWith(upstream.request(get), 'upstream_invalid_response')
    })

    it('decodes no response without content', async () => {
      server.behave(answering(200, { 'content-encoding': 'gzip', 'content-length': '100' }, ''))
      const response = await upstream.request({ ...get, method: 'HEAD' })
      assert.equal((await response.bytes(MiB)).length, 0)
    })

    it('reads an empty body, whatever coding it has', async () => {
      server.behave(answering(200, { 'content-encoding': 'gzip' }, ''))
      assert.equal((await (await upstream.request(get)).bytes(MiB)).length, 0)
      assert.equal((await bytesOf((await upstream.request(get)).body)).length, 0)
    })

    it('is upstream_invalid_response when the coded body is truncated', async () => {
      server.behave(answering(200, { 'content-encoding': 'gzip' }, gzipSync('hello'.repeat(100)).subarray(0, 20)))
      await rejectsWith((await upstream.request(get)).bytes(MiB), 'upstream_invalid_response')
      await rejectsWith(bytesOf((await upstream.request(get)).body), 'upstream_invalid_response')
    })

    it('stops a compressed flood at the limit', async () => {
      server.behave(answering(200, { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(64 * MiB))))
      await rejectsWith((await upstream.request(get)).bytes(MiB), 'response_too_large')
    })

    it('accepts exactly the allowed size', async () => {
      server.behave(answering(200, {}, Buffer.alloc(1000)))
      assert.equal((await (await upstream.request(get)).bytes(1000)).length, 1000)
      await rejectsWith((await upstream.request(get)).bytes(999), 'response_too_large')
    })

    for (const coding of ['identity', 'gzip']) {
      it(`reads a long body, ${coding}, as far as there is memory for it`, async () => {
        const body = randomBytes(MiB)
        const headers = coding === 'gzip' ? { 'content-encoding': coding } : {}
        server.behave(answering(200, headers, coding === 'gzip' ? gzipSync(body) : body))
        const budget = new ByteBudget(2 * MiB)
        const memory = () => budget.hold([{ holder: 'peer', bytesMax: 2 * MiB }])
        const first = memory()
        first.take(2 * MiB)
        // One may go on in any case.
        const [second, third] = [memory(), memory()]
        /** Running time limits of the API. */
        const running = new Set<() => void>()
        const after: Clock['after'] = (ms, task) => {
          if (ms !== LIMIT_MS) return systemClock.after(ms, task)
          running.add(task)
          return { cancel: () => void running.delete(task) }
        }
        const patient = open(server.url, { timeoutMs: LIMIT_MS, clock: { ...systemClock, after } })
        assert.equal(body.compare(await (await patient.request(get)).bytes(MiB, second)), 0)
        const over = new AbortController()
        const waiting = (await patient.request({ ...get, signal: over.signal })).bytes(MiB, third)
        const late = (await patient.request(get)).bytes(MiB, third)
        await until(() => running.size === 0, 'the time limits to end where bodies wait for memory')
        over.abort(new SoukError('upstream_timeout'))
        await rejectsWith(waiting, 'upstream_timeout')
        first.free()
        assert.equal(body.compare(await late), 0)
        assert.equal(budget.bytes, 2 * MiB)
        third.free()
        second.free()
        assert.equal(budget.bytes, 0)
        await rejectsWith((await patient.request(get)).bytes(MiB - 1, memory()), 'response_too_large')
      })
    }

    it('buffers a payload up to a size, and streams it past that', async () => {
      const body = Buffer.alloc(MiB, 'abc')
      server.behave(answering(200, {}, body))
      assert((await (await upstream.request(get)).payload(MiB)) instanceof Uint8Array)
      const streamed = await (await upstream.request(get)).payload(MiB - 1)
      assert(!(streamed instanceof Uint8Array))
      assert.equal((await bytesOf(streamed)).compare(body), 0)
    })
  })

  describe('streams', () => {
    const endless: Behaviour = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
      }
      response.on('drain', more)
      more()
    }

    it('passes on each piece as it arrives', async () => {
      let write: (text: string) => void = () => undefined
      server.behave((response) => (write = (text) => response.write(text)))
      const request = upstream.request(get)
      await until(() => server.received.length === 1, 'the request to arrive')
      write('one')
      const chunks = (await request).body[Symbol.asyncIterator]()
      assert.equal(String((await chunks.next()).value), 'one')
      const second = chunks.next()
      write('two')
      assert.equal(String((await second).value), 'two')
      await chunks.return?.()
    })

    it('slows the upstream down to the pace of the reader', async () => {
      const { behaviour, stalled } = sending(64 * MiB)
      server.behave(behaviour)
      const chunks = (await upstream.request(get)).body[Symbol.asyncIterator]()
      await chunks.next()
      const written = await stalled()
      assert(written < 32 * MiB, `${written} bytes were written to a reader that stands still`)
      await chunks.return?.()
    })

    it('reads a whole body whose reader came after the socket was paused', async () => {
      const { behaviour, stalled } = sending(32 * MiB)
      server.behave(behaviour)
      const response = await upstream.request(get)
      assert((await stalled()) < 32 * MiB)
      const bytes = await within('the body', 5_000, response.bytes(32 * MiB))
      assert.equal(bytes.length, 32 * MiB)
    })

    it('lets the reader leave while it waits, and the upstream notices', async () => {
      server.behave((response) => response.flushHeaders())
      const chunks = (await upstream.request(get)).body[Symbol.asyncIterator]()
      const pending = chunks.next()
      await chunks.return?.()
      await rejectsWith(pending, 'call_interrupted')
      await until(() => server.received[0]?.gone === true, 'the upstream to lose its connection')
    })

    it('ends with an error when the signal aborts', async () => {
      server.behave(endless)
      const controller = new AbortController()
      const { body } = await upstream.request({ ...get, signal: controller.signal })
      const reason = new SoukError('owner_unreachable')
      const reading = (async () => {
        let read = 0
        for await (const chunk of body) {
          read += chunk.byteLength
          if (read > MiB) controller.abort(reason)
        }
      })()
      await assert.rejects(reading, reason)
      await until(() => server.received[0]?.gone === true, 'the upstream to lose its connection')
    })

    it('ends with an error when the upstream disconnects', async () => {
      server.behave((response) => {
        response.write('some', () => response.socket?.resetAndDestroy())
      })
      await rejectsWith(bytesOf((await upstream.request(get)).body), 'upstream_unreachable')
    })

    it('closes its connection when it is discarded', async () => {
      server.behave(endless)
      const response = await upstream.request(get)
      response.discard()
      await until(() => server.received[0]?.gone === true, 'the upstream to lose its connection')
      await rejectsWith(response.bytes(MiB), 'call_interrupted')
    })

    it('outlasts the time limit while data flows, and ends after silence', async () => {
      const clock = handClock()
      let write: (text: string) => void = () => undefined
      server.behave((response) => {
        write = (text) => response.write(text)
        response.flushHeaders()
      })
      const { body } = await open(server.url, { timeoutMs: 1_000, clock }).request(get)
      const chunks = body[Symbol.asyncIterator]()
      for (let i = 0; i < 3; i++) {
        const next = chunks.next()
        clock.pass(STREAM_IDLE_MS - 1)
        write('x')
        assert.equal((await next).done, false)
      }
      // No read is pending, so a slow reader does not count as silence of the upstream.
      clock.pass(STREAM_IDLE_MS * 2)
      const last = chunks.next()
      await turn()
      clock.pass(STREAM_IDLE_MS)
      await rejectsWith(last, 'upstream_timeout')
      assert.equal(clock.waiting, 0)
    })

    it('ends after silence, also if a read was pending when it became a stream', async () => {
      const clock = handClock()
      server.behave((response) => response.writeHead(200).write('{}\n'))
      const response = await open(server.url, { timeoutMs: 1_000, clock }).request(get)
      const waiting = Promise.resolve(response.payload(MiB, true))
      await until(() => clock.waiting === 2, 'the silence to be timed')
      clock.pass(VALUE_SILENCE_MS)
      const rest = bytesOf(await waiting)
      await turn()
      clock.pass(STREAM_IDLE_MS)
      await rejectsWith(rest, 'upstream_timeout')
      assert.equal(clock.waiting, 0)
    })
  })

  describe('time', () => {
    it('includes redirects and response', async () => {
      const clock = handClock()
      server.behave((response, { target }) => {
        clock.pass(600)
        if (target === '/') response.writeHead(302, { location: '/slow' }).end()
      })
      const request = open(server.url, { timeoutMs: 1_000, clock }).request(get)
      // Listens from the start, because the event may come before the second request is seen here.
      const refused = rejectsWith(request, 'upstream_timeout')
      await until(() => server.received.length === 2, 'the second request to arrive')
      await refused
    })

    it('abandons a body that is not read', async () => {
      const clock = handClock()
      server.behave((response) => response.flushHeaders())
      await open(server.url, { timeoutMs: 1_000, clock }).request(get)
      clock.pass(1_000)
      await until(() => server.received[0]?.gone === true, 'the upstream to lose its connection')
    })

    it('includes connecting', async () => {
      const silent = await listening(createServer(() => undefined))
      const request = open(`https://127.0.0.1:${silent.port}/`, { timeoutMs: 100 }).request(get)
      await rejectsWith(request, 'upstream_timeout')
      await silent.close()
    })

    it('releases a caller that waits for a connection', async () => {
      const silent = await listening(createServer(() => undefined))
      const controller = new AbortController()
      const request = open(`https://127.0.0.1:${silent.port}/`).request({ ...get, signal: controller.signal })
      const ended = rejectsWith(request, 'call_interrupted')
      await until(() => silent.accepted() === 1, 'the connection to arrive')
      controller.abort()
      await ended
      await silent.close()
    })
  })
})

/** A clock that advances only on request. */
function handClock(): Clock & { pass(ms: number): void; readonly waiting: number } {
  let now = 0
  const timers = new Map<object, { at: number; task: () => void }>()
  return {
    now: () => now,
    elapsed: () => now,
    soon: (task) => void setImmediate(task),
    after(delayMs, task) {
      const key = {}
      timers.set(key, { at: now + delayMs, task })
      return { cancel: () => void timers.delete(key) }
    },
    get waiting() {
      return timers.size
    },
    pass(ms) {
      const end = now + ms
      for (const [key, { at, task }] of timers) {
        if (at > end) continue
        timers.delete(key)
        now = Math.max(now, at)
        task()
      }
      now = end
    }
  }
}

async function listening(server: Server) {
  let accepted = 0
  const sockets: Array<{ destroy(): void }> = []
  server.on('connection', (socket) => {
    accepted++
    sockets.push(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}
