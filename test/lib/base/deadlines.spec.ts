import assert from 'node:assert/strict'
import { Deadlines } from '../../../lib/base/deadlines.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'

describe('deadlines on one timer', () => {
  let clock: ManualClock
  let late: Array<readonly [key: string, at: number]>
  let deadlines: Deadlines<string>
  beforeEach(() => {
    clock = manualClock()
    late = []
    const start = clock.elapsed()
    deadlines = new Deadlines(clock, (key) => late.push([key, clock.elapsed() - start]))
  })

  it('end each limit at its time, whatever their order', async () => {
    deadlines.add('long', 300)
    deadlines.add('short', 100)
    deadlines.add('middle', 200)
    await clock.advance(99)
    assert.deepEqual(late, [])
    await clock.advance(1_000)
    assert.deepEqual(late, [
      ['short', 100],
      ['middle', 200],
      ['long', 300]
    ])
  })

  it('forget a deleted limit, also if it was the next one', async () => {
    deadlines.add('next', 100)
    deadlines.add('other', 200)
    deadlines.delete('next')
    await clock.advance(1_000)
    assert.deepEqual(late, [['other', 200]])
  })

  it('take limits that are added while one ends, and after all have ended', async () => {
    const added: string[] = []
    deadlines = new Deadlines(clock, (key) => {
      late.push([key, clock.elapsed()])
      if (added.push(key) < 4) deadlines.add(`${key}'`, 50)
    })
    deadlines.add('a', 100)
    deadlines.add('b', 1_000)
    await clock.advance(2_000)
    assert.deepEqual(added, ['a', "a'", "a''", "a'''", 'b'])
    deadlines.add('c', 10)
    await clock.advance(10)
    assert.equal(added.at(-1), 'c')
  })

  it('leave no timer once they are retired and the last limit is gone', () => {
    deadlines.add('a', 100)
    deadlines.add('b', 200)
    deadlines.delete('a')
    deadlines.retire()
    assert.equal(clock.pending, 1)
    deadlines.delete('b')
    assert.equal(clock.pending, 0)
  })
})
