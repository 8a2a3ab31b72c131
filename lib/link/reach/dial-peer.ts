import type { Connection, PeerId, PeerStore } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { type Clock, sleep } from '../../base/clock.ts'
import { RELAYED_DIAL_DELAY_MS, RELAYED_DIALS_MAX } from '../../base/limits/reach.ts'
import { isCircuit } from './is-relayed.ts'

export interface DialPeerInit {
  readonly connectionManager: ConnectionManager
  readonly transportManager: TransportManager
  readonly peerStore: PeerStore
  readonly clock: Clock
}

/**
 * Dials a peer directly and, a moment later, through its relays. The first connection wins. libp2p would dial one
 * address after the other, and a private address of another network takes `DIAL_ADDRESS_MS` to fail.
 */
export async function dialPeer(
  { connectionManager, transportManager, peerStore, clock }: DialPeerInit,
  peer: PeerId,
  known: readonly Multiaddr[],
  signal: AbortSignal
): Promise<Connection> {
  const relays = [...byRelay(known)].slice(0, RELAYED_DIALS_MAX)
  const direct = known.filter((address) => !isCircuit(address))
  if (relays.length === 0) return connectionManager.openConnection(peer, { signal })
  const losers = new AbortController()
  const either = AbortSignal.any([signal, losers.signal])
  const dials = relays.map(async ([relay, [first, ...others]]) => {
    // The relay transport knows the addresses of a relay from the peer store only.
    const multiaddrs = [first, ...others].map((address) => address.decapsulate('/p2p-circuit'))
    await peerStore.merge(peerIdFromString(relay), { multiaddrs }, { signal })
    if (direct.length > 0) await sleep(clock, RELAYED_DIAL_DELAY_MS, either)
    return transportManager.dial(withPeer(first, peer), { signal: either })
  })
  // It goes on after a relay won: then the direct connection replaces the relayed one.
  if (direct.length > 0)
    dials.push(
      connectionManager.openConnection(
        direct.map((address) => withPeer(address, peer)),
        { signal }
      )
    )
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

function withPeer(address: Multiaddr, peer: PeerId): Multiaddr {
  const last = address.getComponents().at(-1)
  return last?.name === 'p2p' && last.value === peer.toString()
    ? address
    : multiaddr(`${address.toString()}/p2p/${peer.toString()}`)
}
