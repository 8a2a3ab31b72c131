import type { Connection } from '@libp2p/interface'
import { within } from '../../base/within.ts'

interface SharedDial {
  readonly result: Promise<Connection>
  readonly over: AbortController
  callers: number
}

/** Dials for several callers at the same time. A dial is aborted when the signals of all its callers are. */
export class SharedDials {
  readonly #running = new Map<string, SharedDial>()

  /** Joins the dial of this key. Starts it where none runs, or where the one that ran before this call fails. */
  async join(
    key: string,
    signal: AbortSignal,
    dial: (signal: AbortSignal) => Promise<Connection>
  ): Promise<Connection> {
    signal.throwIfAborted()
    const earlier = this.#running.get(key)
    if (earlier !== undefined) {
      try {
        return await this.#wait(key, earlier, signal)
      } catch {
        signal.throwIfAborted()
      }
    }
    return this.#wait(key, this.#running.get(key) ?? this.#start(key, dial), signal)
  }

  async #wait(key: string, shared: SharedDial, signal: AbortSignal): Promise<Connection> {
    shared.callers++
    try {
      return await within(shared.result, signal)
    } finally {
      shared.callers--
      if (shared.callers === 0 && this.#running.get(key) === shared) {
        this.#running.delete(key)
        shared.over.abort(new Error('no caller waits for the dial'))
      }
    }
  }

  #start(key: string, dial: (signal: AbortSignal) => Promise<Connection>): SharedDial {
    const over = new AbortController()
    const result = dial(over.signal).finally(() => {
      if (this.#running.get(key) === shared) this.#running.delete(key)
    })
    const shared: SharedDial = { result, over, callers: 0 }
    this.#running.set(key, shared)
    return shared
  }
}
