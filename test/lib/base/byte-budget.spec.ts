import assert from 'node:assert/strict'
import { ByteBudget } from '../../../lib/base/byte-budget.ts'

const OVERLOADED = { code: 'overloaded', retryAfterMs: 1_000 }

describe('ByteBudget', () => {
  const shareOf = (holder: string, bytesMax = 40) => [{ holder, bytesMax }]

  it('limits the bytes of all holders together, and frees them', () => {
    const budget = new ByteBudget(100)
    const holdings = ['a', 'b', 'c'].map((holder) => budget.hold(shareOf(holder)))
    holdings[0]?.take(40)
    holdings[1]?.take(40)
    assert.throws(() => holdings[2]?.take(21), OVERLOADED)
    holdings[2]?.take(20)
    assert.equal(budget.bytes, 100)
    holdings[0]?.free()
    holdings[0]?.free()
    assert.equal(budget.bytes, 60)
    holdings[2]?.take(20)
    for (const each of holdings) each.free()
    assert.equal(budget.bytes, 0)
  })

  it('limits all holdings of one holder, and leaves the rest to others', () => {
    const budget = new ByteBudget(100)
    const [one, two] = [budget.hold(shareOf('a')), budget.hold(shareOf('a'))]
    one.take(30)
    assert.throws(() => two.take(11), OVERLOADED)
    two.take(10)
    budget.hold(shareOf('b')).take(40)
    one.free()
    two.take(30)
    assert.equal(budget.bytes, 80)
  })

  it('counts for several holders, and for none if one is full', () => {
    const budget = new ByteBudget(100)
    budget.hold(shareOf('host')).take(35)
    const both = budget.hold([...shareOf('key'), ...shareOf('host')])
    assert.throws(() => both.take(6), OVERLOADED)
    assert.equal(budget.bytes, 35)
    const key = budget.hold(shareOf('key'))
    key.take(40)
    assert.throws(() => both.take(1), OVERLOADED)
  })

  it('checks without counting', () => {
    const budget = new ByteBudget(100)
    const held = budget.hold(shareOf('a'))
    assert.throws(() => held.check(41), OVERLOADED)
    held.check(40)
    held.check(40)
    assert.equal(budget.bytes, 0)
  })
})
