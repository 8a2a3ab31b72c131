import type { ApiId } from '../../base/api-name.ts'
import type { Clock } from '../../base/clock.ts'
import { deadline } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import {
  ANNOUNCED_MANIFEST_BYTES_MAX,
  ANNOUNCEMENT_AGE_MS,
  ANNOUNCEMENT_BYTES_MAX,
  ANNOUNCEMENTS_PER_PEER_BURST,
  ANNOUNCEMENTS_PER_PEER_PER_SECOND,
  ANNOUNCEMENTS_PER_PUBLISHER_BURST,
  ANNOUNCEMENTS_PER_PUBLISHER_PER_SECOND,
  CATALOGUE_CURSORS_MAX
} from '../../base/limits/directory.ts'
import { EXCHANGE_MS } from '../../base/limits/link.ts'
import { TokenBuckets } from '../../base/token-bucket.ts'
import type { Offer } from '../../interface/directory.ts'
import type { Gossip, GossipVerdict } from '../../interface/gossip.ts'
import type { SignedManifest } from '../../interface/manifest.ts'
import { ANNOUNCEMENT } from './catalogue-codec.ts'
import type { CatalogueReader } from './catalogue-exchange.ts'
import { ignore } from '../../base/ignore.ts'
import type { CheckedRecord, Intake } from './intake.ts'
import { splitId } from '../directory/keys.ts'
import { peekRecord } from '../directory/record.ts'
import type { RecordAuthor } from '../directory/record-author.ts'

export interface AnnouncementsInit {
  readonly intake: Intake
  readonly reader: Pick<CatalogueReader, 'fetch'>
  /** Writes records that carry the network's name. */
  readonly author: RecordAuthor
  readonly network: string
  readonly clock: Clock
  /** Broadcasts announcements. Without it, peers learn of a listing when they query this node. */
  readonly gossip?: Gossip
}

/** Announces listings to the network, and validates announcements of others before they are forwarded. */
export class Announcements {
  readonly #init: AnnouncementsInit
  readonly #fromPeer: TokenBuckets
  readonly #fromPublisher: TokenBuckets

  constructor(init: AnnouncementsInit) {
    const { clock } = init
    const rate = (burst: number, perSecond: number) =>
      new TokenBuckets({ burst, perSecond }, CATALOGUE_CURSORS_MAX, clock)
    this.#init = init
    this.#fromPeer = rate(ANNOUNCEMENTS_PER_PEER_BURST, ANNOUNCEMENTS_PER_PEER_PER_SECOND)
    this.#fromPublisher = rate(ANNOUNCEMENTS_PER_PUBLISHER_BURST, ANNOUNCEMENTS_PER_PUBLISHER_PER_SECOND)
  }

  start(): void {
    this.#init.gossip?.start((message, from) => this.#judge(message, from))
  }

  stop(): void {
    this.#init.gossip?.stop()
  }

  /** @throws SoukError like `RecordAuthor.write` */
  async announce(offer: Offer, signed: SignedManifest): Promise<void> {
    const { author, intake } = this.#init
    if (signed.manifest.state === 'draft') return
    const checked = await intake.check(await author.write(offer))
    await intake.keep(checked, signed)
    await this.#tell(checked, signed.envelope)
  }

  /** Withdraws an own listing at once. For another provider's listing, this node only stops announcing itself. */
  async withdraw(id: ApiId, offer: Omit<Offer, 'id' | 'tags' | 'delegations'>): Promise<void> {
    const { author, intake } = this.#init
    const whole: Offer = { id, tags: [], delegations: [], ...offer }
    if (!author.owns(whole)) return
    const checked = await intake.check(await author.writeEnd(whole))
    await intake.keep(checked, undefined)
    await this.#tell(checked)
  }

  async #tell({ bytes }: CheckedRecord, envelope?: Uint8Array): Promise<void> {
    const isSmall = envelope !== undefined && envelope.length <= ANNOUNCED_MANIFEST_BYTES_MAX
    const announcement = { record: bytes, ...(isSmall ? { manifest: envelope } : {}) }
    await this.#init.gossip?.publish(ANNOUNCEMENT.encode(announcement))
  }

  /** Cheap checks come first, so that a flood costs its sender more than the receivers. */
  async #judge(message: Uint8Array, from: string): Promise<GossipVerdict> {
    const { intake, network, clock } = this.#init
    if (message.length > ANNOUNCEMENT_BYTES_MAX) return 'reject'
    if (!this.#fromPeer.take(from)) return 'ignore'
    const read = readAnnouncement(message)
    if (read === undefined || read.peeked.network !== network) return 'reject'
    const { announcement, peeked } = read
    if (peeked.issuedAt < clock.now() - ANNOUNCEMENT_AGE_MS) return 'ignore'
    if ((await intake.changed([announcement.record])).length === 0) return 'ignore'
    const checked = await intake.check(announcement.record).catch(ignore)
    if (checked === undefined) return 'reject'
    if (!this.#fromPublisher.take(splitId(checked.record.id).provider)) return 'ignore'
    return this.#take(checked, announcement.manifest, from)
  }

  async #take(checked: CheckedRecord, envelope: Uint8Array | undefined, from: string): Promise<GossipVerdict> {
    const { intake } = this.#init
    if (envelope !== undefined) {
      const signed = await intake.manifest(checked, envelope).catch(ignore)
      if (signed === undefined) return 'reject'
      return (await intake.keep(checked, signed, from)) ? 'accept' : 'ignore'
    }
    if (intake.has(checked)) return (await intake.keep(checked, undefined, from)) ? 'accept' : 'ignore'
    // The record is valid, and other peers may have its manifest.
    if (checked.record.isWithdrawn !== true) void this.#fetch(checked, from)
    return 'accept'
  }

  async #fetch(checked: CheckedRecord, from: string): Promise<void> {
    const { clock, reader } = this.#init
    const limit = deadline(clock, EXCHANGE_MS, () => new SoukError('lookup_timeout'))
    await reader.fetch(checked, { id: from, addresses: [] }, limit.signal).catch(ignore)
    limit.clear()
  }
}

function readAnnouncement(message: Uint8Array) {
  try {
    const announcement = ANNOUNCEMENT.decode(message)
    return { announcement, peeked: peekRecord(announcement.record) }
  } catch {
    return undefined
  }
}
