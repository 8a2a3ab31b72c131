import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { checkRateLimit, type RateLimit, RateLimiter } from '../../../lib/base/gcra.ts'
import { RATE_CALLS_MAX, RATE_PER_MS_MAX, RATE_SHARES } from '../../../lib/base/limits/admission.ts'

/** A clock that counts microseconds and returns milliseconds, as the limiter expects. */
function microClock(at = 0) {
  return { at, elapsed: () => clock.at / 1_000 } as { at: number; elapsed(): number } & typeof clock
}
const clock = { at: 0 }

describe('RateLimiter', () => {
  beforeEach(() => {
    clock.at = 0
  })
  const limiter = (keysMax = 100) => new RateLimiter(microClock(), keysMax)
  const isWithin = (rates: RateLimiter, limit: RateLimit, key = 'a') => rates.take(key, limit).isWithin

  it('allows the limit at once, then one call at a time', () => {
    const rates = limiter()
    const limit = { calls: 4, perMs: 1_000 }
    const first = Array.from({ length: 6 }, () => rates.take('a', limit))
    assert.deepEqual(
      first.map((rating) => rating.isWithin),
      [true, true, true, true, false, false]
    )
    assert.deepEqual(
      first.map(({ remaining }) => remaining),
      [3, 2, 1, 0, 0, 0]
    )
    assert.equal(first[5]?.resetMs, 250)
    clock.at = 249_999
    assert.equal(isWithin(rates, limit), false)
    clock.at = 250_000
    assert.equal(isWithin(rates, limit), true)
    assert.equal(isWithin(rates, limit), false)
  })

  it('allows fewer calls at once with a smaller burst, at the same rate', () => {
    const rates = limiter()
    const limit = { calls: 60, perMs: 60_000, burst: 2 }
    assert.deepEqual(
      [1, 2, 3].map(() => isWithin(rates, limit)),
      [true, true, false]
    )
    clock.at = 1_000_000
    assert.deepEqual(
      [1, 2].map(() => isWithin(rates, limit)),
      [true, false]
    )
  })

  it('counts per key, and gives back reverted calls', () => {
    const rates = limiter()
    const limit = { calls: 1, perMs: 1_000 }
    assert.equal(isWithin(rates, limit, 'a'), true)
    assert.equal(isWithin(rates, limit, 'b'), true)
    assert.equal(isWithin(rates, limit, 'a'), false)
    rates.giveBack('a', limit)
    assert.equal(isWithin(rates, limit, 'a'), true)
    rates.giveBack('c', limit)
    assert.deepEqual(
      [1, 2].map(() => isWithin(rates, limit, 'c')),
      [true, false],
      'more than all of it was given back'
    )
  })

  it('keeps the used fraction when a limit changes', () => {
    const rates = limiter()
    const narrow = { calls: 10, perMs: 10_000 }
    for (let i = 0; i < 5; i++) rates.take('a', narrow)
    assert.equal(rates.take('a', { calls: 100, perMs: 1_000 }).remaining, 49)
  })

  it('tells when the next call is allowed, to the microsecond', () => {
    const limits = fc.record({
      calls: fc.integer({ min: 1, max: RATE_CALLS_MAX }),
      perMs: fc.integer({ min: 1, max: RATE_PER_MS_MAX }),
      burst: fc.integer({ min: 1, max: 20 })
    })
    fc.assert(
      fc.property(limits, fc.nat({ max: 10 ** 9 }), (limit, start) => {
        clock.at = start
        const rates = limiter()
        for (let i = 0; i < limit.burst; i++) assert.ok(isWithin(rates, limit))
        const { resetMs, remaining } = rates.take('a', limit)
        assert.equal(remaining, 0)
        const resetUs = Math.round(resetMs * 1_000)
        clock.at = start + resetUs - 1
        assert.equal(isWithin(rates, limit), false)
        clock.at = start + resetUs
        assert.equal(isWithin(rates, limit), true)
      })
    )
  })

  /**
   * The virtual-scheduling form of the algorithm in exact fractions: theoretical arrival times as numerators over
   * `calls`.
   */
  class Scheduler {
    #next = 0n
    takes({ calls, perMs, burst = calls }: RateLimit, atUs: number): boolean {
      const [interval, now] = [BigInt(perMs) * 1_000n, BigInt(atUs) * BigInt(calls)]
      const next = this.#next > now ? this.#next : now
      if (next - now > interval * BigInt(burst - 1)) return false
      this.#next = next + interval
      return true
    }
  }

  it('matches virtual scheduling in integers for any sequence of calls', () => {
    const limits = fc.record({
      calls: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: RATE_CALLS_MAX })),
      perMs: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: RATE_PER_MS_MAX })),
      burst: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: RATE_CALLS_MAX }))
    })
    const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 2_000 }), fc.nat({ max: 10 ** 12 })), {
      maxLength: 300
    })
    fc.assert(
      fc.property(limits, gaps, (limit, pauses) => {
        clock.at = 0
        const [rates, model] = [limiter(), new Scheduler()]
        for (const pause of pauses) {
          clock.at += pause
          assert.equal(isWithin(rates, limit), model.takes(limit, clock.at))
        }
      })
    )
  })

  it('never evicts an active key for a new one; new keys share a limit per group', () => {
    const limit = { calls: 1, perMs: 1_000 }
    const rates = limiter(2)
    assert.equal(rates.take('a', limit, 'x').isWithin, true)
    assert.equal(rates.take('b', limit, 'x').isWithin, true)
    const flood = Array.from({ length: 50 }, (_, i) => rates.take(`flood ${i}`, limit, 'flooder').isWithin)
    assert.equal(flood.filter(Boolean).length, 1, 'a flood got more than one share')
    assert.equal(rates.take('a', limit, 'x').isWithin, false, 'a flood gave others their limit anew')
    assert.equal(rates.take('honest', limit, 'y').isWithin, true, 'a flood by one group took that of another')
    // All counters have drained, so new keys have limits of their own again.
    clock.at = 1_000_000
    assert.deepEqual(
      ['n', 'm'].map((key) => rates.take(key, limit, 'flooder').isWithin),
      [true, true]
    )
  })

  it('has a limited number of shared counters', () => {
    const limit = { calls: 1, perMs: 60_000 }
    const rates = limiter(1)
    rates.take('known', limit)
    const within = Array.from({ length: 20_000 }, (_, i) => rates.take(`k${i}`, limit, `group ${i}`).isWithin)
    assert.ok(within.filter(Boolean).length <= RATE_SHARES)
  })

  it('rejects invalid limits', () => {
    const refused: RateLimit[] = [
      { calls: 0, perMs: 1 },
      { calls: 1.5, perMs: 1 },
      { calls: RATE_CALLS_MAX + 1, perMs: 1 },
      { calls: 1, perMs: 0 },
      { calls: 1, perMs: RATE_PER_MS_MAX + 1 },
      { calls: 1, perMs: 1, burst: 0 },
      { calls: 1, perMs: Number.NaN }
    ]
    for (const limit of refused) assert.throws(() => checkRateLimit(limit), { code: 'invalid_request' })
    checkRateLimit({ calls: RATE_CALLS_MAX, perMs: RATE_PER_MS_MAX, burst: RATE_CALLS_MAX })
    assert.ok(RATE_CALLS_MAX * RATE_PER_MS_MAX * 1_000 < Number.MAX_SAFE_INTEGER, 'levels would be rounded')
  })
})
