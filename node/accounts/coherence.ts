import { limits } from '../../lib/index.ts'
import type { Clock, Signals } from '../../lib/interface/index.ts'
import type { Leases } from './leases.ts'

/**
 * Keeps what processes have at hand of the store they share true. What was read may be kept for `SHARED_FRESH_MS` from when its
 * reading began, and only while `mayKeep` says so; and whoever changes something waits for all who may have it.
 */
export interface Coherence {
  /** Others are sure to find this process, and to wait for it. */
  mayKeep(): boolean
  /**
   * After the change was written. Resolves when no process goes by what was before: each that is alive has said that it heard, or
   * has nothing at hand any more. Takes milliseconds, and `SHARED_FRESH_MS` where one does not answer. Never rejects.
   */
  changed(topic: string, text: string): Promise<void>
  /** `undefined`: anything may have changed. Returns what ends the listening. */
  listen(topic: string, hear: (text: string | undefined) => void): () => void
}

/** Of a store that one process has for itself. */
export const ALONE: Coherence = { mayKeep: () => true, changed: async () => {}, listen: () => () => {} }

export interface SharedCoherenceInit {
  readonly signals: Signals
  readonly clock: Clock
  /** Who shares the store: each is listed there before it reads anything. */
  readonly leases: Pick<Leases, 'isListed' | 'holders' | 'onListed'>
  /** This process's name there. */
  readonly holder: string
}

/** What hearers say: the ticket of the change, a space, who they are. */
const HEARD = 'coherence-heard'

/** Of the processes on one database. */
export class SharedCoherence implements Coherence {
  readonly #init: SharedCoherenceInit
  /** By ticket: who has heard of it. */
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
    // Who was not listed for a while was not waited for.
    const endings = [leases.onListed(() => hear(undefined))]
    const pass = (message: string | undefined) => {
      const [ticket, text] = message === undefined ? [] : cut(message)
      hear(text)
      // Where it is lost, it is waited for in vain, and for no longer than anything is kept.
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
      // Nobody may have heard: then it is waited until nobody has it any more.
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
