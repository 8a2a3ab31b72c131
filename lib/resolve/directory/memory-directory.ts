import type { PrivateKey } from '@libp2p/interface'
import type { ApiId } from '../../base/api-name.ts'
import type { Clock } from '../../base/clock.ts'
import type { Directory, Offer } from '../../interface/directory.ts'
import type { PeerAddress } from '../../interface/link.ts'
import { splitId } from './keys.ts'
import { verifyRecord } from './record.ts'
import { createRecordAuthor } from './record-author.ts'

/** Shared state of in-process directories instead of a network. Create one per network. */
export class MemoryDirectoryNetwork {
  readonly records = new Map<ApiId, Uint8Array>()
  /** Offers by peer. */
  readonly offers = new Map<string, { readonly address: PeerAddress; readonly byId: Map<ApiId, Offer> }>()
  /** Directories that joined. */
  readonly members = new Set<string>()
}

export interface MemoryDirectoryInit {
  readonly network: MemoryDirectoryNetwork
  /** The node's own libp2p key, Ed25519. */
  readonly privateKey: PrivateKey
  /** Default: the node's own key. */
  readonly providerKey?: PrivateKey
  /** Addresses of this node for others. Default: none. */
  readonly addresses?: readonly string[]
  readonly clock: Clock
}

/** An in-process directory for tests, with the same signatures, checks and contract as the real one. */
export function createMemoryDirectory(init: MemoryDirectoryInit): Directory {
  const { network, clock, addresses = [], privateKey, providerKey } = init
  const keys = providerKey === undefined ? { privateKey } : { privateKey, providerKey }
  const author = createRecordAuthor({ ...keys, clock })
  network.members.add(author.self)

  async function find(id: ApiId) {
    const bytes = network.records.get(id)
    return bytes === undefined ? undefined : verifyRecord(bytes, { now: clock.now(), id }).catch(() => undefined)
  }

  async function* peers(signal: AbortSignal, matches: (offer: Offer) => boolean): AsyncGenerator<PeerAddress> {
    for (const { address, byId } of network.offers.values()) {
      if (signal.aborted) return
      if ([...byId.values()].some(matches)) yield address
    }
  }

  return {
    ready: () => Promise.resolve(),
    async publish(offer, signal) {
      signal.throwIfAborted()
      const current = await find(offer.id)
      network.records.set(offer.id, await author.write(offer, current))
      const mine = network.offers.get(author.self) ?? { address: { id: author.self, addresses }, byId: new Map() }
      mine.byId.set(offer.id, offer)
      network.offers.set(author.self, mine)
      const others = network.members.size - 1
      return { asked: others, stored: others }
    },
    async withdraw(id) {
      network.offers.get(author.self)?.byId.delete(id)
    },
    async record(id, signal) {
      signal.throwIfAborted()
      return (await find(id))?.record
    },
    servers: (id, signal) => peers(signal, (offer) => offer.id === id),
    claimants: (name, signal) => peers(signal, ({ id }) => splitId(id).name === name),
    tagged: (tag, signal) => peers(signal, ({ tags }) => tags.some((own) => own.toLowerCase() === tag.toLowerCase())),
    catalogues: (signal) => peers(signal, () => true)
  }
}
