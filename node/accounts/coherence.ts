import { limits } from '../../lib/index.ts'
import type { Clock, Signals } from '../../lib/interface/index.ts'
import type { Leases } from './leases.ts'

/**
 * Keeps the caches of processes that share a store valid. A cached value may be used for `SHARED_FRESH_MS` from the start of its read, and
 * only while `mayKeep` returns true. A process that changes a value waits until all other caches have dropped it.
 */
export interface Coherence {
  /** Whether other processes know this one and wait for it. */
  mayKeep(): boolean
  /**
   * Call after writing a change. Resolves when no process uses the old value: each live process has confirmed, or its cached values have
   * expired. Takes milliseconds, or `SHARED_FRESH_MS` if a process does not respond. Never rejects.
   */
  changed(topic: string, text: string): Promise<void>
  /** Calls `hear` on each change; `undefined` means that anything may have changed. Returns a function that stops listening. */
  listen(topic: string, hear: (text: string | undefined) => void): () => void
}

/** For a store that only one process uses. */
export const ALONE: Coherence = { mayKeep: () => true, changed: async () => {}, listen: () => () => {} }

export interface SharedCoherenceInit {
  readonly signals: Signals
  readonly clock: Clock
  /** Lists the processes that share the store. Each is listed before it reads anything. */
  readonly leases: Pick<Leases, 'isListed' | 'holders' | 'onListed'>
  /** This process’s name in that list. */
  readonly holder: string
}

/** Topic of confirmations: the ticket of the change, a space, and the holder that heard it. */
const HEARD = 'coherence-heard'

/** Coherence between processes on one database. */
export class SharedCoherence implements Coherence {
  readonly #init: SharedCoherenceInit
  /** Callbacks by ticket, called for each holder that confirms. */
  readonly #waiting = new Map<string, (who: string) => void>()
  #tickets = 0

  constructor(init: SharedCoherenceInit) {
    this.#init = init
    init.signals.listen(HEARD, (text) => this.#heard(text))
  }

  mayKeep(): boolean {
    return this.#init.leases.isListed
  }

  listen(topic: string, hear: (text: string | undefined) => void): () => void {
    const { signals, leases, holder } = this.#init
    // Others did not wait for this process while it was not listed, so anything may have changed.
    const endings = [leases.onListed(() => hear(undefined))]
    const pass = (message: string | undefined) => {
      const [ticket, text] = message === undefined ? [] : cut(message)
      hear(text)
      // If the signal is lost, the changing process waits until all cached values expire.
      if (ticket !== undefined) void signals.send(HEARD, `${ticket} ${holder}`).catch(() => {})
    }
    endings.push(signals.listen(topic, pass))
    return () => {
      for (const end of endings) end()
    }
  }

  async changed(topic: string, text: string): Promise<void> {
    const { signals, clock, leases, holder } = this.#init
    const ticket = `${holder}/${++this.#tickets}`
    const over = Promise.withResolvers<void>()
    const timer = clock.after(limits.SHARED_FRESH_MS, over.resolve)
    const heard = new Set([holder])
    let others: readonly string[] | undefined
    const look = () => {
      if (others?.every((other) => heard.has(other)) === true) over.resolve()
    }
    this.#waiting.set(ticket, (who) => {
      heard.add(who)
      look()
    })
    try {
      await signals.send(topic, `${ticket} ${text}`)
      others = await leases.holders()
      look()
    } catch {
      // The signal may not have reached anyone. Then wait until all cached values expire.
    }
    await over.promise
    timer.cancel()
    this.#waiting.delete(ticket)
  }

  #heard(message: string | undefined): void {
    if (message === undefined) return
    const [ticket, who] = cut(message)
    this.#waiting.get(ticket)?.(who)
  }
}

function cut(message: string): [string, string] {
  const end = message.indexOf(' ')
  return [message.slice(0, end), message.slice(end + 1)]
}
