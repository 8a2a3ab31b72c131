import type { PrivateKey } from '@libp2p/interface'
import type { ApiId } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Directory } from '../interface/directory.ts'
import type { Gossip } from '../interface/gossip.ts'
import type { Link } from '../interface/link.ts'
import type { ListingIndex } from '../interface/listing-index.ts'
import type { Standing } from '../interface/quality.ts'
import type { Documents } from '../interface/store.ts'
import { Announcements } from './announcements.ts'
import { createCatalogue, type LearningCatalogue } from './catalogue.ts'
import { CatalogueReader } from './catalogue-exchange.ts'
import { Intake } from './intake.ts'
import type { LocalManifests } from './manifest-exchange.ts'
import { QualityBook } from './quality-book.ts'
import { createRecordAuthor } from './record-author.ts'

export interface DiscoveryInit {
  readonly index: ListingIndex
  readonly directory: Directory
  readonly link: Link
  readonly network: string
  /** The node's own libp2p key, Ed25519. */
  readonly privateKey: PrivateKey
  /** Default: the node's own. */
  readonly providerKey?: PrivateKey
  readonly local: LocalManifests
  readonly documents: Documents
  readonly gossip?: Gossip
  readonly clock: Clock
  readonly random: Random
}

/** What a node knows of others' listings, and how others learn of its own. */
export interface Discovery {
  readonly catalogue: LearningCatalogue
  readonly announcements: Announcements
  readonly quality: QualityBook
  standing(id: ApiId): Promise<Standing>
}

export function createDiscovery(init: DiscoveryInit): Discovery {
  const { index, documents, directory, link, network, local, gossip, clock, random, privateKey, providerKey } = init
  const quality = new QualityBook({ documents, index, clock })
  const intake = new Intake({ index, network, clock, gradeOf: (id) => quality.gradeOf(id) })
  const reader = new CatalogueReader({ link, index, intake, network, clock })
  const keys = providerKey === undefined ? { privateKey } : { privateKey, providerKey }
  const author = createRecordAuthor({ ...keys, clock, network })
  const told = { intake, reader, author, network, clock }
  return {
    catalogue: createCatalogue({
      directory,
      link,
      index,
      reader,
      local,
      quality,
      isTold: gossip !== undefined,
      clock,
      random
    }),
    announcements: new Announcements(gossip === undefined ? told : { ...told, gossip }),
    quality,
    async standing(id) {
      const [head] = await index.heads([id])
      return { ...(head === undefined ? {} : { firstSeenAt: head.firstSeenAt }), quality: quality.of(id) }
    }
  }
}
