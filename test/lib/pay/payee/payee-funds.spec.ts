import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { type Hold, PayeeFunds } from '../../../../lib/pay/payee/payee-funds.ts'

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)

describe('the funds of a payee', () => {
  const open = (ceiling: bigint, limit: bigint, captured = 0n): PayeeFunds => {
    const payeeFunds = new PayeeFunds({ ceiling, captured })
    payeeFunds.limitTo(limit)
    return payeeFunds
  }
  const held = (hold: Hold | string): Hold => {
    assert.ok(typeof hold === 'object', 'refused')
    return hold
  }

  it('admits a call exactly while captured, reserved and price stay within ceiling and limit', () => {
    const payeeFunds = open(100n, 100n, 40n)
    held(payeeFunds.reserve(60n)).release()
    assert.equal(payeeFunds.reserve(61n), 'limit')
    const first = held(payeeFunds.reserve(50n))
    assert.equal(payeeFunds.reserve(11n), 'limit')
    held(payeeFunds.reserve(10n))
    first.capture(20n)
    assert.equal(payeeFunds.captured, 60n)
    assert.equal(payeeFunds.reserved, 10n)
    held(payeeFunds.reserve(30n))
    assert.equal(open(100n, 200n).reserve(101n), 'ceiling')
    assert.equal(open(200n, 100n).reserve(101n), 'limit')
  })

  it('admits only free calls before the limit is known', () => {
    const payeeFunds = new PayeeFunds({ ceiling: 100n, captured: 0n })
    assert.equal(payeeFunds.reserve(1n), 'limit')
    held(payeeFunds.reserve(0n)).capture(0n)
  })

  it('never accepts a lower ceiling, for any order of vouchers', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 1_000n })), (ceilings) => {
        const payeeFunds = new PayeeFunds({ ceiling: 10n, captured: 0n })
        for (const ceiling of ceilings) {
          const before = payeeFunds.ceiling
          assert.equal(payeeFunds.raise(ceiling), ceiling > before)
          assert.ok(payeeFunds.ceiling >= before)
        }
        assert.equal(
          payeeFunds.ceiling,
          ceilings.reduce((most, each) => (each > most ? each : most), 10n)
        )
      })
    )
  })

  it('captures at most the held amount, and settles a call once', () => {
    const payeeFunds = open(100n, 100n)
    const hold = held(payeeFunds.reserve(30n))
    for (const wrong of [31n, -1n]) assert.throws(() => hold.capture(wrong), { code: 'internal_error' })
    hold.capture(12n)
    assert.deepEqual([payeeFunds.captured, payeeFunds.reserved], [12n, 0n])
    assert.throws(() => hold.release(), { code: 'internal_error' })
    assert.throws(() => hold.capture(0n), { code: 'internal_error' })
    assert.throws(() => hold.extend(1n), { code: 'internal_error' })
    assert.throws(() => payeeFunds.reserve(-1n), { code: 'internal_error' })
    assert.deepEqual([payeeFunds.captured, payeeFunds.reserved], [12n, 0n])
  })

  it('extends a hold only if that amount could be admitted', () => {
    const payeeFunds = open(100n, 100n)
    const hold = held(payeeFunds.reserve(30n))
    assert.equal(hold.extend(70n), undefined)
    assert.equal(hold.extend(1n), 'limit')
    assert.equal(hold.amount, 100n)
    hold.capture(100n)
    assert.deepEqual([payeeFunds.captured, payeeFunds.reserved], [100n, 0n])
  })

  it('lets running calls continue when the channel shrinks, and admits no more', () => {
    const payeeFunds = open(100n, 100n)
    const hold = held(payeeFunds.reserve(80n))
    payeeFunds.limitTo(-5n)
    assert.equal(payeeFunds.limit, 0n)
    assert.equal(payeeFunds.reserve(1n), 'limit')
    hold.capture(80n)
    assert.equal(payeeFunds.captured, 80n)
  })

  it('keeps its sums exact through any history', () => {
    type Step =
      | { do: 'reserve'; price: bigint }
      | { do: 'capture' | 'release' | 'extend'; which: number; part: bigint }
      | { do: 'raise' | 'limit'; to: bigint }
    const amount = fc.oneof(fc.bigInt({ min: 0n, max: 50n }), fc.bigInt({ min: 0n, max: 2n ** 127n }))
    const steps: fc.Arbitrary<Step> = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('reserve' as const), price: amount }) },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constantFrom('capture' as const, 'release' as const, 'extend' as const),
          which: fc.nat(),
          part: fc.bigInt({ min: 0n, max: 100n })
        })
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('raise' as const, 'limit' as const), to: amount }) }
    )
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 60 }), (history) => {
        const payeeFunds = open(40n, 60n)
        const holds: Hold[] = []
        let [captured, ceiling] = [0n, 40n]
        for (const step of history) {
          if ('to' in step) {
            if (step.do === 'raise') payeeFunds.raise(step.to)
            else payeeFunds.limitTo(step.to)
          } else if (step.do === 'reserve') {
            const fits =
              payeeFunds.captured + payeeFunds.reserved + step.price <= min(payeeFunds.ceiling, payeeFunds.limit)
            const hold = payeeFunds.reserve(step.price)
            assert.equal(typeof hold === 'object', fits)
            if (typeof hold === 'object') holds.push(hold)
          } else if (holds.length > 0) {
            const at = step.which % holds.length
            const hold = holds[at]!
            if (step.do === 'extend') {
              const fits =
                payeeFunds.captured + payeeFunds.reserved + step.part <= min(payeeFunds.ceiling, payeeFunds.limit)
              assert.equal(hold.extend(step.part) === undefined, fits)
            } else {
              holds.splice(at, 1)
              const part = step.do === 'capture' ? (hold.amount * step.part) / 100n : 0n
              if (step.do === 'capture') hold.capture(part)
              else hold.release()
              captured += part
            }
          }
          ceiling = payeeFunds.ceiling > ceiling ? payeeFunds.ceiling : ceiling
          assert.equal(payeeFunds.captured, captured)
          assert.equal(payeeFunds.ceiling, ceiling)
          assert.equal(
            payeeFunds.reserved,
            holds.reduce((sum, hold) => sum + hold.amount, 0n)
          )
          assert.ok(payeeFunds.captured + payeeFunds.reserved <= payeeFunds.ceiling)
        }
      }),
      { numRuns: 500 }
    )
  })
})
