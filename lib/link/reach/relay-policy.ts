import {
  type CircuitRelayServerComponents,
  type CircuitRelayService,
  circuitRelayServer
} from '@libp2p/circuit-relay-v2'
import type { ConnectionGater } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import {
  DIAL_BACK_PEERS_MAX,
  RELAY_CIRCUIT_BYTES_MAX,
  RELAY_CIRCUIT_MS,
  RELAY_CIRCUIT_REFILL_MS,
  RELAY_CIRCUITS_BURST,
  RELAY_CIRCUITS_PER_HOLDER_MAX,
  RELAY_CIRCUITS_PER_PEER_MAX,
  RELAY_HOP_MS,
  RELAY_RESERVATION_MS,
  RELAY_RESERVATIONS_MAX,
  RELAYED_BYTES_MAX
} from '../../base/limits/reach.ts'
import { TokenBuckets } from '../../base/token-bucket.ts'
import { type PeerWorth, WORTH } from '../peer-worth.ts'
import { UnreadBodies } from '../unread-bodies.ts'
import { waitForReceivers } from './relayed-bytes.ts'

/**
 * For whom a node relays:
 * - `anyone`: all nodes of its network;
 * - `known`: bootstrap peers, and peers with which it traded. Relaying for strangers costs bandwidth.
 */
export type RelayFor = 'anyone' | 'known'

export interface RelayPolicyInit {
  readonly relayFor: RelayFor
  readonly worth: PeerWorth
  /** Whether other nodes can dial this one. Otherwise its reservations are useless. */
  readonly isReachable: () => boolean
  readonly clock: Clock
}

/** Decides for whom this node relays. What it relays stays encrypted between the two ends (Noise). */
export function relayGater({ relayFor, worth, isReachable, clock }: RelayPolicyInit): ConnectionGater {
  const rate = { burst: RELAY_CIRCUITS_BURST, perSecond: 1_000 / RELAY_CIRCUIT_REFILL_MS }
  const circuits = new TokenBuckets(rate, DIAL_BACK_PEERS_MAX, clock)
  const isKnown = (peer: string) => worth.scores()(peer).worth >= WORTH.bootstrap
  return {
    denyInboundRelayReservation: (source) => !isReachable() || (relayFor === 'known' && !isKnown(source.toString())),
    // Any peer may connect to a peer with a reservation, a limited number of times.
    denyOutboundRelayedConnection: (source) => !circuits.take(source.toString())
  }
}

/** The relay as a libp2p service, with Souk's limits. */
export function soukRelay({
  clock
}: Pick<RelayPolicyInit, 'clock'>): (components: CircuitRelayServerComponents) => CircuitRelayService {
  const create = circuitRelayServer({
    hopTimeout: RELAY_HOP_MS,
    maxInboundHopStreams: RELAY_CIRCUITS_PER_PEER_MAX,
    maxOutboundStopStreams: RELAY_CIRCUITS_PER_HOLDER_MAX,
    reservations: {
      maxReservations: RELAY_RESERVATIONS_MAX,
      reservationTtl: RELAY_RESERVATION_MS,
      defaultDurationLimit: RELAY_CIRCUIT_MS,
      defaultDataLimit: BigInt(RELAY_CIRCUIT_BYTES_MAX)
    }
  })
  return (components) => {
    const relay = create(components)
    waitForReceivers(relay, new UnreadBodies(clock, RELAYED_BYTES_MAX))
    return relay
  }
}
