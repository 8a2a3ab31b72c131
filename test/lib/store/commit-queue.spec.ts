import assert from 'node:assert/strict'
import { COMMIT_BATCH_BYTES_MAX, COMMIT_BATCH_MAX } from '../../../lib/base/limits.ts'
import { createCommitQueue, type Transactions } from '../../../lib/store/commit-queue.ts'

type Step = 'begin' | 'commit' | 'rollback' | 'isolate'

/** A database that writes down what was asked of it, and fails where it is told to. */
function stub(fails: (step: Step) => boolean = () => false) {
  const steps: string[] = []
  const turns: Array<() => void> = []
  const failures: Error[] = []
  const take = (step: Step) => {
    steps.push(step)
    if (fails(step)) throw new Error(`the disk failed at ${step}`)
  }
  let isActive = false
  const transactions: Transactions = {
    begin() {
      take('begin')
      isActive = true
    },
    commit() {
      take('commit')
      isActive = false
    },
    rollback() {
      take('rollback')
      isActive = false
    },
    isolate(write) {
      take('isolate')
      write()
    },
    get active() {
      return isActive
    }
  }
  const queue = createCommitQueue({
    clock: { soon: (task) => void turns.push(task) },
    transactions,
    onFailure: (error) => failures.push(error)
  })
  const turn = () => {
    for (const task of turns.splice(0)) task()
  }
  const write = (name: string, bytes = 1) => queue.write(bytes, () => (steps.push(name), name))
  const endTransaction = () => (isActive = false)
  return { queue, steps, turns, failures, turn, write, endTransaction }
}

describe('the commit queue', () => {
  it('writes nothing in the turn it is asked in, and all of that turn in one transaction, in order', async () => {
    const { steps, turn, write } = stub()
    const writes = [write('a'), write('b'), write('c')]
    assert.deepEqual(steps, [])
    turn()
    assert.deepEqual(steps, ['begin', 'a', 'b', 'c', 'commit'])
    assert.deepEqual(await Promise.all(writes), ['a', 'b', 'c'])
  })

  it('answers nobody before the commit', async () => {
    const { queue, turn } = stub()
    let answered = 0
    const write = queue.write(1, () => 1).then(() => answered++)
    await Promise.resolve()
    assert.equal(answered, 0)
    turn()
    assert.equal(answered, 0)
    await write
    assert.equal(answered, 1)
  })

  it('asks for no turn while nothing waits, and for one only while something does', () => {
    const { turns, turn, write } = stub()
    assert.equal(turns.length, 0)
    void write('a')
    void write('b')
    assert.equal(turns.length, 1)
    turn()
    assert.equal(turns.length, 0)
  })

  it('spreads more writes than one commit may hold over turns', async () => {
    const { steps, turn, write } = stub()
    const writes = Array.from({ length: COMMIT_BATCH_MAX + 1 }, (_, i) => write(String(i)))
    turn()
    assert.equal(steps.filter((step) => step === 'commit').length, 1)
    assert.equal(steps.length, COMMIT_BATCH_MAX + 2)
    turn()
    assert.deepEqual(steps.slice(-3), ['begin', String(COMMIT_BATCH_MAX), 'commit'])
    await Promise.all(writes)
  })

  it('spreads more bytes than one commit may hold, and still takes a write that is larger by itself', async () => {
    const { steps, turn, write } = stub()
    const half = COMMIT_BATCH_BYTES_MAX / 2
    const writes = [write('a', half), write('b', half), write('c', 1), write('d', 3 * half), write('e', 1)]
    for (let i = 0; i < 4; i++) turn()
    const commits = steps.join(' ').split(' commit')
    assert.deepEqual(commits, ['begin a b', ' begin c', ' begin d', ' begin e', ''])
    await Promise.all(writes)
  })

  it('rejects only the write that throws; the others are written in a second try', async () => {
    const { queue, steps, failures, turn, write } = stub()
    const cause = new Error('no such column')
    const bad = queue.write(1, () => {
      throw cause
    })
    const writes = Promise.allSettled([write('a'), bad, write('b')])
    turn()
    const [a, b, c] = await writes
    assert.deepEqual(
      [a, c].map((result) => result?.status),
      ['fulfilled', 'fulfilled']
    )
    assert.ok(b?.status === 'rejected')
    assert.equal((b.reason as { code: string }).code, 'internal_error')
    assert.equal((b.reason as Error).cause, cause)
    assert.doesNotMatch((b.reason as Error).message, /column/)
    assert.deepEqual(steps.slice(-6), ['begin', 'isolate', 'isolate', 'a', 'isolate', 'b', 'commit'].slice(-6))
    assert.deepEqual(failures, [])
    assert.equal(queue.failed, false)
  })

  for (const failing of ['begin', 'commit', 'rollback'] as const) {
    it(`fails for good when ${failing} fails: rejects all that wait, tells once, takes nothing more`, async () => {
      const { queue, failures, turn, write, steps } = stub((step) => step === failing)
      const breaker = failing === 'rollback' ? [queue.write(1, () => assert.fail('bad'))] : []
      const waiting = [...breaker, ...Array.from({ length: COMMIT_BATCH_MAX + 10 }, (_, i) => write(String(i)))]
      queue.writeBehind(1, () => steps.push('behind'))
      const settled = Promise.allSettled(waiting)
      turn()
      for (const result of await settled) {
        assert.ok(result.status === 'rejected')
        assert.equal((result.reason as { code: string }).code, 'internal_error')
        assert.doesNotMatch((result.reason as Error).message, /disk/)
      }
      assert.equal(failures.length, 1)
      assert.match((failures[0]!.cause as Error).message, /the disk failed/)
      assert.equal(queue.failed, true)

      const stepsBefore = steps.length
      await assert.rejects(write('later'), { code: 'internal_error' })
      queue.writeBehind(1, () => steps.push('behind'))
      turn()
      queue.close()
      assert.equal(steps.length, stepsBefore)
      assert.equal(failures.length, 1)
    })
  }

  it('fails for good when the database ends the transaction under a write', async () => {
    const { queue, failures, turn, write, endTransaction } = stub()
    const bad = queue.write(1, () => {
      endTransaction()
      throw new Error('disk full')
    })
    const settled = Promise.allSettled([write('a'), bad, write('b')])
    turn()
    assert.ok((await settled).every((result) => result.status === 'rejected'))
    assert.equal(failures.length, 1)
    assert.equal(queue.failed, true)
  })

  it('commits what waits when it is closed, then takes nothing more', async () => {
    const { queue, steps, turn, write } = stub()
    const writes = [write('a'), write('b')]
    queue.writeBehind(1, () => steps.push('behind'))
    queue.close()
    assert.deepEqual(steps, ['begin', 'a', 'b', 'behind', 'commit'])
    await Promise.all(writes)
    await assert.rejects(write('later'), { code: 'internal_error', message: 'The store is not open.' })
    turn()
    assert.equal(steps.length, 5)
  })
})
