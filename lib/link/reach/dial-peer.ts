import type { Connection, PeerId, PeerStore } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Multiaddr } from '@multiformats/multiaddr'
import { type Clock, sleep } from '../../base/clock.ts'
import { RELAYED_DIAL_DELAY_MS, RELAYED_DIALS_MAX } from '../../base/limits/reach.ts'
import type { DialOptions } from './dial-progress.ts'
import { isCircuit } from './is-relayed.ts'
import { withPeer } from './with-peer.ts'

export interface DialPeerInit {
  readonly connectionManager: ConnectionManager
  readonly transportManager: TransportManager
  readonly peerStore: PeerStore
  readonly clock: Clock
}

/**
 * Dials a peer directly and, a moment later, through its relays. The first connection wins. libp2p would try the relays
 * last, and a private address of another network takes `DIAL_ADDRESS_MS` to fail.
 */
export async function dialPeer(
  { connectionManager, transportManager, peerStore, clock }: DialPeerInit,
  peer: PeerId,
  known: readonly Multiaddr[],
  { signal, onProgress }: Required<DialOptions>
): Promise<Connection> {
  const relays = [...byRelay(known)].slice(0, RELAYED_DIALS_MAX)
  const direct = known.filter((address) => !isCircuit(address))
  // With addresses, so that a dial that already runs gets the new ones.
  const dialDirect = () =>
    connectionManager.openConnection(
      direct.map((address) => withPeer(address, peer.toString())),
      { signal, onProgress }
    )
  if (relays.length === 0)
    return direct.length > 0 ? dialDirect() : connectionManager.openConnection(peer, { signal, onProgress })
  const losers = new AbortController()
  const either = AbortSignal.any([signal, losers.signal])
  const dials = relays.map(async ([relay, [first, ...others]]) => {
    // The relay transport knows the addresses of a relay from the peer store only.
    const multiaddrs = [first, ...others].map((address) => address.decapsulate('/p2p-circuit'))
    await peerStore.merge(peerIdFromString(relay), { multiaddrs }, { signal })
    if (direct.length > 0) await sleep(clock, RELAYED_DIAL_DELAY_MS, either)
    return transportManager.dial(withPeer(first, peer.toString()), { signal: either })
  })
  // It goes on after a relay won: then the direct connection replaces the relayed one.
  if (direct.length > 0) dials.push(dialDirect())
  try {
    return await Promise.any(dials)
  } finally {
    losers.abort(new Error('another dial was faster'))
  }
}

/** A relay has several addresses, but one connection to it is enough. */
function byRelay(addresses: readonly Multiaddr[]): Map<string, [Multiaddr, ...Multiaddr[]]> {
  const found = new Map<string, [Multiaddr, ...Multiaddr[]]>()
  for (const address of addresses.filter(isCircuit)) {
    const relay = address.getComponents().find(({ name }) => name === 'p2p')?.value
    if (relay !== undefined) found.set(relay, [...(found.get(relay) ?? []), address] as [Multiaddr, ...Multiaddr[]])
  }
  return found
}
