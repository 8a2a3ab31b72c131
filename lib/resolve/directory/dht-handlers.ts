import type { Peer, PeerId, PeerStore } from '@libp2p/interface'
import { equals } from 'uint8arrays/equals'
import { DHT_KEY_BYTES_MAX } from '../../base/limits/directory.ts'
import { PEER_ADDRESSES_MAX } from '../../base/limits/link.ts'

/** A peer in a message of the DHT. */
interface NamedPeer {
  readonly id: Uint8Array
  readonly multiaddrs: readonly Uint8Array[]
}

interface Message {
  readonly key?: Uint8Array
  readonly providers: readonly NamedPeer[]
}

interface Handler {
  handle(from: PeerId, message: Message): Promise<unknown>
}

/** The handlers of kad-dht that this file changes. */
export interface Handlers {
  readonly ADD_PROVIDER: Handler
  readonly GET_PROVIDERS: Handler & { peerStore: Pick<PeerStore, 'get'> }
}

/**
 * A peer can name itself as a provider only. kad-dht stores each of its entries, so one message of 100 kB holds the event loop for seconds.
 * And it stores keys of any length.
 */
export function takeOneProvider({ ADD_PROVIDER }: Handlers): void {
  const handle = ADD_PROVIDER.handle.bind(ADD_PROVIDER)
  ADD_PROVIDER.handle = (from, message) => {
    const { key, providers } = message
    if (key !== undefined && key.length > DHT_KEY_BYTES_MAX) return Promise.reject(new Error('the key is too long'))
    const self = from.toMultihash().bytes
    const own = providers.find(({ id }) => equals(id, self))
    const taken = own === undefined ? [] : [{ ...own, multiaddrs: own.multiaddrs.slice(0, PEER_ADDRESSES_MAX) }]
    return handle(from, { ...message, providers: taken })
  }
}

/** kad-dht sends no provider of a key when the addresses of one of them are no longer stored. This names the others. */
export function leaveOutUnknown({ GET_PROVIDERS }: Handlers): void {
  const { peerStore } = GET_PROVIDERS
  GET_PROVIDERS.peerStore = {
    get: (id) =>
      peerStore.get(id).catch((): Peer => ({ id, addresses: [], protocols: [], metadata: new Map(), tags: new Map() }))
  }
}
