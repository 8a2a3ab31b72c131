import { type Clock, sleep } from '../base/clock.ts'
import { isSoukError } from '../base/errors.ts'
import { JOINING_RETRY_MS } from '../base/limits/link.ts'
import { ignore } from './directory/ignore.ts'

/** How far this node has joined its network. */
export interface Joining {
  /** Other nodes of the network are known. */
  readonly hasOthers: boolean
  /** The network may have APIs that this node cannot find yet. */
  readonly isJoining: boolean
  /** Resolves when a peer is connected, or none is after a short time. */
  connected(signal: AbortSignal): Promise<void>
}

/** A network of one node. */
export const ALONE: Joining = { hasOthers: false, isJoining: false, connected: () => Promise.resolve() }

/**
 * Runs a lookup once a peer is connected. Repeats one that finds nothing while this node joins its network: owners may
 * still connect, and announce what they serve.
 * @throws the error of the last lookup that was not cut short
 */
export async function whileJoining<T>(
  joining: Joining,
  clock: Clock,
  look: () => Promise<T>,
  signal: AbortSignal
): Promise<T> {
  await joining.connected(signal)
  let missing: unknown
  for (;;) {
    try {
      return await look()
    } catch (error) {
      if (signal.aborted) throw missing ?? error
      if (!isMissing(error) || !joining.isJoining) throw error
      missing = error
    }
    await sleep(clock, JOINING_RETRY_MS, signal).catch(ignore)
  }
}

const isMissing = (error: unknown): boolean =>
  isSoukError(error) && (error.code === 'api_not_found' || error.code === 'owner_unreachable')
