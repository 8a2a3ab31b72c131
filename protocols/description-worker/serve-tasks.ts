import { Worker } from 'node:worker_threads'
import { failed, type TaskOutcome } from './task-outcome.ts'

/** Tasks by name, each behind its import. */
export type Tasks = Readonly<Record<string, () => Promise<(input: never) => unknown>>>

/** What a `TaskWorker` asks for. */
export interface TaskRequest {
  readonly name: string
  readonly input: unknown
}

/** Makes this process one that does what a `TaskWorker` asks for, and ends with it. */
export function serveTasks(tasks: Tasks): void {
  // A parent that is killed tells nobody, and a task that never ends hears nothing: this thread ends the process then.
  const watch = `
    setInterval(() => { if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL') }, 1000)`
  new Worker(watch, { eval: true, name: 'parent-watch' }).unref()
  process.on('message', (request: TaskRequest) => {
    void run(tasks, request).then((outcome) => process.send?.(outcome))
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
