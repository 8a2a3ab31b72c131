import type { ComponentLogger, Libp2pEvents, PeerId, PeerStore, PrivateKey } from '@libp2p/interface'
import type { AddressManager, ConnectionManager, Registrar } from '@libp2p/interface-internal'
import type { GossipSub } from '@libp2p/gossipsub'
import type { KadDHT } from '@libp2p/kad-dht'
import type { TypedEventTarget } from 'main-event'

/** What Souk needs of the libp2p node it is a service of. `dht` is the service that `soukDht()` made. */
export interface SoukComponents {
  readonly peerId: PeerId
  readonly privateKey: PrivateKey
  readonly connectionManager: ConnectionManager
  readonly registrar: Registrar
  readonly peerStore: PeerStore
  readonly addressManager: AddressManager
  readonly events: TypedEventTarget<Libp2pEvents>
  readonly logger: ComponentLogger
  readonly dht?: KadDHT
  /** What `soukGossip()` made. Without it a new listing is known where somebody asks, not within seconds. */
  readonly pubsub?: GossipSub
}
