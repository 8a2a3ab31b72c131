import { asSoukError, type Clock, deadline, limits, SoukError, type Timer } from '../../lib/index.ts'
import type { Adapter, Documents, ListingState } from '../../lib/interface/index.ts'

const COLLECTION = 'unwell'

export interface HealthInit {
  readonly clock: Clock
  /** Stores which listings were paused here, across restarts. */
  readonly documents: Documents
  /** Changes a listing’s state if it is now `from`. */
  readonly move: (name: string, from: ListingState, to: 'paused' | 'published') => Promise<boolean>
  readonly log: (line: string) => void
  /** Reports that a listing was paused, with the reason, or without one that it is healthy again. */
  readonly tell: (name: string, why?: string) => Promise<void>
}

interface Watched {
  readonly adapter: Adapter
  failures: number
  /** Paused by this part, which may therefore publish it again. A listing that its provider paused stays paused. */
  isPaused: boolean
  timer: Timer | undefined
}

/** Checks the health of APIs that offer a probe. Pauses a listing whose API is unhealthy, and publishes it again when it recovers. */
export class Health {
  readonly #init: HealthInit
  readonly #watched = new Map<string, Watched>()

  constructor(init: HealthInit) {
    this.#init = init
  }

  /** Starts probing this adapter for the listing, if the adapter supports it. */
  async watch(name: string, adapter: Adapter): Promise<void> {
    this.#stop(name)
    if (adapter.probe === undefined) return
    const isPaused = (await this.#init.documents.get(COLLECTION, name)) !== undefined
    const watched: Watched = { adapter, failures: 0, isPaused, timer: undefined }
    this.#watched.set(name, watched)
    this.#later(name, watched)
  }

  /** The provider set the listing’s state. It stays until the API becomes unhealthy again. */
  async overrule(name: string): Promise<void> {
    const watched = this.#watched.get(name)
    if (watched !== undefined) Object.assign(watched, { failures: 0, isPaused: false })
    await this.#init.documents.delete(COLLECTION, name)
  }

  async forget(name: string): Promise<void> {
    this.#stop(name)
    await this.#init.documents.delete(COLLECTION, name)
  }

  stop(): void {
    for (const name of this.#watched.keys()) this.#stop(name)
  }

  #stop(name: string): void {
    this.#watched.get(name)?.timer?.cancel()
    this.#watched.delete(name)
  }

  #later(name: string, watched: Watched): void {
    watched.timer = this.#init.clock.after(limits.HEALTH_PROBE_MS, () => {
      void this.#look(name, watched).finally(() => {
        if (this.#watched.get(name) === watched) this.#later(name, watched)
      })
    })
  }

  async #look(name: string, watched: Watched): Promise<void> {
    const { clock } = this.#init
    const limit = deadline(clock, limits.HEALTH_PROBE_MS, () => new SoukError('upstream_timeout'))
    try {
      await watched.adapter.probe?.(limit.signal)
      watched.failures = 0
      if (watched.isPaused && (await this.#move(name, watched, false))) await this.#say(name)
    } catch (error) {
      watched.failures++
      if (watched.failures < limits.HEALTH_FAILURES_MAX || watched.isPaused) return
      if (await this.#move(name, watched, true)) await this.#say(name, asSoukError(error).message)
    } finally {
      limit.clear()
    }
  }

  async #say(name: string, why?: string): Promise<void> {
    const { log, tell } = this.#init
    log(why === undefined ? `${name} is well again: it is published.` : `${name} is paused: ${why}`)
    await tell(name, why)
  }

  /** Stored before the change, so that a listing that a crash leaves paused is published again. */
  async #move(name: string, watched: Watched, pauses: boolean): Promise<boolean> {
    const { documents, move, log } = this.#init
    if (this.#watched.get(name) !== watched) return false
    try {
      if (pauses) await documents.put(COLLECTION, name, '{}')
      const isMoved = await move(name, pauses ? 'published' : 'paused', pauses ? 'paused' : 'published')
      watched.isPaused = pauses && isMoved
      if (!watched.isPaused) await documents.delete(COLLECTION, name)
      return isMoved
    } catch (error) {
      log(`The state of ${name} could not be changed: ${asSoukError(error).message}`)
      return false
    }
  }
}
