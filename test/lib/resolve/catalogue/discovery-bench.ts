import type { Ed25519PrivateKey } from '@libp2p/interface'
import type { ApiId } from '../../../../lib/base/api-name.ts'
import { PeerClocks } from '../../../../lib/base/peer-clocks.ts'
import { serveDescriptions } from '../../../../lib/describe/description-exchange.ts'
import { DescriptionReader } from '../../../../lib/describe/description-reader.ts'
import { DocumentShelf } from '../../../../lib/describe/document-shelf.ts'
import type { Gossip, GossipHandler } from '../../../../lib/interface/gossip.ts'
import type { ListingIndex } from '../../../../lib/interface/listing-index.ts'
import type { PeerAddress } from '../../../../lib/interface/link.ts'
import type { Manifest, SignedManifest } from '../../../../lib/interface/manifest.ts'
import { serveCatalogue } from '../../../../lib/resolve/catalogue/catalogue-exchange.ts'
import { createDiscovery, type Discovery } from '../../../../lib/resolve/catalogue/discovery.ts'
import { signManifest } from '../../../../lib/resolve/manifest/sign-manifest.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import type { ManualClock } from '../../../helpers/manual-clock.ts'
import {
  emptyDirectory,
  idOf,
  keyOf,
  LinkNetwork,
  manifestOf,
  offerOf,
  seededRandom,
  type StubLink
} from '../fixtures.ts'

/** Delivers every message to all nodes at once. Each node validates it. */
class GossipHub {
  readonly members = new Map<string, GossipHandler>()
  readonly verdicts: string[] = []

  join(self: string): Gossip {
    return {
      publish: (message) => this.tell(message, self),
      start: (handler) => void this.members.set(self, handler),
      stop: () => void this.members.delete(self)
    }
  }

  async tell(message: Uint8Array, from: string): Promise<void> {
    for (const [peer, judge] of this.members) if (peer !== from) this.verdicts.push(await judge(message, from))
  }
}

export interface DiscoveryNode extends Discovery {
  readonly key: Ed25519PrivateKey
  readonly link: StubLink
  readonly index: ListingIndex
  readonly local: SignedManifest[]
  readonly shelf: DocumentShelf
  /** The peers that the directory returns. */
  readonly named: PeerAddress[]
  /** The nodes that a lookup of an API finds. */
  readonly owners: PeerAddress[]
  readonly tagged: PeerAddress[]
  sign(changes?: Partial<Manifest>): Promise<SignedManifest>
  /** Serves and announces a manifest. */
  serve(changes?: Partial<Manifest>): Promise<SignedManifest>
  search(query?: Parameters<Discovery['catalogue']['search']>[0]): Promise<string[]>
}

export interface DiscoveryNodeInit {
  readonly network?: string
  readonly withGossip?: boolean
}

/** Nodes of one process that find each other's listings, on a manual clock. */
export class DiscoveryBench {
  readonly links = new LinkNetwork()
  readonly hub = new GossipHub()
  readonly clock: ManualClock

  constructor(clock: ManualClock) {
    this.clock = clock
  }

  async add(word: string, { network = 'dev', withGossip = true }: DiscoveryNodeInit = {}): Promise<DiscoveryNode> {
    const { clock } = this
    const key = await keyOf(word)
    const link = this.links.join(idOf(key))
    const store = createMemoryStore()
    await store.open()
    const index = store.listings
    const local: SignedManifest[] = []
    const named: PeerAddress[] = []
    const tagged: PeerAddress[] = []
    const owners: PeerAddress[] = []
    const directory = emptyDirectory({
      async *catalogues() {
        yield* named
      },
      async *tagged() {
        yield* tagged
      }
    })
    const shelf = new DocumentShelf(clock)
    serveDescriptions({ link, shelf, clock })
    const sourceOf = async (id: ApiId) => (await index.heads([id]))[0]?.source
    serveCatalogue({ link, index, network, clock })
    const discovery = createDiscovery({
      connected: () => Promise.resolve(),
      index,
      directory,
      link,
      clocks: new PeerClocks(clock, () => {}),
      network,
      privateKey: key,
      local: () => local,
      documents: store.documents,
      describing: {
        descriptions: new DescriptionReader({ link, shelf, clock, sourceOf }),
        resolve: async () => ({ owners })
      },
      clock,
      random: seededRandom(),
      ...(withGossip ? { gossip: this.hub.join(link.self) } : {})
    })
    discovery.announcements.start()
    const sign = (changes: Partial<Manifest> = {}) => signManifest(manifestOf(idOf(key), changes), key)
    return {
      ...discovery,
      key,
      link,
      index,
      local,
      shelf,
      named,
      owners,
      tagged,
      sign,
      async serve(changes) {
        const signed = await sign(changes)
        const before = local.findIndex(({ id }) => id === signed.id)
        local.splice(before === -1 ? local.length : before, 1, signed)
        await discovery.announcements.announce(offerOf(signed), signed)
        return signed
      },
      async search(query = {}) {
        const { listings } = await discovery.catalogue.search(query, new AbortController().signal)
        return listings.map(({ manifest }) => manifest.name)
      }
    }
  }

  connect(...nodes: readonly DiscoveryNode[]): void {
    for (const node of nodes) {
      node.link.connected = nodes
        .filter((other) => other !== node)
        .map(({ link }) => ({ id: link.self, addresses: [] }))
    }
  }
}
