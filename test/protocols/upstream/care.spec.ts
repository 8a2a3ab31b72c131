import assert from 'node:assert/strict'
import { isSoukError } from '../../../lib/base/errors.ts'
import { UPSTREAM_FAILURES_MAX, UPSTREAM_RETRIES_MAX } from '../../../lib/base/limits/upstream.ts'
import {
  type Upstream,
  type UpstreamInit,
  type UpstreamRequest,
  createUpstream
} from '../../../protocols/upstream/upstream.ts'
import { FOREVER, rejectsWith } from '../../helpers/adapter-bench.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import {
  type ScriptedUpstream,
  answering,
  hanging,
  resetting,
  scriptedUpstream,
  until
} from '../../helpers/scripted-upstream.ts'

const get: UpstreamRequest = { method: 'GET', headers: [], signal: FOREVER }
const BREAK_MS = 50

describe('limits and retries of an upstream', () => {
  const opened: Upstream[] = []
  let server: ScriptedUpstream

  const open = (init: Partial<UpstreamInit> = {}): Upstream => {
    const made = createUpstream({ endpoint: server.url, breakMs: BREAK_MS, ...init })
    opened.push(made)
    return made
  }
  const status = async (upstream: Upstream, request: Partial<UpstreamRequest> = {}) => {
    const response = await upstream.request({ ...get, ...request })
    await response.bytes(1_000)
    return response.status
  }

  beforeEach(async () => {
    server = await scriptedUpstream(answering(200, {}, 'ok'))
  })
  afterEach(async () => {
    for (const made of opened.splice(0)) await made.close()
    await server.close()
  })

  it('sends no more concurrent requests than allowed, until a body is read or abandoned', async () => {
    const upstream = open({ inFlightMax: 2 })
    let end: (() => void) | undefined
    server.behave((response) => {
      response.write('begun')
      end ??= () => response.end()
    })
    const [first, second] = [await upstream.request(get), await upstream.request(get)]
    await assert.rejects(upstream.request(get), (error) => {
      assert(isSoukError(error))
      assert.deepEqual([error.code, error.notAccepted, error.retryAfterMs], ['overloaded', true, 1_000])
      return true
    })
    end?.()
    assert.equal((await first.bytes(100)).length, 5)
    const third = await upstream.request(get)
    await rejectsWith(upstream.request(get), 'overloaded')
    second.discard()
    third.discard()
    server.behave(answering(200, {}, 'ok'))
    assert.deepEqual(await Promise.all([status(upstream), status(upstream)]), [200, 200])
  })

  it('does not count failed requests', async () => {
    const upstream = open({ inFlightMax: 1 })
    server.behave(resetting)
    for (let i = 0; i < 3; i++) await rejectsWith(upstream.request(get), 'upstream_unreachable')
    await rejectsWith(upstream.request({ ...get, path: '/..' }), 'invalid_request')
    server.behave(answering(200, {}, ''))
    assert.equal(await status(upstream), 200)
  })

  for (const inFlightMax of [0, -1, 1.5, 100_000]) {
    it(`rejects ${inFlightMax} as their number`, () => {
      assert.throws(() => open({ inFlightMax }), { code: 'invalid_request' })
    })
  }

  describe('after many failures in a row', () => {
    const fail = async (upstream: Upstream, times: number) => {
      for (let i = 0; i < times; i++)
        await upstream.request(get).then(
          (r) => r.discard(),
          () => undefined
        )
    }

    it('stops calling it, then tries again', async () => {
      const clock = manualClock()
      const upstream = open({ clock })
      server.behave(resetting)
      await fail(upstream, UPSTREAM_FAILURES_MAX)
      const before = server.accepted
      await assert.rejects(upstream.request(get), (error) => {
        assert(isSoukError(error))
        assert.deepEqual([error.code, error.notAccepted], ['upstream_unreachable', true])
        assert(/does not call it/.test(error.message))
        return true
      })
      assert.equal(server.accepted, before)
      server.behave(answering(200, {}, ''))
      await clock.advance(BREAK_MS)
      assert.equal(await status(upstream), 200)
      assert.equal(await status(upstream), 200)
    })

    it('counts from zero after a success, also of a request that was sent before the failures', async () => {
      const upstream = open()
      let release: (() => void) | undefined
      server.behave((response) => (release = () => response.end('late')))
      const slow = status(upstream)
      await until(() => release !== undefined, 'the request arrives')
      server.behave(resetting)
      await fail(upstream, UPSTREAM_FAILURES_MAX - 1)
      release?.()
      assert.equal(await slow, 200)
      await fail(upstream, UPSTREAM_FAILURES_MAX - 1)
      server.behave(answering(200, {}, ''))
      assert.equal(await status(upstream), 200)
      server.behave(resetting)
      await fail(upstream, UPSTREAM_FAILURES_MAX - 1)
      server.behave(answering(200, {}, ''))
      assert.equal(await status(upstream), 200)
    })

    it('tries it again, even if a request fails meanwhile that was sent before the failures', async () => {
      const clock = manualClock()
      const upstream = open({ clock })
      let reset: (() => void) | undefined
      server.behave((response, received) => (reset = () => resetting(response, received)))
      const slow = upstream.request(get)
      await until(() => reset !== undefined, 'the request arrives')
      server.behave(resetting)
      await fail(upstream, UPSTREAM_FAILURES_MAX)
      await clock.advance(BREAK_MS)
      reset?.()
      await rejectsWith(slow, 'upstream_unreachable')
      server.behave(answering(200, {}, ''))
      assert.equal(await status(upstream), 200)
    })

    it('tries it again with the next request, if the caller of the first one leaves', async () => {
      const clock = manualClock()
      const upstream = open({ clock })
      server.behave(resetting)
      await fail(upstream, UPSTREAM_FAILURES_MAX)
      await clock.advance(BREAK_MS)
      server.behave(hanging)
      const leaving = new AbortController()
      const tried = upstream.request({ ...get, signal: leaving.signal })
      const left = rejectsWith(tried, 'call_interrupted')
      await assert.rejects(upstream.request(get), /does not call it/)
      leaving.abort()
      await left
      server.behave(resetting)
      await fail(upstream, 1)
      await assert.rejects(upstream.request(get), /does not call it/)
    })

    it('passes on responses that count as failures', async () => {
      const upstream = open({ clock: manualClock() })
      server.behave(answering(503, {}, 'later'))
      for (let i = 0; i < UPSTREAM_FAILURES_MAX; i++) assert.equal(await status(upstream), 503)
      await rejectsWith(upstream.request(get), 'upstream_unreachable')
    })

    it('counts neither responses with its own errors, nor aborted or invalid requests of callers', async () => {
      const upstream = open({ timeoutMs: 10_000 })
      server.behave(answering(500, {}, ''))
      await fail(upstream, UPSTREAM_FAILURES_MAX + 5)
      for (let i = 0; i < UPSTREAM_FAILURES_MAX + 5; i++) {
        await rejectsWith(upstream.request({ ...get, path: '/..' }), 'invalid_request')
      }
      server.behave(hanging)
      for (let i = 0; i < UPSTREAM_FAILURES_MAX + 5; i++) {
        await rejectsWith(upstream.request({ ...get, signal: AbortSignal.timeout(2) }), 'call_interrupted')
      }
      server.behave(answering(200, {}, ''))
      assert.equal(await status(upstream), 200)
    })
  })

  describe('for idempotent APIs', () => {
    it('retries after a lost connection, and after a busy response', async () => {
      const upstream = open({ idempotent: true })
      server.behave((response, received) => {
        if (server.received.length === 1) resetting(response, received)
        else response.writeHead(server.received.length === 2 ? 503 : 200).end()
      })
      assert.equal(await status(upstream, { method: 'POST', body: Buffer.from('{}') }), 200)
      assert.deepEqual(
        server.received.map(({ body }) => body.toString()),
        ['{}', '{}', '{}']
      )
    })

    it('stops after a few retries', async () => {
      server.behave(resetting)
      await rejectsWith(open({ idempotent: true }).request(get), 'upstream_unreachable')
      assert.equal(server.received.length, UPSTREAM_RETRIES_MAX + 1)
    })

    it('does not retry with Retry-After, and never repeats a stream', async () => {
      server.behave(answering(503, { 'retry-after': '7' }, ''))
      assert.equal(await status(open({ idempotent: true })), 503)
      server.behave(answering(503, {}, ''))
      async function* body() {
        yield Buffer.from('{}')
      }
      assert.equal(await status(open({ idempotent: true }), { method: 'POST', body: body() }), 503)
      assert.equal(server.received.length, 2)
    })

    it('stops when the caller does', async () => {
      server.behave(answering(503, {}, ''))
      const leaving = new AbortController()
      const request = open({ idempotent: true }).request({ ...get, signal: leaving.signal })
      const ended = rejectsWith(request, 'call_interrupted')
      await until(() => server.received.length === 1, 'the first try')
      leaving.abort()
      await ended
    })
  })

  it('sends once for other APIs', async () => {
    server.behave(resetting)
    await rejectsWith(open().request(get), 'upstream_unreachable')
    server.behave(answering(503, {}, ''))
    assert.equal(await status(open()), 503)
    assert.equal(server.received.length, 2)
  })
})
