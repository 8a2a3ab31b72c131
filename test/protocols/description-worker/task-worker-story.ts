import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { TASK_PROCESS_KEPT_BYTES } from '../../../lib/base/limits/descriptions.ts'
import { TaskWorker } from '../../../protocols/description-worker/task-worker.ts'
import { eventually } from '../../helpers/eventually.ts'
import { hasted } from '../../helpers/hasty-clock.ts'
import type { HOSTILE_TASKS } from '../../helpers/hostile-tasks.ts'

const LIMITS = {
  entry: new URL('../../helpers/hostile-tasks.ts', import.meta.url),
  doing: 'Reading it',
  // A busy machine takes seconds to fill the memory of a process.
  taskMs: 30_000,
  heapMib: 64,
  waitingMax: 4,
  idleMs: 10_000
}

export interface HostileTasks {
  readonly memory: ReadonlyArray<'objects' | 'array' | 'map'>
  readonly endless: ReadonlyArray<'loop' | 'backtrack' | 'sleep'>
}

/** Each hostile task uses a CPU for seconds. */
export const taskWorker = ({ memory, endless }: HostileTasks) =>
  describe('a worker for untrusted documents', () => {
    let worker: TaskWorker<typeof HOSTILE_TASKS>
    beforeEach(() => {
      worker = new TaskWorker(LIMITS)
    })
    afterEach(() => worker.close())

    it("runs one task after the other in the same process, without this process's environment", async () => {
      const results = await Promise.all([1, 2, 3].map((one) => worker.run('double', one)))
      assert.deepEqual(results, [2, 4, 6])
      assert.equal(await worker.run('pid', undefined), worker.pid)
      assert.deepEqual(await worker.run('environment', undefined), [])
    })

    it("passes on a task's error", async () => {
      await assert.rejects(worker.run('refuse', undefined), { code: 'invalid_request', message: 'No such thing.' })
    })

    it('shortens an error that quotes a long name', async () => {
      await assert.rejects(worker.run('complain', undefined), { code: 'invalid_request', message: 'x'.repeat(4_096) })
    })

    it('reports a document that makes the reader fail as unreadable', async () => {
      await assert.rejects(worker.run('fail', undefined), { code: 'invalid_request' })
      await assert.rejects(worker.run('recurse', undefined), {
        code: 'description_too_complex',
        message: /nested too deeply/
      })
    })

    it('refuses a result that is much larger than its document', async () => {
      await assert.rejects(worker.run('repeat', undefined), {
        code: 'description_too_complex',
        message: /more than 67108864 characters/
      })
      assert.equal((await worker.run('share', undefined)).length, 100)
    })

    for (const name of memory) {
      it(`survives a task that takes all memory: ${name}`, async () => {
        await assert.rejects(worker.run(name, undefined), {
          code: 'description_too_complex',
          message: /more than 64 MiB of memory/
        })
        assert.equal(await worker.run('double', 4), 8)
      })
    }

    for (const name of ['exit', 'crash'] as const) {
      it(`survives a task that ends the process: ${name}`, async () => {
        await assert.rejects(worker.run(name, undefined), { code: 'description_too_complex' })
        assert.equal(await worker.run('double', 4), 8)
      })
    }

    for (const name of endless) {
      it(`ends a slow task: ${name}`, async () => {
        const impatient = new TaskWorker<typeof HOSTILE_TASKS>({ ...LIMITS, taskMs: 1_500 }, hasted(4))
        try {
          const running = impatient.run(name, undefined)
          const after = impatient.run('double', 4)
          await assert.rejects(running, { code: 'description_too_complex', message: /longer than 1.5 seconds/ })
          assert.equal(await after, 8)
        } finally {
          impatient.close()
        }
      })
    }

    it('waits for a process to which a busy machine gives no time', async () => {
      const strict = new TaskWorker<typeof HOSTILE_TASKS>({ ...LIMITS, taskMs: 100 })
      try {
        const running = strict.run('double', 4)
        const pid = await eventually('the process', 5_000, () => strict.pid)
        process.kill(pid, 'SIGSTOP')
        await pause(2_000)
        process.kill(pid, 'SIGCONT')
        assert.equal(await running, 8)
      } finally {
        strict.close()
      }
    })

    it('aborts a waiting or running task with its signal', async () => {
      const [first, second] = [new AbortController(), new AbortController()]
      const running = worker.run('loop', undefined, first.signal)
      const waiting = worker.run('loop', undefined, second.signal)
      const [why, too] = [new Error('no use for it'), new Error('nor for this')]
      second.abort(too)
      await assert.rejects(waiting, too)
      first.abort(why)
      await assert.rejects(running, why)
      assert.equal(await worker.run('double', 4), 8)
    })

    it('rejects tasks above the queue limit', async () => {
      const stop = new AbortController()
      const running = worker.run('loop', undefined, stop.signal)
      const waiting = Array.from({ length: LIMITS.waitingMax }, () => worker.run('double', 1))
      await assert.rejects(worker.run('double', 1), { code: 'overloaded' })
      stop.abort(new Error('enough'))
      await assert.rejects(running)
      await Promise.all(waiting)
    })

    it('keeps no process that a task has made large', async () => {
      assert.equal(await worker.run('outgrow', 1), 1)
      assert.notEqual(worker.pid, undefined)
      assert.equal(await worker.run('outgrow', TASK_PROCESS_KEPT_BYTES), TASK_PROCESS_KEPT_BYTES)
      assert.equal(worker.pid, undefined)
      assert.equal(await worker.run('double', 4), 8)
    })

    it('ends its process when it is idle', async () => {
      const hasty = new TaskWorker<typeof HOSTILE_TASKS>({ ...LIMITS, idleMs: 50 })
      const pid = await hasty.run('pid', undefined)
      await eventually('the end of the process', 10_000, () => hasEnded(pid))
      assert.equal(hasty.pid, undefined)
      assert.notEqual(await hasty.run('pid', undefined), pid)
      hasty.close()
    })

    it('ends its process even if this process is killed during a task', async () => {
      const source = `
      const { TaskWorker } = await import(${JSON.stringify(new URL('../../../protocols/description-worker/task-worker.ts', import.meta.url).href)})
      const worker = new TaskWorker({ ...${JSON.stringify(LIMITS)}, entry: new URL(${JSON.stringify(LIMITS.entry.href)}) })
      await worker.run('double', 1)
      void worker.run('loop')
      setImmediate(() => console.log(worker.pid))`
      const parent = spawn(process.execPath, ['--input-type=module', '-e', source], {
        stdio: ['ignore', 'pipe', 'inherit']
      })
      const [chunk] = (await once(parent.stdout, 'data')) as [Buffer]
      const pid = Number(String(chunk))
      assert.ok(pid > 1)
      process.kill(pid, 0)
      parent.kill('SIGKILL')
      await eventually('the end of the process', 10_000, () => hasEnded(pid))
    })
  })

function hasEnded(pid: number): true | undefined {
  try {
    process.kill(pid, 0)
    return undefined
  } catch {
    return true
  }
}
