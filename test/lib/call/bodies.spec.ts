import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { text, utf8 } from '../../../lib/base/bytes.ts'
import { asSoukError, isSoukError, SoukError } from '../../../lib/base/errors.ts'
import { ACK_DELAY_MS, STREAM_IDLE_MS } from '../../../lib/base/limits/call.ts'
import { BULK_OPEN_MS, FRAME_BYTES_MAX, INLINE_BODY_BYTES_MAX } from '../../../lib/base/limits/link.ts'
import { sendTo } from '../../../lib/call/body.ts'
import { BULK_OF, bulkTag } from '../../../lib/call/bulk-mailbox.ts'
import type { BulkSink } from '../../../lib/interface/link.ts'
import type { Payload } from '../../../lib/interface/payload.ts'
import { bytesOf, streamOf, textOf } from '../../helpers/bodies.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { within } from '../../helpers/eventually.ts'
import { manualClock, settle } from '../../helpers/manual-clock.ts'
import {
  answered,
  type CallBench,
  callBench,
  errorOf,
  HELLO,
  NEVER,
  OWNER,
  rawPeer,
  requestFrame,
  responseOf
} from './bench.ts'

const BOUND_MS = 2_000
const KiB = 1024

/** An endless body that counts the chunks read, and records when its reader ended it. */
function endlessBody(chunkBytes = 64 * KiB) {
  const seen = { taken: 0, isEnded: false }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        await turn()
        seen.taken += chunkBytes
        yield new Uint8Array(chunkBytes)
      }
    } finally {
      seen.isEnded = true
    }
  }
  return { body: chunks(), seen }
}

/** A body that sends its chunks and then stays silent until the signal aborts. */
async function* silentBody(signal: AbortSignal, ...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield utf8(chunk)
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

const streamed = (body: Payload): AsyncIterator<Uint8Array> => {
  assert.ok(!(body instanceof Uint8Array), 'the body is not a stream')
  return body[Symbol.asyncIterator]()
}

describe('bodies of calls', () => {
  let bench: CallBench
  beforeEach(async () => {
    bench = await callBench()
  })

  for (const bytes of [0, 1, INLINE_BODY_BYTES_MAX, INLINE_BODY_BYTES_MAX + 1, 1_000 * KiB]) {
    it(`of ${bytes} bytes arrive whole in both directions`, async () => {
      bench.owner.handler = async (call) => responseOf(await bytesOf(call.body))
      const sent = Uint8Array.from({ length: bytes }, (_, i) => i * 7)
      const { body } = answered(await bench.call({ body: sent }))
      assert.equal(body instanceof Uint8Array, bytes <= INLINE_BODY_BYTES_MAX)
      assert.ok((await bytesOf(body)).equals(sent))
      await settle()
      assert.equal(bench.owner.calls.serving, 0)
    })
  }

  it('that are streams arrive chunk by chunk in both directions at once', async () => {
    bench.owner.handler = async (call) => {
      async function* shout(): AsyncGenerator<Uint8Array> {
        for await (const chunk of call.body as AsyncIterable<Uint8Array>) yield utf8(text(chunk).toUpperCase())
      }
      return responseOf(shout())
    }
    const said: Array<PromiseWithResolvers<string>> = [Promise.withResolvers(), Promise.withResolvers()]
    async function* speech(): AsyncGenerator<Uint8Array> {
      for (const word of said) yield utf8(await word.promise)
    }
    const reply = streamed(answered(await bench.call({ body: speech() })).body)
    for (const [i, word] of ['hello', 'world'].entries()) {
      said[i]?.resolve(word)
      const { value } = await within('the echo', BOUND_MS, reply.next())
      assert.equal(text(value ?? new Uint8Array()), word.toUpperCase())
    }
    assert.equal((await reply.next()).done, true)
    await bench.clock.advance(ACK_DELAY_MS)
    assert.equal(bench.owner.acked.length, 1)
  })

  describe('of a response', () => {
    it('slow the API down while nobody reads', async () => {
      const { body, seen } = endlessBody()
      bench.owner.handler = async () => responseOf(body)
      const reply = streamed(answered(await bench.call()).body)
      await settle(100)
      const before = seen.taken
      assert.ok(before <= 1024 * KiB, `${before} bytes were taken while nobody read`)
      for (let i = 0; i < 20; i++) await reply.next()
      await settle(100)
      assert.ok(seen.taken > before)
      await reply.return?.()
    })

    it('hold its memory until they were sent, or cannot be', async () => {
      let freed = 0
      const large = new Uint8Array(8 * 1024 * KiB)
      const free = () => void freed++
      bench.owner.handler = async () => ({ ...responseOf(''), body: large, free })
      const reply = streamed(answered(await bench.call()).body)
      await settle(100)
      assert.equal(freed, 0)
      for (let bytes = 0; bytes < large.length; ) bytes += (await reply.next()).value?.length ?? 0
      assert.equal((await reply.next()).done, true)
      await settle()
      assert.equal(freed, 1)
      bench.owner.handler = async () => ({ ...responseOf('{}'), free })
      await bench.call()
      await settle()
      assert.equal(freed, 2)
      bench.owner.handler = async () => responseOf('', { headers: [['x-long', 'x'.repeat(FRAME_BYTES_MAX)]], free })
      assert.equal(errorOf(await bench.call()).code, 'response_too_large')
      assert.equal(freed, 3)
    })

    it('continue after the deadline of the call', async () => {
      const goOn = Promise.withResolvers<void>()
      bench.owner.handler = async () => {
        async function* slow(): AsyncGenerator<Uint8Array> {
          yield utf8('first')
          await goOn.promise
          yield utf8('last')
        }
        return responseOf(slow())
      }
      const { body } = answered(await bench.call({ timeoutMs: 100 }))
      await bench.clock.advance(1_000)
      goOn.resolve()
      assert.equal(await textOf(body), 'firstlast')
    })

    it('that the caller cancels end at the API, even where it is silent', async () => {
      for (const chunksRead of [0, 1, 2]) {
        let signalled: AbortSignal | undefined
        bench.owner.handler = async (_call, signal) => {
          signalled = signal
          return responseOf(silentBody(signal, 'a'))
        }
        const reply = streamed(answered(await bench.call()).body)
        if (chunksRead > 0) await reply.next()
        const waiting = chunksRead > 1 ? assert.rejects(reply.next()) : undefined
        await within('return', BOUND_MS, Promise.resolve(reply.return?.()))
        await waiting
        await settle()
        assert.equal(signalled?.aborted, true, `after ${chunksRead} chunks`)
        assert.equal(bench.owner.calls.serving, 0)
        assert.equal((await reply.next()).done, true)
      }
    })

    it('end with the caller’s signal on both sides', async () => {
      bench.owner.handler = async (_call, signal) => responseOf(silentBody(signal, 'a'))
      const stop = new AbortController()
      const reply = streamed(answered(await bench.call({}, stop.signal)).body)
      await reply.next()
      const waiting = assert.rejects(reply.next(), { code: 'call_interrupted' })
      stop.abort()
      await within('the error', BOUND_MS, waiting)
      await settle()
      assert.equal(bench.owner.calls.serving, 0)
    })

    it('that fail at the API fail at the caller, without acknowledgement', async () => {
      bench.owner.handler = async () => {
        async function* broken(): AsyncGenerator<Uint8Array> {
          yield utf8('half')
          throw new Error('secret of the upstream')
        }
        return responseOf(broken())
      }
      const { body } = answered(await bench.call())
      await assert.rejects(textOf(body), (error: Error) => {
        assert.ok(!error.message.includes('secret'))
        return isSoukError(error) && error.code === 'call_interrupted'
      })
      await bench.clock.advance(ACK_DELAY_MS)
      assert.equal(bench.owner.acked.length, 0)
      assert.equal(bench.owner.calls.serving, 0)
    })

    it('that nobody reads are dropped after a while', async () => {
      const { body, seen } = endlessBody()
      bench.owner.handler = async () => responseOf(body)
      const reply = streamed(answered(await bench.call()).body)
      await bench.clock.advance(STREAM_IDLE_MS)
      await settle()
      assert.equal(seen.isEnded, true)
      assert.equal(bench.owner.calls.serving, 0)
      await assert.rejects(async () => {
        for (;;) assert.notEqual((await reply.next()).done, true)
      })
    })

    it('that are silent end after a while, and the owner is told to cancel', async () => {
      let signalled: AbortSignal | undefined
      bench.owner.handler = async (_call, signal) => {
        signalled = signal
        return responseOf(silentBody(signal, 'a'))
      }
      const reply = streamed(answered(await bench.call()).body)
      await bench.clock.advance(2 * STREAM_IDLE_MS)
      assert.equal((await reply.next()).done, false)
      const waiting = assert.rejects(reply.next(), { code: 'upstream_timeout', source: 'owner' })
      await bench.clock.advance(STREAM_IDLE_MS - 1)
      assert.equal(signalled?.aborted, false)
      await bench.clock.advance(1)
      await within('the end', BOUND_MS, waiting)
      await settle()
      assert.equal(signalled?.aborted, true)
      assert.equal(bench.owner.calls.serving, 0)
    })

    it('that are silent end at the API when the link breaks', async () => {
      let signalled: AbortSignal | undefined
      bench.owner.handler = async (_call, signal) => {
        signalled = signal
        return responseOf(silentBody(signal, 'a'))
      }
      const reply = streamed(answered(await bench.call()).body)
      await reply.next()
      const waiting = assert.rejects(reply.next())
      bench.network.cut(bench.consumer.link.self)
      await waiting
      await settle()
      assert.equal(signalled?.aborted, true)
    })

    it('that never arrive leave the outcome unknown, and the owner is told to cancel', async () => {
      bench.owner.handler = async (_call, signal) => responseOf(silentBody(signal))
      const onBulk = bench.consumer.link.onBulk
      bench.consumer.link.onBulk = () => {}
      const calling = bench.call()
      await bench.clock.advance(BULK_OPEN_MS)
      const attempt = await calling
      assert.deepEqual([attempt.fate, errorOf(attempt).code], ['lost', 'call_interrupted'])
      await settle()
      assert.equal(bench.owner.calls.serving, 0)
      bench.consumer.link.onBulk = onBulk
    })
  })

  describe('of a request', () => {
    it('slow the caller down while the API does not read, and end with its response', async () => {
      const { body, seen } = endlessBody()
      const answer = Promise.withResolvers<void>()
      bench.owner.handler = async () => {
        await answer.promise
        return responseOf('enough')
      }
      const calling = bench.call({ body })
      await settle(100)
      assert.ok(seen.taken <= 1024 * KiB, `${seen.taken} bytes were taken while nobody read`)
      answer.resolve()
      assert.equal(await textOf(answered(await calling).body), 'enough')
      await settle(50)
      assert.equal(seen.isEnded, true)
    })

    it('end when the time of the call is up, which says that they were still being sent', async () => {
      const { body, seen } = endlessBody()
      bench.owner.handler = () => new Promise(() => {})
      const calling = bench.call({ body, timeoutMs: 500 })
      await bench.clock.advance(500)
      const attempt = await calling
      const { code, source, message } = errorOf(attempt)
      assert.deepEqual([attempt.fate, code, source], ['lost', 'call_interrupted', 'ingress'])
      assert.match(message, /was still being sent/)
      await settle(50)
      assert.equal(seen.isEnded, true)
    })

    it('that were sent as a whole do not explain why no response came', async () => {
      bench.owner.handler = async ({ body }) => {
        await bytesOf(body)
        return new Promise(() => {})
      }
      const calling = bench.call({ body: streamOf('whole'), timeoutMs: 500 })
      await settle(50)
      await bench.clock.advance(500)
      assert.equal(errorOf(await calling).code, 'upstream_timeout')
    })

    it('that fail at the caller fail at the API, without blaming the owner', async () => {
      let seen: unknown
      bench.owner.handler = async (call) => {
        await bytesOf(call.body).catch((error: unknown) => {
          seen = error
        })
        throw new SoukError('invalid_request')
      }
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield utf8('half')
        throw new Error('secret of the caller')
      }
      const error = errorOf(await bench.call({ body: broken() }))
      assert.deepEqual([error.code, error.source], ['call_interrupted', 'ingress'])
      await settle()
      assert.ok(seen instanceof Error && !seen.message.includes('secret'))
      assert.equal(bench.owner.calls.serving, 0)
    })

    it('that the API rejects midway return the API’s error, not the stream’s', async () => {
      bench.owner.handler = async (call) => {
        for await (const chunk of call.body as AsyncIterable<Uint8Array>) {
          if (chunk.length > 0) throw new SoukError('request_too_large')
        }
        return responseOf()
      }
      for (let i = 0; i < 20; i++) {
        const { body } = endlessBody()
        assert.equal(errorOf(await bench.call({ body })).code, 'request_too_large')
      }
    })

    it('that never arrive fail the call before it runs', async () => {
      bench.owner.link.onBulk = () => {}
      const calling = bench.call({ body: streamOf('late') })
      await bench.clock.advance(BULK_OPEN_MS)
      const attempt = await calling
      const { code, source } = errorOf(attempt)
      assert.deepEqual([attempt.fate, code, source], ['not_accepted', 'overloaded', 'ingress'])
      assert.equal(bench.owner.received.length, 0)
    })

    it('that are late fail the call at its deadline, before it runs', async () => {
      bench.owner.link.onBulk = () => {}
      const peer = await rawPeer(bench.network, OWNER)
      peer.send(HELLO)
      peer.send(requestFrame({ body: undefined, timeoutMs: 1_000 }))
      await settle()
      await bench.clock.advance(1_000)
      const failures = peer.heard.filter((frame) => frame.kind === 'failure')
      assert.deepEqual(
        failures.map(({ code, source, notAccepted }) => ({ code, source, notAccepted })),
        [{ code: 'overloaded', source: 'ingress', notAccepted: true }]
      )
      await peer.link.stop()
    })

    it('that break off are the sender’s fault', async () => {
      const endings = [
        { breakOff: (sink: BulkSink) => sink.abort(new Error('enough')), code: 'invalid_request', status: 400 },
        // A sender on a slow link looks the same as one that falls silent.
        { breakOff: () => {}, code: 'call_interrupted', status: 502 }
      ]
      for (const { breakOff, code, status } of endings) {
        const peer = await rawPeer(bench.network, OWNER, peerId('R'))
        bench.owner.handler = async (call) => responseOf(await bytesOf(call.body))
        peer.send(HELLO)
        const requestId = freshIds.next()
        peer.send(requestFrame({ requestId, body: undefined }))
        const sink = await peer.channel.openBulk(bulkTag(requestId, BULK_OF.request), NEVER)
        await sink.write(utf8('half'))
        breakOff(sink)
        await settle()
        // The second sender only falls silent, so its call ends by the deadline.
        await bench.clock.advance(1_000)
        const failures = peer.heard.filter((frame) => frame.kind === 'failure')
        assert.deepEqual(
          failures.map(({ code, status, source, notAccepted }) => ({ code, status, source, notAccepted })),
          [{ code, status, source: 'ingress', notAccepted: false }]
        )
        assert.equal(bench.owner.calls.serving, 0)
        await peer.link.stop()
      }
    })

    it('that end with their link interrupt the call, so that it may be repeated', async () => {
      const peer = await rawPeer(bench.network, OWNER)
      const seen = Promise.withResolvers<unknown>()
      bench.owner.handler = async (call) => {
        await bytesOf(call.body).catch(seen.resolve)
        return responseOf()
      }
      peer.send(HELLO)
      const requestId = freshIds.next()
      peer.send(requestFrame({ requestId, body: undefined }))
      const sink = await peer.channel.openBulk(bulkTag(requestId, BULK_OF.request), NEVER)
      await sink.write(utf8('half'))
      await settle()
      bench.network.cut(OWNER)
      const { code, source } = asSoukError(await within('the error', BOUND_MS, seen.promise))
      assert.deepEqual([code, source], ['call_interrupted', 'ingress'])
    })

    it('that cannot be sent leave the call not accepted', async () => {
      await bench.call()
      const channel = await bench.consumer.link.connect(
        { id: bench.owner.link.self, addresses: [] },
        new AbortController().signal
      )
      channel.openBulk = async () => Promise.reject(new Error('no stream is free'))
      const attempt = await bench.call({ body: streamOf('x') })
      assert.deepEqual([attempt.fate, errorOf(attempt).code], ['not_accepted', 'overloaded'])
      await bench.clock.advance(BULK_OPEN_MS)
      assert.equal(bench.owner.received.length, 1)
      assert.equal(bench.owner.calls.serving, 0)
    })
  })
})

describe('the sender of a body', () => {
  it('limits each write, not the pauses of the body, and keeps one timer', async () => {
    const clock = manualClock()
    const { promise: aborted, resolve: abort } = Promise.withResolvers<Error>()
    let read = Promise.withResolvers<void>()
    const sink: BulkSink = { isRead: false, write: () => read.promise, end: async () => {}, abort }
    void aborted.then((error) => read.reject(error))
    let send = Promise.withResolvers<Uint8Array>()
    async function* body() {
      for (;;) yield await send.promise
    }
    const sending = sendTo(sink, clock)(body())
    const most = STREAM_IDLE_MS - 1
    for (let i = 0; i < 3; i++) {
      const [sent, taken] = [send, read]
      ;[send, read] = [Promise.withResolvers(), Promise.withResolvers()]
      await clock.advance(2 * STREAM_IDLE_MS)
      const { promise: isWaiting, resolve } = Promise.withResolvers<void>()
      sink.write = () => (resolve(), taken.promise)
      sent.resolve(new Uint8Array(1))
      await within('the write', BOUND_MS, isWaiting)
      await clock.advance(most)
      assert.equal(clock.pending, 1)
      taken.resolve()
      await settle()
    }
    sink.write = () => read.promise
    send.resolve(new Uint8Array(1))
    await clock.advance(most)
    assert.equal(clock.pending, 1)
    await clock.advance(1)
    assert.equal(await within('the end', BOUND_MS, sending), false)
    assert.match((await aborted).message, /the reader read nothing/)
    assert.equal(clock.pending, 0)
  })
})
