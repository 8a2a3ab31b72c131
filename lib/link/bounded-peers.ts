import type { PeerData, PeerId, PeerStore } from '@libp2p/interface'
import { PEER_ADDRESS_BYTES_MAX, PEER_ADDRESSES_MAX, PEER_PROTOCOLS_MAX } from '../base/limits/link.ts'

type Write = (id: PeerId, data: PeerData, options?: unknown) => Promise<PeerUpdated>

interface PeerUpdated {
  readonly peer: Awaited<ReturnType<PeerStore['get']>>
  readonly previous?: unknown
  readonly updated: boolean
}

/** The part of libp2p's peer store that writes. It writes a peer once at a time. */
interface Writing {
  peerId: PeerId
  merge: Write
  patch: Write
}

/**
 * Limits the addresses and protocols that a node stores of another one. libp2p stores all that a peer names: 2,000 addresses in one message
 * of the DHT hold the event loop for 22 s, because each one is compared with all others.
 */
export function boundPeers(peerStore: PeerStore): void {
  const { store } = peerStore as PeerStore & { readonly store: Writing }
  const merge = store.merge.bind(store)
  const patch = store.patch.bind(store)
  store.patch = (id, data, options) => patch(id, store.peerId.equals(id) ? data : bounded(data), options)
  store.merge = async (id, data, options) => {
    if (store.peerId.equals(id)) return merge(id, data, options)
    const added = bounded(data)
    const merged = await merge(id, added, options)
    const { addresses, protocols } = merged.peer
    if (addresses.length <= PEER_ADDRESSES_MAX && protocols.length <= PEER_PROTOCOLS_MAX) return merged
    // Any peer of the DHT can name addresses of this one. Only the peer itself can sign them.
    const signed = addresses.filter(({ isCertified }) => isCertified)
    const kept = bounded({
      addresses: [...signed, ...addressesOf(added), ...addresses],
      protocols: [...(added.protocols ?? []), ...protocols]
    })
    return { ...merged, peer: (await patch(id, kept, options)).peer }
  }
}

type Addresses = NonNullable<PeerData['addresses']>

const addressesOf = ({ addresses = [], multiaddrs = [] }: PeerData): Addresses => [
  ...addresses,
  ...multiaddrs.map((each) => ({ multiaddr: each, isCertified: false }))
]

function bounded(data: PeerData): PeerData {
  const { addresses, multiaddrs, protocols, ...rest } = data
  return {
    ...rest,
    ...(addresses === undefined && multiaddrs === undefined ? {} : { addresses: first(addressesOf(data)) }),
    ...(protocols === undefined ? {} : { protocols: [...new Set(protocols)].slice(0, PEER_PROTOCOLS_MAX) })
  }
}

/** The first of them that differ, as many as a node stores. */
function first(addresses: Addresses): Addresses {
  const found = new Map<string, Addresses[number]>()
  for (const each of addresses) {
    if (found.size === PEER_ADDRESSES_MAX) break
    const text = each.multiaddr.toString()
    if (!found.has(text) && each.multiaddr.bytes.length <= PEER_ADDRESS_BYTES_MAX) found.set(text, each)
  }
  return [...found.values()]
}
