import type { Clock, Timer } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'

export interface RetryQueueInit {
  readonly clock: Clock
  /** Pause between a failed attempt and the next. */
  readonly pauseMs: number
  /** Called once for each failing task, however often it is retried. */
  readonly onError: (error: SoukError) => void
}

export type RetryTask = (signal: AbortSignal) => Promise<void>

interface Attempt {
  readonly done: Promise<void>
  readonly stop: AbortController
}

/**
 * A retry queue: tasks that must finally succeed. One attempt runs per key at a time; failed tasks are retried in the background.
 */
export class RetryQueue<K> {
  readonly #init: RetryQueueInit
  readonly #running = new Map<K, Attempt>()
  readonly #waiting = new Map<K, Timer>()
  readonly #reported = new Set<K>()
  #isStopped = false

  constructor(init: RetryQueueInit) {
    this.#init = init
  }

  /** Joins the running attempt or begins one. A failed attempt is retried later. @throws the error of the task */
  run(key: K, task: RetryTask): Promise<void> {
    const running = this.#running.get(key)
    if (running !== undefined) return running.done
    if (this.#isStopped) return Promise.reject(stopped())
    this.#waiting.get(key)?.cancel()
    this.#waiting.delete(key)
    const stop = new AbortController()
    const done = this.#attempt(key, task, stop.signal)
    this.#running.set(key, { done, stop })
    return done
  }

  isRunning(key: K): boolean {
    return this.#running.has(key)
  }

  /** Like `run`, but does not wait and never throws. */
  start(key: K, task: RetryTask): void {
    this.run(key, task).catch(() => {})
  }

  /** Cancels the task; resolves when no attempt of it runs. */
  async drop(key: K): Promise<void> {
    this.#waiting.get(key)?.cancel()
    this.#waiting.delete(key)
    this.#reported.delete(key)
    const running = this.#running.get(key)
    running?.stop.abort(stopped())
    await running?.done.catch(() => {})
  }

  /** Permanent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#waiting.keys(), ...this.#running.keys()].map((key) => this.drop(key)))
  }

  async #attempt(key: K, task: RetryTask, signal: AbortSignal): Promise<void> {
    try {
      // Start in a later microtask: a task that calls `run` for its own key must find itself running.
      await Promise.resolve()
      await task(signal)
      this.#reported.delete(key)
    } catch (thrown) {
      const error = asSoukError(thrown)
      if (!signal.aborted) this.#again(key, task, error)
      throw error
    } finally {
      this.#running.delete(key)
    }
  }

  #again(key: K, task: RetryTask, error: SoukError): void {
    const { clock, pauseMs, onError } = this.#init
    if (!this.#reported.has(key)) onError(error)
    this.#reported.add(key)
    const timer = clock.after(pauseMs, () => {
      this.#waiting.delete(key)
      this.start(key, task)
    })
    this.#waiting.set(key, timer)
  }
}

const stopped = () =>
  new SoukError('settlement_pending', 'This node is stopping. The task continues at its next start.')
