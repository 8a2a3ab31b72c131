import type { Peer, PeerId, PeerStore } from '@libp2p/interface'
import { equals } from 'uint8arrays/equals'
import type { Clock } from '../../base/clock.ts'
import { FairTurns } from '../../base/fair-turns.ts'
import {
  DHT_KEY_BYTES_MAX,
  DHT_REQUESTS_PER_PEER_MAX,
  DHT_TURN_MS,
  PROVIDER_ADDRESSES_MAX
} from '../../base/limits/directory.ts'
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
  readonly [type: string]: Handler
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

/**
 * kad-dht handles all requests that have arrived in one turn of the event loop, and 60 bytes that ask for the 256 claims of a key take
 * up to 200 ms. So the peers take turns, also while the claims are read.
 */
export function handleInTurns(handlers: Handlers, clock: Pick<Clock, 'elapsed' | 'soon'>): void {
  const turns = new FairTurns({ clock, turnMs: DHT_TURN_MS, perKeyMax: DHT_REQUESTS_PER_PEER_MAX })
  for (const handler of Object.values(handlers)) {
    const handle = handler.handle.bind(handler)
    handler.handle = (from, message) => turns.run(from.toString(), () => handle(from, message))
  }
  const { GET_PROVIDERS } = handlers
  const { peerStore } = GET_PROVIDERS
  GET_PROVIDERS.peerStore = {
    get: async (id) => {
      await turns.pause()
      return peerStore.get(id)
    }
  }
}

/** A response with all addresses of 256 providers has a megabyte, which the node keeps until the peer reads it. */
export function shareAddresses({ GET_PROVIDERS }: Handlers): void {
  const handle = GET_PROVIDERS.handle.bind(GET_PROVIDERS)
  GET_PROVIDERS.handle = async (from, message) => {
    const response = await handle(from, message)
    const { providers } = response as Message
    const most = Math.max(1, Math.floor(PROVIDER_ADDRESSES_MAX / Math.max(1, providers.length)))
    const shared = providers.map((each) => ({ ...each, multiaddrs: each.multiaddrs.slice(0, most) }))
    return { ...(response as Message), providers: shared }
  }
}
