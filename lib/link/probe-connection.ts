import type { Connection } from '@libp2p/interface'
import type { Clock } from '../base/clock.ts'
import { LINK_PROBE_MS } from '../base/limits/link.ts'
import { BULK_PROTOCOL } from './bulk-sink.ts'
import { pingOrAbort } from './ping-connection.ts'

/**
 * Pings a connection that may be dead, and aborts it if the peer does not respond. The heartbeat notices later. A
 * connection that carries a body is not pinged, because on a slow link the response would come after it.
 */
export async function probeConnection(connection: Connection, clock: Clock): Promise<void> {
  if (connection.status !== 'open' || connection.streams.some(({ protocol }) => protocol === BULK_PROTOCOL)) return
  // A failure of another kind comes from the peer, or from another ping that runs.
  await pingOrAbort(connection, { clock, answerMs: LINK_PROBE_MS }).catch(() => undefined)
}
