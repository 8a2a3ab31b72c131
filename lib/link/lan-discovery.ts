import type { ComponentLogger, PeerDiscovery, PeerId, PeerInfo, Startable } from '@libp2p/interface'
import type { AddressManager, ConnectionManager } from '@libp2p/interface-internal'
import type { mdns } from '@libp2p/mdns'
import { isLoopback } from '@libp2p/utils'
import { boundedMap } from '../base/bounded-map.ts'
import { utf8, sha256 } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import { reasonOf } from '../base/component-log.ts'
import { ADDRESSES_PER_PEER_MAX } from '../base/limits/directory.ts'
import { LAN_DIAL_PAUSE_MS, LAN_DIALS_AT_ONCE, LAN_PEERS_MAX, LAN_QUERY_MS } from '../base/limits/link.ts'
import { isNotPublic } from './public-addresses.ts'

interface LanDiscoveryComponents {
  readonly addressManager: AddressManager
  readonly connectionManager: ConnectionManager
  readonly peerId: PeerId
  readonly logger: ComponentLogger
}

export interface LanDiscoveryInit {
  readonly mdns: typeof mdns
  readonly network: string
  readonly clock: Pick<Clock, 'elapsed'>
}

/**
 * A libp2p service that finds peers of the same network on the LAN by multicast DNS, and connects to them. Any machine on the LAN can
 * respond, with any address. So dials are few, only to addresses of LANs, and Noise checks the peer id.
 */
export function lanDiscovery({
  mdns: discovery,
  network,
  clock
}: LanDiscoveryInit): (components: LanDiscoveryComponents) => Startable {
  return ({ addressManager, connectionManager, peerId, logger }) => {
    const log = logger.forComponent('souk:lan')
    const found = discovery({ serviceTag: lanService(network), interval: LAN_QUERY_MS })({
      addressManager,
      logger
    }) as PeerDiscovery & Startable
    /** When each peer was last dialled, on the monotonic clock. */
    const dialled = boundedMap<string, number>(LAN_PEERS_MAX)
    let dials = 0

    async function onPeer({ detail: { id, multiaddrs } }: CustomEvent<PeerInfo>): Promise<void> {
      if (id.equals(peerId) || connectionManager.getConnections(id).length > 0 || dials >= LAN_DIALS_AT_ONCE) return
      const [name, now] = [id.toString(), clock.elapsed()]
      if (now < (dialled.get(name) ?? Number.NEGATIVE_INFINITY) + LAN_DIAL_PAUSE_MS) return
      const near = multiaddrs.filter((address) => isNotPublic(address) && !isLoopback(address))
      if (near.length === 0) return
      dialled.set(name, now)
      dials++
      try {
        const addresses = near.slice(0, ADDRESSES_PER_PEER_MAX).map((address) => address.encapsulate(`/p2p/${name}`))
        await connectionManager.openConnection(addresses)
        log('found %s on the LAN', name)
      } catch (error) {
        log('%s on the LAN is not reachable: %s', name, reasonOf(error))
      } finally {
        dials--
      }
    }
    const listener = (event: CustomEvent<PeerInfo>) => void onPeer(event)

    return {
      async start() {
        found.addEventListener('peer', listener)
        await found.start()
      },
      async stop() {
        found.removeEventListener('peer', listener)
        await found.stop()
      }
    }
  }
}

const TAG_CHARS = 16

/** The mDNS service of a network. A DNS label has at most 63 characters; names of networks may be longer. */
function lanService(network: string): string {
  return `_souk-${Buffer.from(sha256(utf8(network)))
    .toString('hex')
    .slice(0, TAG_CHARS)}._udp.local`
}
