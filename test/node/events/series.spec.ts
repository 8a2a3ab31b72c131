import assert from 'node:assert/strict'
import { Feed } from '../../../node/events/feed.ts'
import { Series } from '../../../node/events/series.ts'
import type { EndedCall } from '../../../node/events/watch-calls.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const MINUTE = 60_000

describe('the call series', () => {
  const call = (more: Partial<EndedCall> = {}): EndedCall => ({
    role: 'owner',
    request_id: 'r',
    at: 0,
    api: 'shop@p',
    status: 200,
    code: null,
    ms: 10,
    timing: {},
    charged: 1_000n,
    ...more
  })
  function bench() {
    const clock = manualClock(Date.UTC(2026, 0, 2, 3, 0, 0))
    const feed = new Feed<EndedCall>(1)
    const series = new Series({ calls: feed, clock })
    return { clock, series, tell: (more?: Partial<EndedCall>) => feed.tell(call(more)) }
  }

  it('counts calls, errors, charges and durations per minute', async () => {
    const { clock, series, tell } = bench()
    const from = clock.now()
    for (let ms = 1; ms <= 100; ms++) tell({ ms })
    await clock.advance(2 * MINUTE)
    tell({ status: 503, charged: 0n, ms: 4 })
    const { stepMs, points, total } = series.read('owner', from)
    assert.equal(stepMs, MINUTE)
    assert.deepEqual(
      points.map(({ calls, errors, charged }) => [calls, errors, charged]),
      [
        [100, 0, 100_000n],
        [0, 0, 0n],
        [1, 1, 0n]
      ]
    )
    const [first, empty] = points
    assert.ok(Math.abs((first?.p50 ?? 0) - 50) <= 5, String(first?.p50))
    assert.ok(Math.abs((first?.p95 ?? 0) - 95) <= 9.5, String(first?.p95))
    assert.equal(empty?.p50, undefined)
    assert.deepEqual([total.calls, total.errors, total.charged], [101, 1, 100_000n])
  })

  it('separates served calls from made calls', () => {
    const { clock, series, tell } = bench()
    tell({ role: 'payer' })
    assert.equal(series.read('owner', clock.now()).total.calls, 0)
    assert.equal(series.read('payer', clock.now()).total.calls, 1)
  })

  it('covers a week in quarters of an hour, and drops older data', async () => {
    const { clock, series, tell } = bench()
    const from = clock.now()
    tell()
    await clock.advance(6 * 24 * 60 * MINUTE)
    tell()
    const week = series.read('owner', from)
    assert.equal(week.stepMs, 15 * MINUTE)
    assert.equal(week.total.calls, 2)
    await clock.advance(2 * 24 * 60 * MINUTE)
    const later = series.read('owner', from)
    assert.equal(later.total.calls, 1)
    assert.equal(later.points.length, 7 * 24 * 4)
  })

  for (const backMs of [MINUTE, 10 * MINUTE, 400 * 24 * 60 * MINUTE]) {
    it(`counts on at once after the clock was set back by ${backMs / MINUTE} minutes`, async () => {
      const clock = manualClock(Date.UTC(2026, 0, 2, 3, 0, 0))
      let aheadMs = 0
      const feed = new Feed<EndedCall>(1)
      const series = new Series({ calls: feed, clock: { ...clock, now: () => clock.now() + aheadMs } })
      feed.tell(call())
      await clock.advance(MINUTE)
      aheadMs = backMs
      feed.tell(call())
      aheadMs = 0
      for (const since of [clock.now() - 2 * MINUTE, clock.now() - 3 * 24 * 60 * MINUTE]) {
        assert.equal(series.read('owner', since).total.calls, 2, 'nothing is lost')
      }
      assert.equal(series.startedAt, clock.now() - MINUTE)
      feed.tell(call())
      await clock.advance(MINUTE)
      feed.tell(call())
      const { points } = series.read('owner', clock.now() - 2 * MINUTE)
      assert.deepEqual(
        points.map(({ calls }) => calls),
        [1, 2, 1]
      )
    })
  }
})
