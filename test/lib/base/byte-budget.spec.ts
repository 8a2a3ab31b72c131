import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
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

  describe('wait', () => {
    const NEVER = new AbortController().signal

    it('counts at once what fits, and otherwise once others have freed their bytes, oldest first', async () => {
      const budget = new ByteBudget(100)
      const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((holder) => budget.hold(shareOf(holder, 100)))
      assert.ok(a && b && c && d)
      assert.equal(a.wait(90, NEVER), undefined)
      // One may exceed the limit, so that it becomes whole.
      assert.equal(b.wait(20, NEVER), undefined)
      const order: string[] = []
      const waiting = [c.wait(60, NEVER)?.then(() => order.push('c')), d.wait(60, NEVER)?.then(() => order.push('d'))]
      assert.equal(budget.bytes, 110)
      a.free()
      await waiting[0]
      assert.deepEqual([order, budget.bytes], [['c'], 80])
      b.free()
      await waiting[1]
      assert.deepEqual([order, budget.bytes], [['c', 'd'], 120])
      c.free()
      d.free()
      assert.equal(budget.bytes, 0)
    })

    it('never lets holdings that all need more wait for each other', async () => {
      const budget = new ByteBudget(100)
      const order: number[] = []
      const read = async (at: number) => {
        const held = budget.hold(shareOf('a', 50))
        for (let part = 0; part < 10; part++) {
          await held.wait(10, NEVER)
          await turn()
          assert.ok(budget.bytes <= 50 + 100, `${budget.bytes} bytes`)
        }
        order.push(at)
        held.free()
      }
      await Promise.all(Array.from({ length: 20 }, (_, at) => read(at)))
      assert.equal(order.length, 20)
      assert.equal(budget.bytes, 0)
    })

    it('ends with the reason of the signal, and counts nothing', async () => {
      const budget = new ByteBudget(10)
      const [first, second, third] = [1, 2, 3].map(() => budget.hold(shareOf('a')))
      assert.ok(first && second && third)
      first.take(10)
      assert.equal(second.wait(10, NEVER), undefined)
      const over = new AbortController()
      const waiting = third.wait(10, over.signal)
      over.abort(new Error('over'))
      await assert.rejects(async () => waiting, /over/)
      await assert.rejects(async () => third.wait(10, over.signal), /over/)
      first.free()
      second.free()
      assert.equal(budget.bytes, 0)
    })
  })
})
