import { Worker } from 'node:worker_threads'
import { TASK_RESULT_CHARS_MAX } from '../../lib/base/limits/descriptions.ts'
import { checkResultSize } from './result-size.ts'
import { failed, type TaskOutcome } from './task-outcome.ts'

/** Tasks by name, each loaded by an import. */
export type Tasks = Readonly<Record<string, () => Promise<(input: never) => unknown>>>

/** A request by a `TaskWorker`. */
export interface TaskRequest {
  readonly name: string
  readonly input: unknown
}

/** The reply to a `TaskRequest`. */
export interface TaskReply {
  readonly outcome: TaskOutcome
  /** Memory of the process, in bytes. */
  readonly rss: number
}

/** How often the watching thread checks the process. */
const WATCH_MS = 100

/**
 * The watching thread. It kills the process if a task has used the CPU for too long; wall-clock time would blame a task for a
 * busy machine. It also kills the process if the parent is gone, because an endless task would not notice.
 */
const WATCH = `
  const { state, taskMs, parent } = require('node:worker_threads').workerData
  let [task, before] = [0, 0]
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
    const running = Atomics.load(state, 0)
    const { user, system } = process.cpuUsage()
    if (running !== task) [task, before] = [running, user + system]
    else if (running % 2 === 1 && user + system - before > taskMs * 1000) process.kill(process.pid, 'SIGXCPU')
  }, ${WATCH_MS})`

/**
 * Runs tasks for a `TaskWorker` in this process, until the parent ends. The process argument is the CPU limit of one task, in ms.
 */
export function serveTasks(tasks: Tasks): void {
  // A counter of starts and ends, so it is odd while a task runs.
  const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const workerData = { state, taskMs: Number(process.argv[2]), parent: process.ppid }
  new Worker(WATCH, { eval: true, name: 'watch', workerData }).unref()
  process.on('message', (request: TaskRequest) => {
    Atomics.add(state, 0, 1)
    void run(tasks, request).then((outcome) => {
      Atomics.add(state, 0, 1)
      process.send?.({ outcome, rss: process.memoryUsage.rss() } satisfies TaskReply)
    })
  })
  process.on('disconnect', () => process.exit())
}

async function run(tasks: Tasks, { name, input }: TaskRequest): Promise<TaskOutcome> {
  try {
    const load = tasks[name]
    if (load === undefined) throw new Error(`there is no task ${name}`)
    const task = (await load()) as (input: unknown) => unknown
    const value = await task(input)
    checkResultSize(value, TASK_RESULT_CHARS_MAX)
    return { value }
  } catch (error) {
    return failed(error)
  }
}
