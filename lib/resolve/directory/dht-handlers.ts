import type { Peer, PeerId, PeerStore } from '@libp2p/interface'
import { equals } from 'uint8arrays/equals'
import { type Clock, nextTurn } from '../../base/clock.ts'
import { DHT_KEY_BYTES_MAX } from '../../base/limits/directory.ts'
import { PEER_ADDRESSES_MAX } from '../../base/limits/link.ts'
import { Mutex } from '../../base/mutex.ts'

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

/** A key has up to 256 claims, and their addresses take up to 70 ms to read. kad-dht answers all requests of a row in one turn of the event loop. */
export function nameProvidersInTurns({ GET_PROVIDERS }: Handlers, clock: Pick<Clock, 'soon'>): void {
  const handle = GET_PROVIDERS.handle.bind(GET_PROVIDERS)
  const mutex = new Mutex()
  GET_PROVIDERS.handle = (from, message) =>
    mutex.run(async () => {
      await nextTurn(clock)
      return handle(from, message)
    })
}
