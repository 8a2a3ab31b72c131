import type { Clock, Timer } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'

export interface ErrandsInit {
  readonly clock: Clock
  /** Between an attempt that failed and the next. */
  readonly pauseMs: number
  /** Told once of each errand that fails, however often it is tried. */
  readonly onError: (error: SoukError) => void
}

export type Errand = (signal: AbortSignal) => Promise<void>

interface Attempt {
  readonly done: Promise<void>
  readonly stop: AbortController
}

/** Things that have to end well some time: one at a time for each key, and tried again behind whoever asked for them. */
export class Errands<K> {
  readonly #init: ErrandsInit
  readonly #running = new Map<K, Attempt>()
  readonly #waiting = new Map<K, Timer>()
  readonly #reported = new Set<K>()
  #isStopped = false

  constructor(init: ErrandsInit) {
    this.#init = init
  }

  /** The attempt that is under way, or one that begins now. Where it fails it is made again. @throws what the errand throws */
  run(key: K, errand: Errand): Promise<void> {
    const running = this.#running.get(key)
    if (running !== undefined) return running.done
    if (this.#isStopped) return Promise.reject(stopped())
    this.#waiting.get(key)?.cancel()
    this.#waiting.delete(key)
    const stop = new AbortController()
    const done = this.#attempt(key, errand, stop.signal)
    this.#running.set(key, { done, stop })
    return done
  }

  /** As `run` where nobody waits for it. */
  start(key: K, errand: Errand): void {
    this.run(key, errand).catch(() => {})
  }

  /** It is not wanted any more; resolves when nothing of it is under way. */
  async drop(key: K): Promise<void> {
    this.#waiting.get(key)?.cancel()
    this.#waiting.delete(key)
    this.#reported.delete(key)
    const running = this.#running.get(key)
    running?.stop.abort(stopped())
    await running?.done.catch(() => {})
  }

  /** For good. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#waiting.keys(), ...this.#running.keys()].map((key) => this.drop(key)))
  }

  async #attempt(key: K, errand: Errand, signal: AbortSignal): Promise<void> {
    try {
      // Not in this turn: it may ask for itself, and has to find that it runs.
      await Promise.resolve()
      await errand(signal)
      this.#reported.delete(key)
    } catch (thrown) {
      const error = asSoukError(thrown)
      if (!signal.aborted) this.#again(key, errand, error)
      throw error
    } finally {
      this.#running.delete(key)
    }
  }

  #again(key: K, errand: Errand, error: SoukError): void {
    const { clock, pauseMs, onError } = this.#init
    if (!this.#reported.has(key)) onError(error)
    this.#reported.add(key)
    const timer = clock.after(pauseMs, () => {
      this.#waiting.delete(key)
      this.start(key, errand)
    })
    this.#waiting.set(key, timer)
  }
}

const stopped = () => new SoukError('settlement_pending', 'It goes on at the next start of this node.')
