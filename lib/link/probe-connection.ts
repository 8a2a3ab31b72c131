import type { Connection } from '@libp2p/interface'
import type { Clock } from '../base/clock.ts'
import { HEARTBEAT_ANSWER_MS, LINK_PROBE_MS } from '../base/limits/link.ts'
import { BULK_PROTOCOL } from './bulk-sink.ts'
import { pingOrAbort } from './ping-connection.ts'

/**
 * Pings a connection that may be dead, and aborts it if the peer does not respond. The heartbeat notices later. A
 * connection that carries a body has as long as at a heartbeat, because on a slow link the response comes after the body.
 */
export async function probeConnection(connection: Connection, clock: Clock): Promise<void> {
  if (connection.status !== 'open') return
  const carriesBody = connection.streams.some(({ protocol }) => protocol === BULK_PROTOCOL)
  const answerMs = carriesBody ? HEARTBEAT_ANSWER_MS : LINK_PROBE_MS
  // A failure of another kind comes from the peer, or from another ping that runs.
  await pingOrAbort(connection, { clock, answerMs }).catch(() => undefined)
}
