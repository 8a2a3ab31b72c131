import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import { PERIODS } from '../../../lib/interface/plan.ts'
import { nextBoundary, plusPeriods } from '../../../lib/plans/calendar.ts'

const at = (text: string): number => Date.parse(text)
const time = fc.integer({ min: at('1970-01-01T00:00:00Z'), max: at('2200-01-01T00:00:00Z') })
const period = fc.constantFrom(...PERIODS)

describe('periods', () => {
  it('of months end on the last day of shorter months, and return to their day', () => {
    const ends = [1, 2, 3, 13, 25].map((count) =>
      new Date(plusPeriods(at('2023-01-31T10:20:30Z'), 'month', count)).toISOString()
    )
    assert.deepEqual(ends, [
      '2023-02-28T10:20:30.000Z',
      '2023-03-31T10:20:30.000Z',
      '2023-04-30T10:20:30.000Z',
      '2024-02-29T10:20:30.000Z',
      '2025-02-28T10:20:30.000Z'
    ])
  })

  it('of years do so on leap days', () => {
    const ends = [1, 4, 76].map((count) =>
      new Date(plusPeriods(at('2024-02-29T00:00:00Z'), 'year', count)).toISOString()
    )
    assert.deepEqual(ends, ['2025-02-28T00:00:00.000Z', '2028-02-29T00:00:00.000Z', '2100-02-28T00:00:00.000Z'])
  })

  it('keep the day of the month if it exists, else use the last day, and keep the time of day', () => {
    fc.assert(
      fc.property(
        time,
        fc.constantFrom('month' as const, 'year' as const),
        fc.integer({ min: 0, max: 300 }),
        (anchor, each, count) => {
          const [from, to] = [new Date(anchor), new Date(plusPeriods(anchor, each, count))]
          const months = from.getUTCFullYear() * 12 + from.getUTCMonth() + count * (each === 'year' ? 12 : 1)
          assert.equal(to.getUTCFullYear() * 12 + to.getUTCMonth(), months)
          const last = new Date(Date.UTC(Math.floor(months / 12), (months % 12) + 1, 0)).getUTCDate()
          assert.equal(to.getUTCDate(), Math.min(from.getUTCDate(), last))
          assert.equal(to.getTime() % DAY_MS, anchor % DAY_MS)
        }
      )
    )
  })

  it('of days and weeks have their exact length', () => {
    fc.assert(
      fc.property(time, fc.nat(1_000), (anchor, count) => {
        assert.equal(plusPeriods(anchor, 'day', count) - anchor, count * DAY_MS)
        assert.equal(plusPeriods(anchor, 'week', count) - anchor, 7 * count * DAY_MS)
      })
    )
  })

  it('follow without a gap: the next end is the first one after now', () => {
    fc.assert(
      fc.property(time, period, fc.integer({ min: 0, max: 20 * 366 * DAY_MS }), (anchor, each, later) => {
        const end = nextBoundary(anchor, each, anchor + later)
        assert.ok(end > anchor + later)
        let count = 1
        while (plusPeriods(anchor, each, count) < end) count++
        assert.equal(plusPeriods(anchor, each, count), end)
        assert.ok(count === 1 || plusPeriods(anchor, each, count - 1) <= anchor + later)
      }),
      { numRuns: 50 }
    )
  })
})
