import type { Connection } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import { UNUSED_CONNECTION_MS } from '../../base/limits/reach.ts'

/** Closes a connection after a moment. Either side may have opened a stream on it by then. Then it stays. */
export function closeUnused(connection: Connection, clock: Clock): void {
  clock.after(UNUSED_CONNECTION_MS, () => {
    if (connection.status !== 'open' || connection.streams.length > 0) return
    connection.close().catch(() => connection.abort(new Error('the connection is not used')))
  })
}
