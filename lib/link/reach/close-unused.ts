import type { Connection } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import { UNUSED_CONNECTION_MS } from '../../base/limits/reach.ts'

/**
 * Closes a connection to a peer that has `others`, as soon as a check finds no stream on it. Either side may use it until
 * then. It stays once the others have closed.
 */
export function closeUnused(connection: Connection, others: readonly Connection[], clock: Clock): void {
  clock.after(UNUSED_CONNECTION_MS, () => {
    if (connection.status !== 'open' || others.every(({ status }) => status !== 'open')) return
    if (connection.streams.length > 0) closeUnused(connection, others, clock)
    else connection.close().catch(() => connection.abort(new Error('the connection is not used')))
  })
}
