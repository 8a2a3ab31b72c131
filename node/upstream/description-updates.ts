import { asSoukError, type Clock, limits, type Timer } from '../../lib/index.ts'

export interface DescriptionUpdatesInit {
  readonly clock: Clock
  /** Publishes the listing with the API’s new description. */
  readonly renew: (name: string, snapshot: string) => Promise<void>
  readonly log: (line: string) => void
}

interface Waiting {
  snapshot: string | undefined
  timer: Timer | undefined
}

/** Publishes new descriptions of APIs. Each listing changes at most once per interval, to the newest description. An error that may pass is retried. */
export class DescriptionUpdates {
  readonly #init: DescriptionUpdatesInit
  readonly #waiting = new Map<string, Waiting>()
  #isStopped = false

  constructor(init: DescriptionUpdatesInit) {
    this.#init = init
  }

  heard(name: string, snapshot: string): void {
    if (this.#isStopped) return
    const waiting = this.#waiting.get(name)
    if (waiting !== undefined) {
      waiting.snapshot = snapshot
      return
    }
    this.#waiting.set(name, { snapshot: undefined, timer: undefined })
    void this.#renew(name, snapshot)
  }

  stop(): void {
    this.#isStopped = true
    for (const { timer } of this.#waiting.values()) timer?.cancel()
    this.#waiting.clear()
  }

  async #renew(name: string, snapshot: string): Promise<void> {
    const { clock, renew, log } = this.#init
    let failed: string | undefined
    try {
      await renew(name, snapshot)
    } catch (error) {
      const { message, retryable } = asSoukError(error)
      // Its adapter does not tell a description twice.
      if (retryable) failed = snapshot
      log(`${name} could not be published with its new description: ${message}`)
    }
    const waiting = this.#waiting.get(name)
    if (waiting === undefined || this.#isStopped) return
    waiting.snapshot ??= failed
    waiting.timer = clock.after(limits.DESCRIPTION_RENEWED_MS, () => {
      this.#waiting.delete(name)
      if (waiting.snapshot !== undefined) this.heard(name, waiting.snapshot)
    })
  }
}
