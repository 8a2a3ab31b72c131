import type { PrivateKey } from '@libp2p/interface'
import type { ApiId } from '../../base/api-name.ts'
import type { Clock } from '../../base/clock.ts'
import type { PeerClocks } from '../../base/peer-clocks.ts'
import type { Random } from '../../base/random.ts'
import type { Directory } from '../../interface/directory.ts'
import type { Gossip } from '../../interface/gossip.ts'
import type { Link } from '../../interface/link.ts'
import type { ListingIndex } from '../../interface/listing-index.ts'
import type { CallOutcomeSeen, Reputation } from '../../interface/quality.ts'
import type { Documents } from '../../interface/store.ts'
import { Announcements } from './announcements.ts'
import { type CatalogueInit, createCatalogue, type LearningCatalogue } from './catalogue.ts'
import { CatalogueReader } from './catalogue-exchange.ts'
import { Intake } from './intake.ts'
import { OperationCollector, type OperationCollectorInit } from './operation-collector.ts'
import type { LocalManifests } from '../manifest/manifest-exchange.ts'
import { ProviderPages } from './provider-pages.ts'
import { Prober, type ProberInit } from '../quality/prober.ts'
import { QualityTracker } from '../quality/quality-tracker.ts'
import { createRecordAuthor } from '../directory/record-author.ts'

export interface DiscoveryInit {
  readonly index: ListingIndex
  readonly directory: Directory
  readonly link: Link
  readonly clocks: PeerClocks
  readonly network: string
  /** The node's own libp2p key, Ed25519. */
  readonly privateKey: PrivateKey
  /** Default: the node's own key. */
  readonly providerKey?: PrivateKey
  readonly local: LocalManifests
  readonly connected: CatalogueInit['connected']
  readonly documents: Documents
  readonly gossip?: Gossip
  /** Enables probes: resolves the API to probe. Default: no probes. */
  readonly probe?: ProberInit['resolve']
  /** Reads operations of listings, and finds their owners. */
  readonly describing: Pick<OperationCollectorInit, 'descriptions' | 'resolve' | 'log'>
  readonly clock: Clock
  readonly random: Random
}

/** Others' listings as this node knows them, and the announcement of its own. */
export interface Discovery {
  readonly catalogue: LearningCatalogue
  readonly announcements: Announcements
  readonly reader: Pick<CatalogueReader, 'hasManifest'>
  readonly quality: QualityTracker
  /** Reports the result of one of this node's calls. */
  readonly observe: (id: ApiId, owner: string, outcome: CallOutcomeSeen) => void
  reputation(id: ApiId): Promise<Reputation>
  /** Starts the background work. */
  start(): void
  stop(): void
}

export function createDiscovery(init: DiscoveryInit): Discovery {
  const { documents, directory, link, network, local, connected, gossip, clock, random } = init
  const { privateKey, providerKey, probe } = init
  const operations = new OperationCollector({ ...init.describing, index: init.index, clock, random })
  const index: ListingIndex = {
    ...init.index,
    async put(listings, bounds) {
      const outcomes = await init.index.put(listings, bounds)
      const isChanged = (_: unknown, at: number) => outcomes[at] === 'new' || outcomes[at] === 'changed'
      operations.want(listings.filter(isChanged).map(({ signed }) => signed.id))
      return outcomes
    }
  }
  const quality = new QualityTracker({ documents, index, clock })
  const intake = new Intake({ index, network, clock, gradeOf: (id) => quality.gradeOf(id) })
  const reader = new CatalogueReader({ link, clocks: init.clocks, index, intake, network, clock })
  const keys = providerKey === undefined ? { privateKey } : { privateKey, providerKey }
  const author = createRecordAuthor({ ...keys, clock, network })
  const prober = probe === undefined ? undefined : new Prober({ link, clock, random, resolve: probe })
  const told = { intake, reader, author, network, clock }
  const known = (id: ApiId) => ({ quality: quality.of(id), ...present('probed', prober?.of(id)) })
  const announcements = new Announcements(gossip === undefined ? told : { ...told, gossip })
  const isTold = gossip !== undefined
  const gradeOf = (id: ApiId) => quality.gradeOf(id)
  const catalogue = createCatalogue({
    directory,
    link,
    index,
    reader,
    operations,
    local,
    connected,
    providers: new ProviderPages({ link, clock }),
    resolve: init.describing.resolve,
    known,
    gradeOf,
    isTold,
    clock,
    random
  })
  return {
    catalogue,
    announcements,
    reader,
    quality,
    observe(id, owner, outcome) {
      quality.observe(id, owner, outcome)
      prober?.want(id)
    },
    async reputation(id) {
      prober?.want(id)
      const [head] = await index.heads([id])
      return { ...present('firstSeenAt', head?.firstSeenAt), ...known(id) }
    },
    start() {
      announcements.start()
      catalogue.start()
      operations.start()
      prober?.start()
    },
    stop() {
      prober?.stop()
      operations.stop()
      catalogue.stop()
      announcements.stop()
    }
  }
}

/** An object with this member, or an empty one without a value. */
function present<K extends string, V>(name: K, value: V | undefined): { readonly [_ in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [_ in K]?: V })
}
