import type { Connection, Libp2pEvents, PeerId, Startable } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import type { TypedEventTarget } from 'main-event'
import type { Clock, Timer } from '../base/clock.ts'
import { SURPLUS_CONNECTION_MS } from '../base/limits/link.ts'
import { isCircuit, isRelayed } from './reach/is-relayed.ts'

interface SurplusConnectionsComponents {
  readonly peerId: PeerId
  readonly connectionManager: ConnectionManager
  readonly transportManager: TransportManager
  readonly events: TypedEventTarget<Libp2pEvents>
}

/**
 * A libp2p service that closes direct connections to a peer that has another one. They arise where both ends dial at the
 * same time, or where two addresses connect at the same time.
 *
 * Only the end that dialled closes a connection, without streams, and both ends choose the same one to keep: one with
 * streams, else one that the peer with the lower id dialled, else the oldest. New connections are left alone, because a
 * peer that checks an address closes its connection soon.
 */
export function surplusConnections({
  clock
}: {
  readonly clock: Clock
}): (components: SurplusConnectionsComponents) => Startable {
  return ({ peerId, connectionManager, transportManager, events }) => {
    const self = peerId.toString()
    const timers = new Map<string, Timer>()

    const directTo = (peer: PeerId) =>
      connectionManager.getConnections(peer).filter((each) => each.status === 'open' && !isRelayed(each))

    function isSurplus(connection: Connection, all: readonly Connection[]): boolean {
      if (connection.direction !== 'outbound' || connection.streams.length > 0) return false
      const peer = connection.remotePeer.toString()
      return all.some((other) => {
        if (other === connection) return false
        if (other.streams.length > 0) return true
        return other.direction === 'inbound' ? peer < self : all.indexOf(other) < all.indexOf(connection)
      })
    }

    /** A reservation is bound to its connection. */
    const isRelay = (peer: PeerId) =>
      transportManager.getAddrs().some((address) => isCircuit(address) && address.toString().includes(peer.toString()))

    async function check(peer: PeerId): Promise<void> {
      const open = directTo(peer)
      const surplus = isRelay(peer) ? undefined : open.findLast((connection) => isSurplus(connection, open))
      if (surplus !== undefined) {
        surplus.log('closed, because the peer has another connection')
        await surplus.close().catch(() => surplus.abort(new Error('the connection did not close')))
      }
      watch(peer)
    }

    function watch(peer: PeerId): void {
      const key = peer.toString()
      timers.get(key)?.cancel()
      timers.delete(key)
      if (directTo(peer).length > 1)
        timers.set(
          key,
          clock.after(SURPLUS_CONNECTION_MS, () => void check(peer))
        )
    }

    const onOpen = ({ detail: { remotePeer } }: CustomEvent<Connection>) => watch(remotePeer)

    return {
      start: () => events.addEventListener('connection:open', onOpen),
      stop() {
        events.removeEventListener('connection:open', onOpen)
        for (const timer of timers.values()) timer.cancel()
        timers.clear()
      }
    }
  }
}
