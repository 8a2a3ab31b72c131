import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { type Hold, Tab } from '../../../../lib/pay/payee/tab.ts'

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)

describe('tab', () => {
  const open = (ceiling: bigint, limit: bigint, captured = 0n): Tab => {
    const tab = new Tab({ ceiling, captured })
    tab.limitTo(limit)
    return tab
  }
  const held = (hold: Hold | string): Hold => {
    assert.ok(typeof hold === 'object', 'refused')
    return hold
  }

  it('admits a call exactly while captured, reserved and price stay within ceiling and limit', () => {
    const tab = open(100n, 100n, 40n)
    held(tab.reserve(60n)).release()
    assert.equal(tab.reserve(61n), 'limit')
    const first = held(tab.reserve(50n))
    assert.equal(tab.reserve(11n), 'limit')
    held(tab.reserve(10n))
    first.capture(20n)
    assert.equal(tab.captured, 60n)
    assert.equal(tab.reserved, 10n)
    held(tab.reserve(30n))
    assert.equal(open(100n, 200n).reserve(101n), 'ceiling')
    assert.equal(open(200n, 100n).reserve(101n), 'limit')
  })

  it('admits only free calls before the limit is known', () => {
    const tab = new Tab({ ceiling: 100n, captured: 0n })
    assert.equal(tab.reserve(1n), 'limit')
    held(tab.reserve(0n)).capture(0n)
  })

  it('never accepts a lower ceiling, for any order of vouchers', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 1_000n })), (ceilings) => {
        const tab = new Tab({ ceiling: 10n, captured: 0n })
        for (const ceiling of ceilings) {
          const before = tab.ceiling
          assert.equal(tab.raise(ceiling), ceiling > before)
          assert.ok(tab.ceiling >= before)
        }
        assert.equal(
          tab.ceiling,
          ceilings.reduce((most, each) => (each > most ? each : most), 10n)
        )
      })
    )
  })

  it('captures at most the held amount, and settles a call once', () => {
    const tab = open(100n, 100n)
    const hold = held(tab.reserve(30n))
    for (const wrong of [31n, -1n]) assert.throws(() => hold.capture(wrong), { code: 'internal_error' })
    hold.capture(12n)
    assert.deepEqual([tab.captured, tab.reserved], [12n, 0n])
    assert.throws(() => hold.release(), { code: 'internal_error' })
    assert.throws(() => hold.capture(0n), { code: 'internal_error' })
    assert.throws(() => hold.extend(1n), { code: 'internal_error' })
    assert.throws(() => tab.reserve(-1n), { code: 'internal_error' })
    assert.deepEqual([tab.captured, tab.reserved], [12n, 0n])
  })

  it('extends a hold only if that amount could be admitted', () => {
    const tab = open(100n, 100n)
    const hold = held(tab.reserve(30n))
    assert.equal(hold.extend(70n), undefined)
    assert.equal(hold.extend(1n), 'limit')
    assert.equal(hold.amount, 100n)
    hold.capture(100n)
    assert.deepEqual([tab.captured, tab.reserved], [100n, 0n])
  })

  it('lets running calls continue when the channel shrinks, and admits no more', () => {
    const tab = open(100n, 100n)
    const hold = held(tab.reserve(80n))
    tab.limitTo(-5n)
    assert.equal(tab.limit, 0n)
    assert.equal(tab.reserve(1n), 'limit')
    hold.capture(80n)
    assert.equal(tab.captured, 80n)
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
        const tab = open(40n, 60n)
        const holds: Hold[] = []
        let [captured, ceiling] = [0n, 40n]
        for (const step of history) {
          if ('to' in step) {
            if (step.do === 'raise') tab.raise(step.to)
            else tab.limitTo(step.to)
          } else if (step.do === 'reserve') {
            const fits = tab.captured + tab.reserved + step.price <= min(tab.ceiling, tab.limit)
            const hold = tab.reserve(step.price)
            assert.equal(typeof hold === 'object', fits)
            if (typeof hold === 'object') holds.push(hold)
          } else if (holds.length > 0) {
            const at = step.which % holds.length
            const hold = holds[at]!
            if (step.do === 'extend') {
              const fits = tab.captured + tab.reserved + step.part <= min(tab.ceiling, tab.limit)
              assert.equal(hold.extend(step.part) === undefined, fits)
            } else {
              holds.splice(at, 1)
              const part = step.do === 'capture' ? (hold.amount * step.part) / 100n : 0n
              if (step.do === 'capture') hold.capture(part)
              else hold.release()
              captured += part
            }
          }
          ceiling = tab.ceiling > ceiling ? tab.ceiling : ceiling
          assert.equal(tab.captured, captured)
          assert.equal(tab.ceiling, ceiling)
          assert.equal(
            tab.reserved,
            holds.reduce((sum, hold) => sum + hold.amount, 0n)
          )
          assert.ok(tab.captured + tab.reserved <= tab.ceiling)
        }
      }),
      { numRuns: 500 }
    )
  })
})
