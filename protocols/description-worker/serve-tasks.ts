import { Worker } from 'node:worker_threads'
import { failed, type TaskOutcome } from './task-outcome.ts'

/** Tasks by name, each behind its import. */
export type Tasks = Readonly<Record<string, () => Promise<(input: never) => unknown>>>

/** What a `TaskWorker` asks for. */
export interface TaskRequest {
  readonly name: string
  readonly input: unknown
}

/** How often the thread looks that watches the process. */
const WATCH_MS = 100

/**
 * What a thread does beside the tasks. It ends the process when a task has used the processor for too long: time on the clock would
 * blame a task for a busy machine. And when the parent is gone: a task that never ends would not hear of it.
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

/** Makes this process one that does what a `TaskWorker` asks for, and ends with it. Its argument is the limit of one task, in ms. */
export function serveTasks(tasks: Tasks): void {
  // Odd while a task runs.
  const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const workerData = { state, taskMs: Number(process.argv[2]), parent: process.ppid }
  new Worker(WATCH, { eval: true, name: 'watch', workerData }).unref()
  process.on('message', (request: TaskRequest) => {
    Atomics.add(state, 0, 1)
    void run(tasks, request).then((outcome) => {
      Atomics.add(state, 0, 1)
      process.send?.(outcome)
    })
  })
  process.on('disconnect', () => process.exit())
}

async function run(tasks: Tasks, { name, input }: TaskRequest): Promise<TaskOutcome> {
  try {
    const load = tasks[name]
    if (load === undefined) throw new Error(`no task ${name}`)
    const task = (await load()) as (input: unknown) => unknown
    return { value: await task(input) }
  } catch (error) {
    return failed(error)
  }
}
