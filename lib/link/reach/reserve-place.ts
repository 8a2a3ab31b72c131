import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2'
import type { Connection } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { ADDRESSES_PER_PEER_MAX } from '../../base/limits/directory.ts'
import { HOP_BYTES_MAX } from '../../base/limits/reach.ts'
import { parsedAddress } from '../parsed-address.ts'
import { HOP_MESSAGE, HOP_OK, HOP_TYPE } from './hop-codec.ts'
import { withPeer } from './with-peer.ts'

/** The relay responded, and does not relay for this node. */
export class ReservationRefusedError extends Error {
  override readonly name = 'ReservationRefusedError'
}

/**
 * Makes a reservation at a relay, or renews it. Resolves with the relay's addresses: the one of the connection, which works,
 * and then those that the relay names.
 * @throws ReservationRefusedError if the relay refuses
 */
export async function reservePlace(connection: Connection, signal: AbortSignal): Promise<Multiaddr[]> {
  const stream = await connection.newStream(RELAY_V2_HOP_CODEC, { signal })
  try {
    const messages = lpStream(stream, { maxDataLength: HOP_BYTES_MAX })
    await messages.write(HOP_MESSAGE.encode({ type: HOP_TYPE.reserve, status: 0 }), { signal })
    const { status, reservation } = HOP_MESSAGE.decode(await messages.read({ signal }))
    if (status !== HOP_OK) throw new ReservationRefusedError(`the relay refused with status ${status}`)
    await stream.close({ signal })
    return addressesOf(connection, reservation?.addresses ?? [])
  } catch (error) {
    stream.abort(error instanceof Error ? error : new Error('the reservation failed'))
    throw error
  }
}

const HOSTS = /^(ip4|ip6|dns|dns4|dns6)$/

/** libp2p throws for an address without a host and a port. The text of other bytes may not parse again. */
function isAddress(address: Multiaddr): boolean {
  const [host, port] = address.getComponents()
  return HOSTS.test(host?.name ?? '') && port?.name === 'tcp' && parsedAddress(address.toString()) !== undefined
}

/** Without addresses of other peers, also as relays: a relay does not relay over another one. */
function addressesOf({ remotePeer, remoteAddr }: Connection, named: readonly Uint8Array[]): Multiaddr[] {
  const relay = remotePeer.toString()
  const isOfRelay = (address: Multiaddr) =>
    address.getComponents().every(({ name, value }) => name !== 'p2p' || value === relay)
  const all = [remoteAddr, ...named.map((bytes) => multiaddr(bytes))].filter(
    (address) => isAddress(address) && isOfRelay(address)
  )
  const unique = new Map(all.map((address) => withPeer(address, relay)).map((each) => [each.toString(), each]))
  return [...unique.values()].slice(0, ADDRESSES_PER_PEER_MAX)
}
