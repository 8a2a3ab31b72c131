import type { RequestId } from '@modelcontextprotocol/server'

/**
 * Calls in progress of agents whose requests have no common connection. Revisions before 2026-07-28 cancel a call by a request of its own.
 * Only the process that runs a call can cancel it.
 */
export class RunningCalls {
  readonly #calls = new Map<string, Set<AbortController>>()

  /**
   * @param agent - identifies the sender of a request: ids of requests are unique for one agent only
   * @returns the signal that a cancellation aborts, and `leave`, which must be called when the call is over
   */
  enter(agent: string, id: RequestId): { readonly signal: AbortSignal; leave: () => void } {
    const key = keyOf(agent, id)
    const call = new AbortController()
    const calls = this.#calls.get(key) ?? new Set()
    this.#calls.set(key, calls.add(call))
    return {
      signal: call.signal,
      leave: () => {
        calls.delete(call)
        if (calls.size === 0) this.#calls.delete(key)
      }
    }
  }

  /** Does nothing if several calls have this id, because they may belong to different agents with the same key. */
  cancel(agent: string, id: RequestId): void {
    const [call, ...others] = this.#calls.get(keyOf(agent, id)) ?? []
    if (others.length === 0) call?.abort()
  }
}

function keyOf(agent: string, id: RequestId): string {
  return JSON.stringify([agent, id])
}
