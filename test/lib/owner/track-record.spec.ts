import assert from 'node:assert/strict'
import { apiId } from '../../../lib/base/api-name.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import {
  SELF_REPORT_CALLS_MIN,
  SELF_REPORT_DAYS,
  SELF_REPORT_PATIENCE_MS,
  SELF_REPORT_WRITE_MS
} from '../../../lib/base/limits/directory.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import type { CallHandler, IncomingCall } from '../../../lib/interface/call.ts'
import { sameReport, TrackRecord } from '../../../lib/owner/track-record.ts'
import { peerId } from '../../helpers/call-record.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { memoryDocuments, NOW } from '../resolve/fixtures.ts'

const API = apiId('ticker', peerId('P'))
const { signal: patient } = new AbortController()

describe('an owner’s self-report', () => {
  let clock: ReturnType<typeof manualClock>
  let documents: ReturnType<typeof memoryDocuments>
  let track: TrackRecord

  const open = async () => {
    track = new TrackRecord({ documents, clock, isOwn: (api) => api === API })
    await track.start()
  }
  beforeEach(async () => {
    clock = manualClock(NOW)
    documents = memoryDocuments()
    await open()
  })

  const callOf = (changes: Partial<IncomingCall> = {}) => ({ api: API, ...changes }) as IncomingCall
  const answer = (status: number, ms = 10, extra = {}): CallHandler => {
    return async () => {
      await clock.advance(ms)
      return { status, ...extra } as Awaited<ReturnType<CallHandler>>
    }
  }
  const fail = (error: Error): CallHandler => {
    return async () => {
      throw error
    }
  }
  const make = async (calls: number, handler: CallHandler, call = callOf(), signal = patient) => {
    for (let i = 0; i < calls; i++) {
      const startedAt = clock.elapsed()
      await handler(call, signal).then(
        (response) => track.onAnswer(call, response, clock.elapsed() - startedAt),
        (error: unknown) => track.onError(call, error, clock.elapsed() - startedAt, signal)
      )
    }
  }

  it('is absent for few calls', async () => {
    await make(SELF_REPORT_CALLS_MIN - 1, answer(200))
    assert.equal(track.report(API), undefined)
    await make(1, answer(200))
    assert.equal(track.report(API)?.calls, SELF_REPORT_CALLS_MIN)
  })

  it('has coarse steps, and is never better than the counts', async () => {
    await make(93, answer(200, 42))
    await make(7, answer(503))
    const report = track.report(API)
    assert.deepEqual(report, {
      until: clock.now(),
      days: SELF_REPORT_DAYS,
      calls: 100,
      goodPerMille: 900,
      p50Ms: 50,
      p95Ms: 50
    })
    await make(5, answer(200, 42))
    assert.equal(sameReport(track.report(API), report), true, 'a little more is the same report')
    await make(100, answer(200, 42))
    assert.deepEqual([track.report(API)?.calls, track.report(API)?.goodPerMille], [200, 950])
  })

  it('counts errors of the API only', async () => {
    await make(40, answer(200))
    await make(20, answer(404))
    await make(20, fail(new SoukError('invalid_request')))
    await make(20, fail(new SoukError('payment_required')))
    await make(20, answer(200, 10, { replayed: true }))
    await make(20, answer(200), callOf({ api: apiId('other', peerId('P')) }))
    await make(20, answer(200), callOf({ service: 1 }))
    assert.deepEqual([track.report(API)?.calls, track.report(API)?.goodPerMille], [20, 1_000])
    await make(10, fail(new SoukError('upstream_unreachable')))
    assert.deepEqual([track.report(API)?.calls, track.report(API)?.goodPerMille], [50, 800])
  })

  it('counts a cancelled call only after a long wait', async () => {
    await make(20, answer(200))
    const ended = AbortSignal.abort(new SoukError('upstream_timeout'))
    const endsAfter = (ms: number): CallHandler => {
      return async () => {
        await clock.advance(ms)
        throw new SoukError('upstream_timeout')
      }
    }
    await make(20, endsAfter(SELF_REPORT_PATIENCE_MS / 2), callOf(), ended)
    assert.equal(track.report(API)?.goodPerMille, 1_000)
    await make(20, endsAfter(SELF_REPORT_PATIENCE_MS), callOf(), ended)
    assert.equal(track.report(API)?.goodPerMille, 500)
  })

  it('covers a fixed number of days, and deletes older counts from disk', async () => {
    await make(30, answer(200))
    await clock.advance((SELF_REPORT_DAYS - 1) * DAY_MS)
    assert.equal(track.report(API)?.calls, 20)
    await clock.advance(DAY_MS)
    assert.equal(track.report(API), undefined)
    await open()
    assert.deepEqual(await documents.list('track_record'), [])
  })

  it('is written asynchronously, and survives a restart', async () => {
    await make(30, answer(200))
    const before = track.report(API)
    assert.deepEqual(documents.writes, [])
    await clock.advance(SELF_REPORT_WRITE_MS)
    assert.equal(documents.writes.length, 1)
    await open()
    assert.equal(sameReport(track.report(API), before), true)
    await make(100, answer(200))
    await track.stop()
    await open()
    assert.equal(track.report(API)?.calls, 100)
  })
})
