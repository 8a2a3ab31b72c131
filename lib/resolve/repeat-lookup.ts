import { type Clock, deadline, sleep } from '../base/clock.ts'
import { isSoukError, SoukError } from '../base/errors.ts'
import { LOOKUP_MS } from '../base/limits/directory.ts'
import { JOINING_RETRY_MS, RETURN_MS, RETURN_RETRY_MS } from '../base/limits/link.ts'
import { ignore } from '../base/ignore.ts'
import { isOffline } from './not-found.ts'

/** This node's connections, as far as a lookup depends on them. */
export interface Joining {
  /** Other nodes of the network are known. */
  readonly hasOthers: boolean
  /** The network may have APIs that this node cannot find yet. */
  readonly isJoining: boolean
  /** Any peer is connected. */
  readonly isConnected: boolean
  /** Whether the peer is connected, or was less than `RETURN_MS` ago. Then it is probably about to connect again. */
  wasConnected(peer: string): boolean
  /** Resolves when a peer is connected, or none is after a time in which a slow one would be. */
  connected(signal: AbortSignal): Promise<void>
}

/** A network of one node. */
export const ALONE: Joining = {
  hasOthers: false,
  isJoining: false,
  isConnected: false,
  wasConnected: () => false,
  connected: () => Promise.resolve()
}

/** One of the lookups. It ends soon after `signal` aborts. */
export interface LookupAttempt {
  readonly signal: AbortSignal
  /** Reports a peer that did not respond. */
  readonly onSilent: (peer: string) => void
}

export interface RepeatInit {
  readonly joining: Joining
  readonly clock: Clock
  /** The lookup is for a call, which may wait longer than somebody who only asks. */
  readonly isForCall: boolean
}

/**
 * Runs a lookup once a peer is connected, for at most `LOOKUP_MS`. Repeats one that finds nothing where the next one may
 * find the API: while this node joins its network, and, for a call, up to `RETURN_MS` if this node lost the API's owner,
 * or the whole network, a moment ago. Routers and nodes that restart are back within seconds. A lookup for a call that takes too
 * long is repeated as well: on a slow network, the next one finds the connections that this one has opened.
 * @throws the error of the last lookup that was not cut short; SoukError `lookup_timeout`; the signal's reason
 */
export async function repeatLookup<T>(
  { joining, clock, isForCall }: RepeatInit,
  look: (attempt: LookupAttempt) => Promise<T>,
  signal: AbortSignal
): Promise<T> {
  const startedAt = clock.elapsed()
  const isWorthIt = (error: unknown, silent: ReadonlySet<string>): boolean => {
    const mayWait = isForCall && clock.elapsed() - startedAt < RETURN_MS
    if (isSoukError(error) && error.code === 'lookup_timeout') return mayWait && joining.isConnected
    if (!isMissing(error)) return false
    if (joining.isJoining) return true
    if (!mayWait) return false
    if (isOffline(error)) return joining.isConnected
    return [...silent].some((peer) => joining.wasConnected(peer))
  }
  const nextPause = (pauseMs: number) => (joining.isJoining ? JOINING_RETRY_MS : Math.min(2 * pauseMs, RETURN_RETRY_MS))
  let missing: unknown
  for (let pauseMs = JOINING_RETRY_MS; ; pauseMs = nextPause(pauseMs)) {
    if (missing === undefined) await joining.connected(signal)
    const limit = deadline(clock, LOOKUP_MS, () => new SoukError('lookup_timeout'), signal)
    const silent = new Set<string>()
    try {
      return await look({ signal: limit.signal, onSilent: (peer) => silent.add(peer) })
    } catch (error) {
      if (signal.aborted) throw missing ?? error
      if (!isWorthIt(error, silent)) throw error
      missing = error
    } finally {
      limit.clear()
    }
    await sleep(clock, pauseMs, signal).catch(ignore)
  }
}

const isMissing = (error: unknown): error is SoukError =>
  isSoukError(error) && (error.code === 'api_not_found' || error.code === 'owner_unreachable')
