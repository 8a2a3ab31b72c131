import assert from 'node:assert/strict'
import { nextTurn, systemClock } from '../../../lib/base/clock.ts'
import { FairTurns } from '../../../lib/base/fair-turns.ts'

const PER_KEY_MAX = 8

describe('FairTurns', () => {
  let now: number
  let turns: FairTurns
  let done: string[]

  beforeEach(() => {
    now = 0
    done = []
    turns = new FairTurns({ clock: { ...systemClock, elapsed: () => now }, turnMs: 5, perKeyMax: PER_KEY_MAX })
  })

  /** A task of this many parts, each of 2 ms. */
  const run = (key: string, name: string, parts = 1) =>
    turns.run(key, async () => {
      for (let part = 0; part < parts; part++) {
        await turns.pause()
        now += 2
      }
      done.push(name)
    })

  it('alternates between keys', async () => {
    await Promise.all([run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1')])
    assert.deepEqual(done, ['a1', 'b1', 'a2', 'a3'])
  })

  it('lets short tasks of others pass a long one', async () => {
    await Promise.all([run('a', 'long', 100), run('b', 'b1'), run('b', 'b2'), run('a', 'a2')])
    assert.deepEqual(done, ['b1', 'b2', 'long', 'a2'])
  })

  it('leaves the event loop after the time of one turn', async () => {
    let turn = 0
    const over = new AbortController()
    const seen: number[] = []
    const count = async () => {
      for (; !over.signal.aborted; turn++) await nextTurn(systemClock)
    }
    void count()
    const tasks = Array.from({ length: PER_KEY_MAX }, () =>
      turns.run('a', async () => {
        now += 2
        seen.push(turn)
      })
    )
    await Promise.all(tasks)
    over.abort()
    const perTurn = [...Map.groupBy(seen, (each) => each).values()].map(({ length }) => length)
    assert.deepEqual(perTurn, [3, 3, 2])
  })

  it('refuses a task of a key that has too many, and goes on after one that fails', async () => {
    const failed = turns.run('a', () => Promise.reject(new Error('lost')))
    const others = Array.from({ length: PER_KEY_MAX - 1 }, (_, at) => run('a', String(at)))
    await assert.rejects(run('a', 'refused'), { code: 'overloaded' })
    await assert.rejects(failed, /lost/)
    await Promise.all([...others, run('b', 'b')])
    assert.equal(done.length, PER_KEY_MAX)
    await run('a', 'later')
  })
})
