import { asSoukError, type Clock, deadline, limits, SoukError, type Timer } from '../../lib/index.ts'
import type { Adapter, Documents, ListingState } from '../../lib/interface/index.ts'

const COLLECTION = 'unwell'

export interface HealthInit {
  readonly clock: Clock
  /** Remembers over a restart what was paused here. */
  readonly documents: Documents
  /** Moves the listing, where it is in `from` now. */
  readonly move: (name: string, from: ListingState, to: 'paused' | 'published') => Promise<boolean>
  readonly log: (line: string) => void
  /** Told that a listing was paused here, and why; without a reason, that it is well again. */
  readonly tell: (name: string, why?: string) => Promise<void>
}

interface Watched {
  readonly adapter: Adapter
  failures: number
  /** Paused by us, and so ours to publish again; what its provider pauses stays paused. */
  isPaused: boolean
  timer: Timer | undefined
}

/** Looks after APIs that say how they are: a listing whose API is unwell is paused, and published again when it is well. */
export class Health {
  readonly #init: HealthInit
  readonly #watched = new Map<string, Watched>()

  constructor(init: HealthInit) {
    this.#init = init
  }

  /** From now on this adapter is asked for the listing of that name; one that cannot tell is not. */
  async watch(name: string, adapter: Adapter): Promise<void> {
    this.#stop(name)
    if (adapter.probe === undefined) return
    const isPaused = (await this.#init.documents.get(COLLECTION, name)) !== undefined
    const watched: Watched = { adapter, failures: 0, isPaused, timer: undefined }
    this.#watched.set(name, watched)
    this.#later(name, watched)
  }

  /** Its provider says what state the listing is in: that stays until the API falls ill again. */
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

  /** Written down before it is done: what a crash leaves paused is published again. */
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
