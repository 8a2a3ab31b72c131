import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { afterLimit, type Clock, type Timer, systemClock } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { TASK_CLOCK_MS_MIN, TASK_PROCESS_KEPT_BYTES } from '../../lib/base/limits/descriptions.ts'
import { Slots } from '../../lib/base/slots.ts'
import type { TaskReply, TaskRequest, Tasks } from './serve-tasks.ts'
import { valueOf } from './task-outcome.ts'

type Task<T extends Tasks, N extends keyof T> = Awaited<ReturnType<T[N]>>
export type TaskInput<T extends Tasks, N extends keyof T> = Parameters<Task<T, N>>[0]
export type TaskOutput<T extends Tasks, N extends keyof T> = Awaited<ReturnType<Task<T, N>>>

export interface TaskWorkerInit {
  /** The file that calls `serveTasks`. */
  readonly entry: URL
  /** The CPU time limit of one task. Waiting does not count. */
  readonly taskMs: number
  /** The maximum heap of the process. */
  readonly heapMib: number
  /** The maximum number of queued tasks. */
  readonly waitingMax: number
  /** How long an idle process is kept. */
  readonly idleMs: number
  /** The task's name in errors, such as "Reading the description". */
  readonly doing: string
}

/**
 * Runs tasks on untrusted documents, one at a time, in a separate process with limits, so that they can neither block nor end
 * this process. A thread does not suffice: V8 aborts the whole process when a thread with `resourceLimits` requests a large block
 * of memory, and a thread cannot be stopped inside `JSON.parse`. The process starts with the first task.
 */
export class TaskWorker<T extends Tasks> {
  readonly #init: TaskWorkerInit
  readonly #clock: Clock
  readonly #turn = new Slots(1)
  /** Number of running and queued tasks. */
  #held = 0
  #child: ChildProcess | undefined
  #idle: Timer | undefined

  constructor(init: TaskWorkerInit, clock: Clock = systemClock) {
    this.#init = init
    this.#clock = clock
  }

  /** The process id, if there is a process. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /**
   * Runs a task.
   * @throws SoukError the task's error, `description_too_complex` past a limit, `overloaded` if too many tasks wait; and the
   * signal's reason
   */
  async run<N extends keyof T & string>(
    name: N,
    input: TaskInput<T, N>,
    signal: AbortSignal = NEVER
  ): Promise<TaskOutput<T, N>> {
    const { waitingMax, doing } = this.#init
    signal.throwIfAborted()
    if (this.#held > waitingMax)
      throw new SoukError('overloaded', `${doing} has to wait, but ${waitingMax} others already wait. Try again later.`)
    this.#held++
    try {
      const leave = await this.#turn.enter(signal)
      try {
        return (await this.#ask({ name, input }, signal)) as TaskOutput<T, N>
      } finally {
        leave()
      }
    } finally {
      this.#held--
    }
  }

  /** Ends the process. The next task starts a new one. */
  close(): void {
    this.#idle?.cancel()
    this.#child?.kill('SIGKILL')
    this.#child = undefined
  }

  async #ask(request: TaskRequest, signal: AbortSignal): Promise<unknown> {
    const { taskMs, idleMs } = this.#init
    signal.throwIfAborted()
    this.#idle?.cancel()
    const child = (this.#child ??= this.#start())
    const { promise, resolve, reject } = Promise.withResolvers<TaskReply>()
    const onAbort = () => reject(signal.reason)
    const late = () => reject(this.#died('SIGXCPU'))
    const onExit = (_code: number | null, ended: NodeJS.Signals | null) => reject(this.#died(ended))
    const onError = (cause: unknown) => reject(new SoukError('overloaded', undefined, { cause }))
    signal.addEventListener('abort', onAbort, { once: true })
    child.once('message', resolve).once('exit', onExit).once('error', onError)
    // The parent may exit while the process is idle, but not while a caller waits for a task.
    child.ref()
    child.channel?.ref()
    const timer = afterLimit(this.#clock, Math.max(CLOCK_FACTOR * taskMs, TASK_CLOCK_MS_MIN), late)
    let isKept = false
    try {
      child.send(request, (error) => error !== null && onError(error))
      const { outcome, rss } = await promise
      isKept = rss <= TASK_PROCESS_KEPT_BYTES
      return valueOf(outcome)
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', onAbort)
      child.off('message', resolve).off('exit', onExit).off('error', onError)
      if (isKept) this.#rest(child, idleMs)
      else this.close()
    }
  }

  #rest(child: ChildProcess, idleMs: number): void {
    child.unref()
    child.channel?.unref()
    this.#idle = this.#clock.after(idleMs, () => this.close())
  }

  #start(): ChildProcess {
    const { entry, taskMs } = this.#init
    const child = fork(entry, [String(taskMs)], {
      // V8 would keep 48 MiB for new objects. Tasks are as fast with a fourth.
      execArgv: [`--max-old-space-size=${this.#init.heapMib}`, '--max-semi-space-size=4'],
      serialization: 'advanced',
      // The process gets no secrets of this one, and its output is dropped: V8 prints pages of text when memory runs out.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc']
    })
    child
      .on('error', () => {})
      .once('exit', () => {
        if (this.#child === child) this.#child = undefined
      })
    yieldToOthers(child)
    return child
  }

  #died(ended: NodeJS.Signals | null): SoukError {
    const { doing, heapMib, taskMs } = this.#init
    if (ended === 'SIGXCPU')
      return tooComplex(`${doing} took longer than ${taskMs / 1000} seconds, which is the limit.`)
    if (ended === 'SIGABRT') return tooComplex(`${doing} took more than ${heapMib} MiB of memory, which is the limit.`)
    return tooComplex(`${doing} failed, because its process ended.`)
  }
}

/** A wall-clock limit in addition, for tasks that wait instead of working. It includes the start of the process on a busy machine. */
const CLOCK_FACTOR = 10

const NEVER = new AbortController().signal

function tooComplex(detail: string): SoukError {
  return new SoukError('description_too_complex', detail)
}

/** Calls have priority over tasks if cores are scarce. */
function yieldToOthers({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended, or the platform has no priorities.
  }
}
