import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import { FAILURES_PER_PEER } from '../../../lib/base/limits/admission.ts'
import type { IncomingCall } from '../../../lib/interface/call.ts'
import { DEFAULT_TERMS } from '../../../lib/owner/served-api.ts'
import { peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { incoming, NEVER, OwnerBench, replyOf, servedApi } from './bench.ts'

const LIMIT = { calls: 3, perMs: 60_000 }
const consumer = (n: number) => Buffer.alloc(16, `consumer ${n}`)

describe('failed calls', () => {
  let bench: OwnerBench
  beforeEach(async () => {
    bench = await OwnerBench.open()
    await bench.owner.apis.set(servedApi(bench.adapter, {}, { ...DEFAULT_TERMS, failuresPerConsumer: LIMIT }))
  })

  const refuses = () => (bench.adapter.answer = async () => replyOf('{}', { status: 404, success: false }))
  const works = () => (bench.adapter.answer = async () => replyOf())
  const throws = (error: Error) => {
    bench.adapter.answer = async () => {
      throw error
    }
  }
  const fail = async (times: number, changes: Partial<IncomingCall> = {}) => {
    for (let i = 0; i < times; i++) await bench.handle(changes).catch(() => undefined)
  }
  const isRefused = (changes: Partial<IncomingCall> = {}) =>
    assert.rejects(bench.handle(changes), (error) => {
      assert.ok(error instanceof SoukError)
      assert.deepEqual([error.code, error.notAccepted], ['rate_limited', true])
      assert.deepEqual(error.members, { reason: 'failed_calls' })
      assert.ok((error.retryAfterMs ?? 0) > 0)
      return true
    })
  const one = { consumer: consumer(1) }

  for (const [what, make] of [
    ['refused by the API', refuses],
    ['timed out at the API', () => throws(new SoukError('upstream_timeout', undefined, { source: 'upstream' }))],
    ['broken by a fault of the adapter', () => throws(new Error('a fault'))]
  ] as const) {
    it(`are limited for one consumer: ${what}`, async () => {
      make()
      await fail(LIMIT.calls, one)
      const reached = bench.adapter.reached.length
      await isRefused(one)
      assert.equal(bench.adapter.reached.length, reached, 'the API is not asked')
      works()
      await isRefused(one)
      assert.equal((await bench.handle({ consumer: consumer(2) })).status, 200)
      await bench.clock.advance(LIMIT.perMs / LIMIT.calls)
      assert.equal((await bench.handle(one)).status, 200)
    })
  }

  it('count if the consumer cancels while the API works', async () => {
    bench.adapter.answer = (_request, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('left')), { once: true })
      })
    for (let i = 0; i < LIMIT.calls; i++) {
      const leaving = new AbortController()
      const call = bench.owner.handle(incoming(one), leaving.signal)
      await settle()
      leaving.abort(new SoukError('call_interrupted'))
      await assert.rejects(call)
    }
    await isRefused(one)
  })

  it('count if the connection to the API was lost, because the API may have done its work', async () => {
    throws(
      new SoukError('upstream_unreachable', undefined, { source: 'upstream', members: { reason: 'connection_lost' } })
    )
    await fail(LIMIT.calls, one)
    await isRefused(one)
  })

  it('do not count if the API was never called', async () => {
    for (const error of [
      new SoukError('invalid_request'),
      new SoukError('operation_not_found'),
      new SoukError('upstream_unreachable', undefined, { source: 'upstream' })
    ]) {
      throws(error)
      await fail(LIMIT.calls + 1, one)
    }
    works()
    assert.equal((await bench.handle(one)).status, 200)
  })

  it('are offset by successful calls', async () => {
    for (let i = 0; i < LIMIT.calls * 4; i++) {
      refuses()
      await bench.handle(one)
      works()
      assert.equal((await bench.handle(one)).status, 200)
    }
  })

  it('are limited per node for changing consumers and for calls without a key', async () => {
    refuses()
    for (let n = 0; n < LIMIT.calls * FAILURES_PER_PEER; n++) await fail(1, { consumer: consumer(n) })
    await isRefused({ consumer: consumer(1_000_000) })
    await isRefused()
    assert.equal((await bench.handle({ peer: peerId('D') })).status, 404)
  })

  it('of one API do not affect others, and continue to count after a new revision', async () => {
    refuses()
    await fail(LIMIT.calls, one)
    await bench.owner.apis.set(
      servedApi(bench.adapter, { revision: 2 }, { ...DEFAULT_TERMS, failuresPerConsumer: LIMIT })
    )
    await isRefused(one)
    const free = await OwnerBench.open()
    assert.equal((await free.owner.handle(incoming(one), NEVER)).status, 200)
  })
})
