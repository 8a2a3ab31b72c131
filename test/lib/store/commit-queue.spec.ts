import assert from 'node:assert/strict'
import { format } from 'node:util'
import { SILENT_LOG } from '../../../lib/base/component-log.ts'
import { SLOW_COMMIT_MS } from '../../../lib/base/limits/process.ts'
import { COMMIT_BATCH_BYTES_MAX, COMMIT_BATCH_MAX } from '../../../lib/base/limits/store.ts'
import { createCommitQueue, type Transactions } from '../../../lib/store/commit-queue.ts'

type Step = 'begin' | 'commit' | 'rollback' | 'isolate' | 'sync'

/** A database that records its operations, and fails on request. */
function stub(fails: (step: Step) => boolean = () => false) {
  const steps: string[] = []
  const turns: Array<() => void> = []
  const syncs: Array<() => void> = []
  const failures: Error[] = []
  const lines: string[] = []
  const time = { now: 0 }
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
    sync(done) {
      steps.push('sync')
      syncs.push(() => done(fails('sync') ? new Error('the disk failed at sync') : null))
    },
    isFatal: (error) => error instanceof Error && error.message === 'the file is damaged',
    get active() {
      return isActive
    }
  }
  const queue = createCommitQueue({
    clock: { soon: (task) => void turns.push(task), elapsed: () => time.now },
    transactions,
    log: Object.assign((...args: unknown[]) => void lines.push(format(...args)), { ...SILENT_LOG, enabled: true }),
    onFailure: (error) => failures.push(error)
  })
  const turn = () => {
    for (const task of turns.splice(0)) task()
  }
  /** Completes the pending disk sync. */
  const reach = () => {
    for (const done of syncs.splice(0)) done()
  }
  /** Runs turns and disk syncs until nothing is left to do. */
  const settle = () => {
    while (turns.length + syncs.length > 0) {
      turn()
      reach()
    }
  }
  const write = (name: string, bytes = 1) => queue.write(bytes, () => (steps.push(name), name))
  const endTransaction = () => (isActive = false)
  return { queue, steps, turns, failures, turn, reach, settle, write, endTransaction, lines, time }
}

describe('the commit queue', () => {
  it('writes nothing in the same turn, and all writes of a turn in one transaction, in order', async () => {
    const { steps, turn, reach, write } = stub()
    const writes = [write('a'), write('b'), write('c')]
    assert.deepEqual(steps, [])
    turn()
    assert.deepEqual(steps, ['begin', 'a', 'b', 'c', 'commit', 'sync'])
    reach()
    assert.deepEqual(await Promise.all(writes), ['a', 'b', 'c'])
  })

  it('resolves no write before it is on disk', async () => {
    const { queue, turn, reach } = stub()
    const events: string[] = []
    const note = (event: string) => () => void events.push(event)
    const writes = [queue.write(1, () => 1).then(note('written')), queue.write(1, () => 2).then(note('written'))]
    assert.equal(queue.settled(), undefined)
    turn()
    const settled = queue.settled()?.then(note('settled'))
    assert.ok(settled)
    await new Promise(setImmediate)
    assert.deepEqual(events, [])
    reach()
    await Promise.all([...writes, settled])
    assert.deepEqual(new Set(events), new Set(['settled', 'written']))
    assert.equal(events.length, 3)
    assert.equal(queue.settled(), undefined)
  })

  it('collects writes during a disk wait for one later commit', async () => {
    const { steps, turns, turn, reach, write } = stub()
    const writes = [write('a'), write('b')]
    turn()
    writes.push(write('c'))
    assert.equal(turns.length, 0)
    writes.push(write('d'))
    reach()
    turn()
    reach()
    assert.deepEqual(steps, ['begin', 'a', 'b', 'commit', 'sync', 'begin', 'c', 'd', 'commit', 'sync'])
    await Promise.all(writes)
  })

  it('does not wait for the disk in its own thread, even with single writes', async () => {
    const { steps, turn, reach, write } = stub()
    for (const name of ['a', 'b']) {
      const writing = write(name)
      turn()
      assert.equal(steps.at(-1), 'sync', 'the write is pending after the turn')
      reach()
      assert.equal(await writing, name)
    }
  })

  it('logs a commit that is slow, from its first write to the disk', async () => {
    const { turn, reach, write, lines, time } = stub()
    for (const ms of [SLOW_COMMIT_MS - 1, SLOW_COMMIT_MS]) {
      const writes = [write('a'), write('b')]
      turn()
      time.now += ms
      reach()
      await Promise.all(writes)
    }
    assert.deepEqual(lines, [`slow commit: 2 writes took ${SLOW_COMMIT_MS} ms`])
  })

  it('logs a commit that failed once', async () => {
    const { turn, write, lines } = stub((step) => step === 'commit')
    const writes = [write('a'), write('b')]
    turn()
    for (const each of writes) await assert.rejects(each)
    await assert.rejects(write('c'))
    assert.deepEqual(lines, ['a commit of 2 writes failed: Error'])
  })

  it('stops at a write that meets a damaged file: no other is tried', async () => {
    const { queue, turn, reach, write, failures } = stub()
    const damaged = queue.write(1, () => {
      throw new Error('the file is damaged')
    })
    const others = [write('a'), write('b')]
    turn()
    reach()
    for (const each of [damaged, ...others])
      await assert.rejects(each, { code: 'internal_error', message: /restarted/ })
    assert.equal(failures.length, 1)
  })

  it('reports no write as durable once the store failed elsewhere', async () => {
    const { queue, turn, reach, write, failures } = stub()
    const writing = write('a')
    turn()
    queue.fail(new Error('a page could not be read'))
    reach()
    await assert.rejects(writing, { code: 'internal_error' })
    assert.equal(failures.length, 1)
  })

  it('schedules a turn only while writes are waiting', () => {
    const { turns, turn, reach, write } = stub()
    assert.equal(turns.length, 0)
    void write('a')
    void write('b')
    assert.equal(turns.length, 1)
    turn()
    reach()
    assert.equal(turns.length, 0)
  })

  it('spreads many writes over several commits', async () => {
    const { steps, turn, reach, write } = stub()
    const writes = Array.from({ length: COMMIT_BATCH_MAX + 1 }, (_, i) => write(String(i)))
    turn()
    assert.equal(steps.filter((step) => step === 'commit').length, 1)
    assert.equal(steps.length, COMMIT_BATCH_MAX + 3)
    reach()
    turn()
    assert.deepEqual(steps.slice(-4), ['begin', String(COMMIT_BATCH_MAX), 'commit', 'sync'])
    reach()
    await Promise.all(writes)
  })

  it('spreads many bytes over several commits, and still accepts a single larger write', async () => {
    const { steps, settle, write } = stub()
    const half = COMMIT_BATCH_BYTES_MAX / 2
    const writes = [write('a', half), write('b', half), write('c', 1), write('d', 3 * half), write('e', 1)]
    settle()
    const commits = steps.join(' ').split(' commit sync')
    assert.deepEqual(commits, ['begin a b', ' begin c', ' begin d', ' begin e', ''])
    await Promise.all(writes)
  })

  it('rejects only the failing write; the others are written in a second attempt', async () => {
    const { queue, steps, failures, settle, write } = stub()
    const cause = new Error('no such column')
    const bad = queue.write(1, () => {
      throw cause
    })
    const writes = Promise.allSettled([write('a'), bad, write('b')])
    settle()
    const [a, b, c] = await writes
    assert.deepEqual(
      [a, c].map((result) => result?.status),
      ['fulfilled', 'fulfilled']
    )
    assert.ok(b?.status === 'rejected')
    assert.equal((b.reason as { code: string }).code, 'internal_error')
    assert.equal((b.reason as Error).cause, cause)
    assert.doesNotMatch((b.reason as Error).message, /column/)
    assert.deepEqual(steps.slice(-8), ['begin', 'isolate', 'isolate', 'a', 'isolate', 'b', 'commit', 'sync'])
    assert.deepEqual(failures, [])
    assert.equal(queue.failure, undefined)
  })

  for (const failing of ['begin', 'commit', 'rollback', 'sync'] as const) {
    it(`fails permanently when ${failing} fails: rejects all waiting writes, reports once, accepts no more`, async () => {
      const { queue, failures, settle, write, steps } = stub((step) => step === failing)
      const breaker = failing === 'rollback' ? [queue.write(1, () => assert.fail('bad'))] : []
      const waiting = [...breaker, ...Array.from({ length: COMMIT_BATCH_MAX + 10 }, (_, i) => write(String(i)))]
      queue.writeBehind(1, () => steps.push('behind'))
      const settled = Promise.allSettled(waiting)
      settle()
      for (const result of await settled) {
        assert.ok(result.status === 'rejected')
        assert.equal((result.reason as { code: string }).code, 'internal_error')
        assert.doesNotMatch((result.reason as Error).message, /disk/)
      }
      assert.equal(failures.length, 1)
      assert.match((failures[0]!.cause as Error).message, /the disk failed/)
      assert.equal(queue.failure?.code, 'internal_error')

      const stepsBefore = steps.length
      await assert.rejects(write('later'), { code: 'internal_error' })
      queue.writeBehind(1, () => steps.push('behind'))
      settle()
      await queue.close()
      assert.equal(steps.length, stepsBefore)
      assert.equal(failures.length, 1)
    })
  }

  it('fails permanently when the database ends the transaction during a write', async () => {
    const { queue, failures, turn, write, endTransaction } = stub()
    const bad = queue.write(1, () => {
      endTransaction()
      throw new Error('disk full')
    })
    const settled = Promise.allSettled([write('a'), bad, write('b')])
    turn()
    assert.ok((await settled).every((result) => result.status === 'rejected'))
    assert.equal(failures.length, 1)
    assert.equal(queue.failure?.code, 'internal_error')
  })

  it('rejects waiting readers when the disk fails', async () => {
    const { queue, turn, reach, write } = stub((step) => step === 'sync')
    const writes = Promise.allSettled([write('a'), write('b')])
    turn()
    const settled = assert.rejects(queue.settled() ?? Promise.resolve(), { code: 'internal_error' })
    reach()
    await Promise.all([writes, settled])
  })

  it('commits waiting writes when it is closed, then accepts no more', async () => {
    const { queue, steps, turn, reach, write } = stub()
    const writes = [write('a'), write('b')]
    queue.writeBehind(1, () => steps.push('behind'))
    const closed = queue.close()
    reach()
    await closed
    assert.deepEqual(steps, ['begin', 'a', 'b', 'behind', 'commit', 'sync'])
    await Promise.all(writes)
    await assert.rejects(write('later'), { code: 'internal_error', message: 'The store is not open.' })
    turn()
    assert.equal(steps.length, 6)
  })

  it('waits for the pending disk sync before it commits the rest and closes', async () => {
    const { queue, steps, turn, reach, write } = stub()
    const writes = [write('a'), write('b')]
    turn()
    writes.push(write('c'))
    const closed = queue.close()
    assert.deepEqual(steps, ['begin', 'a', 'b', 'commit', 'sync'])
    reach()
    while (steps.length < 9) await Promise.resolve()
    reach()
    await closed
    assert.deepEqual(steps.slice(5), ['begin', 'c', 'commit', 'sync'])
    assert.deepEqual(await Promise.all(writes), ['a', 'b', 'c'])
  })
})
