import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { type Clock, type Timer, systemClock } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { Slots } from '../../lib/base/slots.ts'
import type { TaskRequest, Tasks } from './serve-tasks.ts'
import { type TaskOutcome, valueOf } from './task-outcome.ts'

type Task<T extends Tasks, N extends keyof T> = Awaited<ReturnType<T[N]>>
export type TaskInput<T extends Tasks, N extends keyof T> = Parameters<Task<T, N>>[0]
export type TaskOutput<T extends Tasks, N extends keyof T> = Awaited<ReturnType<Task<T, N>>>

export interface TaskWorkerInit {
  /** The file that calls `serveTasks`. */
  readonly entry: URL
  /** How long one task may use a processor. The time in which it waits does not count. */
  readonly taskMs: number
  /** Heap of the process. */
  readonly heapMib: number
  /** Tasks that wait for their turn. */
  readonly waitingMax: number
  /** How long a process without work is kept. */
  readonly idleMs: number
  /** What a task is about, for the errors: "Reading the description". */
  readonly doing: string
}

/**
 * Runs tasks on what strangers wrote, one at a time, in a process of its own: what it takes is bounded, and nothing that it does can
 * hold or end this process. It is no thread, as V8 aborts the whole process when a thread with `resourceLimits` asks for one large
 * piece of memory, and a thread cannot be stopped in the middle of `JSON.parse`. The process starts with the first task.
 */
export class TaskWorker<T extends Tasks> {
  readonly #init: TaskWorkerInit
  readonly #clock: Clock
  readonly #turn = new Slots(1)
  /** Tasks that run or wait. */
  #held = 0
  #child: ChildProcess | undefined
  #idle: Timer | undefined

  constructor(init: TaskWorkerInit, clock: Clock = systemClock) {
    this.#init = init
    this.#clock = clock
  }

  /** Process id, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /**
   * @throws SoukError those of the task, `description_too_complex` for a limit that it met, `overloaded` where too many wait; and the
   *   signal's reason
   */
  async run<N extends keyof T & string>(
    name: N,
    input: TaskInput<T, N>,
    signal: AbortSignal = NEVER
  ): Promise<TaskOutput<T, N>> {
    const { waitingMax, doing } = this.#init
    signal.throwIfAborted()
    if (this.#held > waitingMax) throw new SoukError('overloaded', `${doing} has to wait, and ${waitingMax} others do.`)
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

  /** Ends the process. The next task starts another one. */
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
    const { promise, resolve, reject } = Promise.withResolvers<TaskOutcome>()
    const onAbort = () => reject(signal.reason)
    const late = () => reject(this.#died('SIGXCPU'))
    const onExit = (_code: number | null, ended: NodeJS.Signals | null) => reject(this.#died(ended))
    const onError = (cause: unknown) => reject(new SoukError('overloaded', undefined, { cause }))
    signal.addEventListener('abort', onAbort, { once: true })
    child.once('message', resolve).once('exit', onExit).once('error', onError)
    // An idle process holds up no exit of this one; a task that somebody waits for does.
    child.ref()
    child.channel?.ref()
    const timer = this.#clock.after(CLOCK_FACTOR * taskMs, late)
    let isAlive = false
    try {
      child.send(request, (error) => error !== null && onError(error))
      const outcome = await promise
      isAlive = true
      return valueOf(outcome)
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', onAbort)
      child.off('message', resolve).off('exit', onExit).off('error', onError)
      if (isAlive) this.#rest(child, idleMs)
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
      execArgv: [`--max-old-space-size=${this.#init.heapMib}`],
      serialization: 'advanced',
      // Nothing of this process's secrets, and nothing that is written there: V8 prints pages when memory runs out.
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
    return tooComplex(`${doing} failed: the process that did it ended.`)
  }
}

/** Time on the clock is a limit as well, for what waits instead of working. */
const CLOCK_FACTOR = 3

const NEVER = new AbortController().signal

function tooComplex(detail: string): SoukError {
  return new SoukError('description_too_complex', detail)
}

/** Where cores are scarce, calls go first. */
function yieldToOthers({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It ended already, or the platform has no priorities.
  }
}
