import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import { ACK_DELAY_MS, RESEND_MS, RESEND_PAUSE_MS } from '../../../lib/base/limits/call.ts'
import { UNKNOWN_EPOCH } from '../../../lib/interface/call.ts'
import { streamOf, textOf } from '../../helpers/bodies.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { answered, responseOf, type CallBench, callBench, callOf, errorOf, OWNER } from './bench.ts'

describe('a call whose link breaks', () => {
  let bench: CallBench
  beforeEach(async () => {
    bench = await callBench()
  })

  const blink = () => {
    bench.network.cut(OWNER)
    bench.network.mend(OWNER)
  }
  it('is sent again with the same id and the first owner’s epoch, and answered once', async () => {
    const call = callOf()
    bench.owner.handler = (received) =>
      received.resentFromEpoch === undefined ? new Promise(() => {}) : Promise.resolve(responseOf('at last'))
    const calling = bench.call(call)
    await settle()
    blink()
    const { body } = answered(await calling)
    assert.equal(await textOf(body), 'at last')
    const [first, second, ...more] = bench.owner.received
    assert.deepEqual(more, [])
    assert.deepEqual(second?.requestId, first?.requestId)
    assert.deepEqual(second?.body, first?.body)
    assert.deepEqual([first?.resentFromEpoch, second?.resentFromEpoch], [undefined, 100n])
    await bench.clock.advance(ACK_DELAY_MS)
    assert.deepEqual(bench.owner.acked.flat().length, 1)
  })

  it('keeps the epoch of its first attempt when the link breaks repeatedly', async () => {
    let attempts = 0
    bench.owner.handler = () => (++attempts < 4 ? new Promise(() => {}) : Promise.resolve(responseOf()))
    const calling = bench.call()
    for (let i = 0; i < 3; i++) {
      await settle()
      blink()
      await bench.clock.advance(RESEND_PAUSE_MS)
    }
    assert.equal((await calling).fate, 'answered')
    assert.deepEqual(
      bench.owner.received.map(({ resentFromEpoch }) => resentFromEpoch),
      [undefined, 100n, 100n, 100n]
    )
  })

  it('tells a restarted owner the epoch of the first attempt', async () => {
    bench.owner.handler = () => new Promise(() => {})
    const calling = bench.call()
    await settle()
    bench.network.cut(OWNER)
    const restarted = await bench.restartOwner()
    bench.network.mend(OWNER)
    restarted.handler = async () => {
      throw new SoukError('call_interrupted')
    }
    await bench.clock.advance(RESEND_PAUSE_MS)
    const attempt = await calling
    assert.deepEqual([attempt.fate, errorOf(attempt).code], ['failed', 'call_interrupted'])
    assert.equal(restarted.received[0]?.resentFromEpoch, 100n)
  })

  it('is queried by a later process with the unknown epoch, until its deadline', async () => {
    bench.network.cut(OWNER)
    const calling = bench.call({ isRepeat: true, timeoutMs: 2 * RESEND_MS })
    await bench.clock.advance(RESEND_MS + RESEND_PAUSE_MS)
    bench.network.mend(OWNER)
    await bench.clock.advance(RESEND_PAUSE_MS)
    assert.equal((await calling).fate, 'answered')
    assert.deepEqual(
      bench.owner.received.map(({ resentFromEpoch }) => resentFromEpoch),
      [UNKNOWN_EPOCH]
    )
    bench.network.cut(OWNER)
    const lost = bench.call({ isRepeat: true, timeoutMs: 1_000 })
    await bench.clock.advance(1_000)
    assert.equal((await lost).fate, 'lost', 'the first attempt may have run')
  })

  it('is lost within the resend time if the link stays down', async () => {
    bench.owner.handler = () => new Promise(() => {})
    let isOver = false
    const calling = bench.call({ timeoutMs: 60_000 }).finally(() => {
      isOver = true
    })
    await settle()
    bench.network.cut(OWNER)
    await bench.clock.advance(RESEND_MS - 2 * RESEND_PAUSE_MS)
    assert.equal(isOver, false)
    await bench.clock.advance(2 * RESEND_PAUSE_MS)
    const attempt = await calling
    assert.deepEqual([attempt.fate, errorOf(attempt).code], ['lost', 'call_interrupted'])
    assert.match(errorOf(attempt).message, /same idempotency key/)
  })

  it('is lost at its own deadline if that comes first, or if the peer does not respond', async () => {
    bench.owner.handler = () => new Promise(() => {})
    const calling = bench.call({ timeoutMs: 1_000 })
    await settle()
    bench.network.cut(OWNER)
    // A peer with the owner's id that never sends a hello.
    const mute = bench.network.link(OWNER)
    await mute.start()
    bench.network.mend(OWNER)
    await bench.clock.advance(1_000)
    assert.equal((await calling).fate, 'lost')
  })

  it('is lost at once when the caller cancels it', async () => {
    bench.owner.handler = () => new Promise(() => {})
    const stop = new AbortController()
    const calling = bench.call({}, stop.signal)
    await settle()
    bench.network.cut(OWNER)
    await settle()
    stop.abort()
    assert.equal((await calling).fate, 'lost')
  })

  it('is lost at once when the node of the caller stops', async () => {
    bench.owner.handler = () => new Promise(() => {})
    const calling = bench.call()
    await settle()
    bench.consumer.calls.stop()
    await bench.consumer.link.stop()
    const attempt = await calling
    assert.deepEqual([attempt.fate, errorOf(attempt).code], ['lost', 'call_interrupted'])
  })

  it('is lost if its body was a stream, which cannot be sent again', async () => {
    bench.owner.handler = () => new Promise(() => {})
    const calling = bench.call({ body: streamOf('once') })
    await settle(20)
    blink()
    assert.equal((await calling).fate, 'lost')
    assert.equal(bench.owner.received.length, 1)
  })

  it('is not reported as not accepted if the owner is too busy for the repeat', async () => {
    // The first attempt may be running at this owner, so another owner must not be tried.
    bench.owner.handler = (call) => {
      if (call.resentFromEpoch === undefined) return new Promise(() => {})
      if (bench.owner.received.length < 5)
        return Promise.reject(new SoukError('overloaded', undefined, { notAccepted: true }))
      return Promise.resolve(responseOf('at last'))
    }
    const calling = bench.call()
    await settle()
    blink()
    await bench.clock.advance(5 * RESEND_PAUSE_MS)
    assert.equal(await textOf(answered(await calling).body), 'at last')

    bench.owner.handler = (call) =>
      call.resentFromEpoch === undefined
        ? new Promise(() => {})
        : Promise.reject(new SoukError('overloaded', undefined, { notAccepted: true }))
    const another = bench.call()
    await settle()
    blink()
    await bench.clock.advance(RESEND_MS)
    assert.equal((await another).fate, 'lost')
  })

  it('is sent to another owner if the owner says that the call never arrived', async () => {
    bench.owner.handler = (call) =>
      call.resentFromEpoch === undefined
        ? new Promise(() => {})
        : Promise.reject(new SoukError('api_paused', undefined, { notAccepted: true }))
    const calling = bench.call()
    await settle()
    blink()
    assert.equal((await calling).fate, 'not_accepted')
  })

  it('continues at the owner although nobody receives the response', async () => {
    const release = Promise.withResolvers<void>()
    let isAborted: boolean | undefined
    bench.owner.handler = async (_call, signal) => {
      await release.promise
      isAborted = signal.aborted
      return responseOf()
    }
    void bench.call()
    await settle()
    bench.network.cut(OWNER)
    release.resolve()
    await settle()
    assert.equal(isAborted, false)
  })

  it('is sent again together with all other calls of the link', async () => {
    bench.owner.handler = (call) =>
      call.resentFromEpoch === undefined ? new Promise(() => {}) : Promise.resolve(responseOf())
    const calls = Array.from({ length: 50 }, () => bench.call())
    await settle()
    blink()
    const attempts = await Promise.all(calls)
    assert.ok(attempts.every(({ fate }) => fate === 'answered'))
  })
})
