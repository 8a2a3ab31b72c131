import { type Clock, nextTurn } from './clock.ts'
import { SoukError } from './errors.ts'
import { ignore } from './ignore.ts'

export interface FairTurnsInit {
  readonly clock: Pick<Clock, 'elapsed' | 'soon'>
  /** Time for tasks in one turn of the event loop. */
  readonly turnMs: number
  /** Tasks of one key that are not over. */
  readonly perKeyMax: number
}

interface Task {
  /** Starts the task, or lets it go on after a pause. */
  proceed(): void
  /** Called when the task pauses, and when it is over. */
  onStop(): void
  isOver: boolean
}

/**
 * Runs tasks of many peers for a short part of each turn of the event loop. One task runs at a time, until it is over or pauses. Keys
 * alternate, so that the tasks of one key hardly delay those of another, however many and however long they are.
 */
export class FairTurns {
  readonly #init: FairTurnsInit
  /** Tasks by key. The key whose turn is next comes first, and the next task of a key. */
  readonly #tasks = new Map<string, Set<Task>>()
  #running: Task | undefined
  #isBusy = false
  #began = 0

  constructor(init: FairTurnsInit) {
    this.#init = init
  }

  /** @throws SoukError `overloaded` where the key has too many tasks */
  run<T>(key: string, start: () => Promise<T>): Promise<T> {
    const tasks = this.#tasks.get(key) ?? new Set()
    if (tasks.size >= this.#init.perKeyMax) return Promise.reject(new SoukError('overloaded'))
    const { promise, resolve } = Promise.withResolvers<T>()
    const end = () => {
      task.isOver = true
      task.onStop()
    }
    const proceed = () => {
      // Also a rejection where it throws at once.
      const result = (async () => start())()
      resolve(result)
      result.then(end, end)
    }
    const task: Task = { proceed, onStop: ignore, isOver: false }
    this.#tasks.set(key, tasks.add(task))
    if (!this.#isBusy) void this.#runAll()
    return promise
  }

  /** The running task calls it often. It waits for its next turn if the time of this one is over. */
  async pause(): Promise<void> {
    const task = this.#running
    if (task === undefined || !this.#isTurnOver()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    task.proceed = resolve
    task.onStop()
    await promise
  }

  async #runAll(): Promise<void> {
    const { clock } = this.#init
    this.#isBusy = true
    do {
      await nextTurn(clock)
      this.#began = clock.elapsed()
      do {
        const [first] = this.#tasks
        if (first !== undefined) await this.#runNext(...first)
      } while (this.#tasks.size > 0 && !this.#isTurnOver())
    } while (this.#tasks.size > 0)
    this.#isBusy = false
  }

  async #runNext(key: string, tasks: Set<Task>): Promise<void> {
    const [task] = tasks
    if (task !== undefined && !task.isOver) {
      const { promise, resolve } = Promise.withResolvers<void>()
      task.onStop = resolve
      this.#running = task
      task.proceed()
      await promise
      this.#running = undefined
    }
    if (task?.isOver === true) tasks.delete(task)
    this.#tasks.delete(key)
    if (tasks.size > 0) this.#tasks.set(key, tasks)
  }

  #isTurnOver(): boolean {
    return this.#init.clock.elapsed() - this.#began >= this.#init.turnMs
  }
}
