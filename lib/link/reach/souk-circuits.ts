import {
  type CircuitRelayTransportComponents,
  circuitRelayTransport,
  RELAY_V2_HOP_CODEC
} from '@libp2p/circuit-relay-v2'
import type { Connection, ConnectionLimits, DialTransportOptions, PeerId, Stream, Transport } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { lpStream } from '@libp2p/utils'
import type { Multiaddr } from '@multiformats/multiaddr'
import { HOP_BYTES_MAX } from '../../base/limits/reach.ts'
import { CircuitConnection } from './circuit-connection.ts'
import { HOP_MESSAGE, HOP_OK, HOP_TYPE, type HopLimit } from './hop-codec.ts'
import { isRelayed } from './is-relayed.ts'
import { ANY_RELAY, RelayedAddresses } from './relayed-addresses.ts'
import { SharedDials } from './shared-dials.ts'

/** libp2p makes a reservation at a peer that sends a circuit, unless it has one. */
interface Reserving {
  readonly reservationStore: { hasReservation(peer: PeerId): boolean }
}

/**
 * libp2p's transport over relays, with faster dials. The encrypted handshake with the peer starts together with the
 * request to the relay, which keeps these bytes until it has reached the peer. That saves a round trip, and proves the
 * peer as on any connection.
 *
 * There is one circuit for each relay and peer. libp2p's DHT dials a provider that it finds, at the same moment as a
 * caller does. libp2p would then abort one of the two circuits as a duplicate, with the streams that it has by then.
 *
 * The relay keeper makes the reservations. libp2p's own ones have four faults: a reservation that waits for another one is
 * forgotten, and its caller waits for ever; a relay that failed may never be asked again; each failure leaves a listener; and
 * a peer that sends a circuit gets a reservation made and its address announced, whoever it is.
 */
export function soukCircuits(): (components: CircuitRelayTransportComponents) => Transport {
  return (components) => {
    const transport: Transport & Partial<Reserving> = circuitRelayTransport()(components)
    if (transport.reservationStore !== undefined) transport.reservationStore.hasReservation = () => true
    transport.listenFilter = (addresses) => addresses.filter((address) => address.equals(ANY_RELAY))
    transport.createListener = () => new RelayedAddresses(components.addressManager)
    const running = new SharedDials()
    transport.dial = async (address, options) => {
      const [relay, peer] = endsOf(address)
      const open = components.connectionManager
        .getConnections(peerIdFromString(peer))
        .find((each) => each.status === 'open' && each.remoteAddr.toString().includes(`/${relay}/p2p-circuit`))
      return (
        open ??
        running.join(`${relay} ${peer}`, options.signal, (signal) => dial(components, address, { ...options, signal }))
      )
    }
    return transport
  }
}

async function dial(
  components: CircuitRelayTransportComponents,
  address: Multiaddr,
  options: DialTransportOptions
): Promise<Connection> {
  const { signal } = options
  const [relay, peer] = endsOf(address)
  const hop = await connectionTo(components, relay, address, signal)
  const stream = await hop.newStream(RELAY_V2_HOP_CODEC, { signal })
  const connection = new CircuitConnection(stream, address)
  let refusal: unknown
  let limits: ConnectionLimits | undefined
  const start = (granted: HopLimit | undefined) => {
    limits = limitsOf(granted)
    connection.receive()
  }
  const refuse = (error: unknown) => {
    refusal = error
    connection.abort(asError(error))
  }
  void request(stream, peer, signal).then(start).catch(refuse)
  // libp2p reads the limits after the handshake, and so after the relay's response.
  const upgrade = Object.defineProperty({ ...options }, 'limits', { enumerable: true, get: () => limits })
  try {
    return await options.upgrader.upgradeOutbound(connection, upgrade)
  } catch (error) {
    connection.abort(asError(error))
    throw refusal ?? error
  }
}

/** Asks the relay for a circuit. Resolves with its limits. */
async function request(stream: Stream, peer: string, signal: AbortSignal): Promise<HopLimit | undefined> {
  const messages = lpStream(stream, { maxDataLength: HOP_BYTES_MAX })
  const id = peerIdFromString(peer).toMultihash().bytes
  await messages.write(HOP_MESSAGE.encode({ type: HOP_TYPE.connect, peer: { id }, status: 0 }), { signal })
  const { status, limit } = HOP_MESSAGE.decode(await messages.read({ signal }))
  if (status !== HOP_OK) throw new Error(`the relay refused with status ${status}`)
  messages.unwrap()
  return limit
}

/** Peer ids of the relay and of the peer behind it. */
function endsOf(address: Multiaddr): [relay: string, peer: string] {
  const parts = address.getComponents()
  const circuit = parts.findIndex(({ name }) => name === 'p2p-circuit')
  const idIn = (some: typeof parts) => some.findLast(({ name }) => name === 'p2p')?.value
  const [relay, peer] = [idIn(parts.slice(0, circuit)), idIn(parts.slice(circuit))]
  if (relay === undefined || peer === undefined) throw new Error(`${address.toString()} names no relay and no peer`)
  return [relay, peer]
}

/** A relay does not relay over another relay, so the connection to it is a direct one. */
async function connectionTo(
  { connectionManager, peerStore }: CircuitRelayTransportComponents,
  relay: string,
  address: Multiaddr,
  signal: AbortSignal
): Promise<Connection> {
  const id = peerIdFromString(relay)
  const open = connectionManager.getConnections(id).find((each) => each.status === 'open' && !isRelayed(each))
  if (open !== undefined) return open
  await peerStore.merge(id, { multiaddrs: [address.decapsulate('/p2p-circuit')] }, { signal })
  return connectionManager.openConnection(id, { signal })
}

/** libp2p runs only some protocols on a connection with limits. */
function limitsOf({ duration, data }: HopLimit = { duration: 0, data: 0n }): ConnectionLimits | undefined {
  if (duration === 0 && data === 0n) return undefined
  return { ...(duration === 0 ? {} : { seconds: duration }), ...(data === 0n ? {} : { bytes: data }) }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('not an error', { cause: error })
}
