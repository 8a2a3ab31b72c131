import type { ComponentLogger, Libp2pEvents, PeerId, PeerStore, PrivateKey } from '@libp2p/interface'
import type { AddressManager, ConnectionManager, Registrar, TransportManager } from '@libp2p/interface-internal'
import type { GossipSub } from '@libp2p/gossipsub'
import type { KadDHT } from '@libp2p/kad-dht'
import type { TypedEventTarget } from 'main-event'

/** The libp2p components that Souk uses. `dht` is the service created by `soukDht()`. */
export interface SoukComponents {
  readonly peerId: PeerId
  readonly privateKey: PrivateKey
  readonly connectionManager: ConnectionManager
  readonly transportManager: TransportManager
  readonly registrar: Registrar
  readonly peerStore: PeerStore
  readonly addressManager: AddressManager
  readonly events: TypedEventTarget<Libp2pEvents>
  readonly logger: ComponentLogger
  readonly dht?: KadDHT
  /** The service created by `soukGossip()`. Without it, new listings spread by queries only, not within seconds. */
  readonly pubsub?: GossipSub
}
