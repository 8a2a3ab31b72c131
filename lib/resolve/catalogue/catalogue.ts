import type { ApiId, ApiRef } from '../../base/api-name.ts'
import { boundedMap } from '../../base/bounded-map.ts'
import { sha256 } from '../../base/bytes.ts'
import { type Clock, deadline, nextTurn, sleep, type Timer } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import {
  CATALOGUE_ANNOUNCED_FRESH_MS,
  CATALOGUE_ENTRY_MS,
  CATALOGUE_FRESH_MS,
  CATALOGUE_PEERS_AT_ONCE,
  CATALOGUE_PEERS_MAX,
  CATALOGUE_PRUNE_MS,
  CATALOGUE_PULL_MS,
  CATALOGUE_PULLED_PEERS,
  CATALOGUE_REFRESH_MS,
  CATALOGUE_SETTLE_MS,
  CATALOGUE_TAGS_MAX,
  CLAIMANTS_MS,
  LOOKUP_MS,
  MANIFEST_BYTES_MAX,
  PAGE_MAX,
  SEARCH_CHARS_MAX
} from '../../base/limits/directory.ts'
import { EXCHANGE_MS } from '../../base/limits/link.ts'
import { draw, type Random } from '../../base/random.ts'
import { searchTerms } from '../../base/search-terms.ts'
import { within } from '../../base/within.ts'
import type {
  Catalogue,
  Directory,
  FoundListing,
  Resolution,
  SearchPage,
  SearchQuery
} from '../../interface/directory.ts'
import type { Link, PeerAddress } from '../../interface/link.ts'
import {
  type Grade,
  LISTING_SORTS,
  type ListingIndex,
  type ListingQuery,
  type MatchingListing
} from '../../interface/listing-index.ts'
import type { SignedManifest } from '../../interface/manifest.ts'
import type { Reputation } from '../../interface/quality.ts'
import type { CatalogueReader } from './catalogue-exchange.ts'
import type { ProviderPages } from './provider-pages.ts'
import { splitId } from '../directory/keys.ts'
import { eachOf } from '../directory/each-of.ts'
import { ignore } from '../../base/ignore.ts'
import type { OperationCollector } from './operation-collector.ts'
import { storedManifest } from '../manifest/stored-manifest.ts'
import type { LocalManifests } from '../manifest/manifest-exchange.ts'

export interface CatalogueInit {
  readonly directory: Directory
  readonly link: Link
  readonly index: ListingIndex
  readonly reader: CatalogueReader
  readonly operations: Pick<OperationCollector, 'settled'>
  /** Manifests that this node serves. They are always in the catalogue. */
  readonly local: LocalManifests
  /** Resolves when a peer is connected, or none is after a time in which a slow one would be. */
  readonly connected: (signal: AbortSignal) => Promise<void>
  readonly providers: Pick<ProviderPages, 'read'>
  /** Finds the nodes of a provider by one of its APIs. */
  readonly resolve: (api: ApiRef, options: { readonly signal: AbortSignal }) => Promise<Pick<Resolution, 'owners'>>
  /** Quality and probe results of a listing at this node. */
  readonly known: (id: ApiId) => Pick<Reputation, 'quality' | 'probed'>
  readonly gradeOf: (id: ApiId) => Grade
  /** New listings are announced to this node, so it queries only for missed ones. */
  readonly isTold: boolean
  readonly clock: Clock
  readonly random: Random
}

export interface LearningCatalogue extends Catalogue {
  /** Adds a manifest that was verified elsewhere. Written asynchronously. */
  learn(signed: SignedManifest): void
  /** Starts the background queries. */
  start(): void
  stop(): void
  /** A peer connected: it may know new listings. */
  peerJoined(): void
}

/**
 * The catalogue on top of the index. It queries connected peers, and those that the directory names, for changes.
 * Announcements update the index separately.
 */
export function createCatalogue(init: CatalogueInit): LearningCatalogue {
  return new IndexedCatalogue(init)
}

class IndexedCatalogue implements LearningCatalogue {
  readonly #init: CatalogueInit
  /** This node's own listings, as stored in the index, and the time they were stored. */
  readonly #own = new Map<ApiId, { readonly signed: SignedManifest; readonly at: number }>()
  readonly #timers = new Map<string, Timer>()
  /** Peers queried in this background round. The number is limited, because many peers may connect at once. */
  #pulled = 0
  #refreshedAt = -Infinity
  #refreshing: Promise<void> | undefined
  readonly #taggedAt = boundedMap<string, number>(CATALOGUE_TAGS_MAX)

  constructor(init: CatalogueInit) {
    this.#init = init
  }

  start(): void {
    const { index, clock } = this.#init
    this.#every('pull', CATALOGUE_PULL_MS, () => {
      this.#pulled = 0
      return this.#pull()
    })
    this.#every('prune', CATALOGUE_PRUNE_MS, async () => void (await index.prune(clock.now())))
  }

  stop(): void {
    for (const timer of this.#timers.values()) timer.cancel()
    this.#timers.clear()
  }

  peerJoined(): void {
    // Before the start there is no background round. After it, peers that connect together share one.
    if (!this.#timers.has('pull') || this.#timers.has('joined') || this.#pulled >= CATALOGUE_PULLED_PEERS) return
    this.#after('joined', CATALOGUE_SETTLE_MS, () => this.#pull())
  }

  learn(signed: SignedManifest): void {
    void this.#put([signed], signed.manifest.provider).catch(ignore)
  }

  async search(query: SearchQuery, signal?: AbortSignal): Promise<SearchPage> {
    signal?.throwIfAborted()
    const { clock, index } = this.#init
    const wanted = toListingQuery(query, clock.now())
    // A text without letters and digits, such as an emoji: no words would find everything.
    if (wanted.terms.length === 0 && (query.text ?? '').trim() !== '') return { listings: [] }
    const limit = deadline(clock, LOOKUP_MS, () => new SoukError('lookup_timeout'), signal)
    const ofProvider = await this.#asked(query, wanted, limit.signal)
      .catch((error: unknown) => {
        signal?.throwIfAborted()
        if (!limit.signal.aborted) throw error
      })
      .finally(() => limit.clear())
    if (ofProvider !== undefined) return ofProvider
    const { listings, next } = await index.search(wanted)
    // After a timeout, the listings found are valid. An empty result would say that no API exists.
    if (listings.length === 0 && query.cursor === undefined) limit.signal.throwIfAborted()
    return { listings: await this.#decoded(listings), ...(next === undefined ? {} : { next }) }
  }

  /** Updates the index for a search. Returns the page where the provider's own nodes have it. */
  async #asked(query: SearchQuery, wanted: ListingQuery, signal: AbortSignal): Promise<SearchPage | undefined> {
    // Later pages use the first page's snapshot.
    const hasAsked = query.cursor === undefined && (await this.#freshen(query.tag, signal))
    const hasChanged = await this.#syncOwn()
    if ((hasAsked || hasChanged) && wanted.terms.length > 0) await this.#init.operations.settled(signal)
    return this.#ofProvider(wanted, signal)
  }

  /** A page from the provider's own nodes. Undefined where the query names none, or they are unreachable. */
  async #ofProvider(query: ListingQuery, signal: AbortSignal): Promise<SearchPage | undefined> {
    const { index, providers, resolve, local, clock } = this.#init
    const { provider } = query
    if (provider === undefined || [...local()].some(({ manifest }) => manifest.provider === provider)) return undefined
    const { now } = query
    const known = await index.search({ terms: [], sort: 'new', limit: 1, now, provider })
    const [first] = known.listings
    const found = first === undefined ? undefined : await resolve(splitId(first.id), { signal }).catch(ignore)
    const page = await providers.read(found?.owners ?? [{ id: provider, addresses: [] }], provider, query, signal)
    if (page === undefined) return undefined
    const heads = new Map((await index.heads(page.manifests.map(({ id }) => id))).map((head) => [head.id, head]))
    const listings = page.manifests.map((signed) => ({
      ...signed,
      firstSeenAt: heads.get(signed.id)?.firstSeenAt ?? clock.now(),
      matching: [],
      ...this.#init.known(signed.id)
    }))
    return { listings, ...(page.next === undefined ? {} : { next: page.next }) }
  }

  /** Decodes a page with pauses, so that calls are not delayed: its manifests may have 25 MiB. */
  async #decoded(listings: readonly MatchingListing[]): Promise<FoundListing[]> {
    const found: FoundListing[] = []
    let bytes = 0
    for (const each of listings) {
      found.push(this.#found(each))
      bytes += each.envelope.length
      if (bytes < MANIFEST_BYTES_MAX) continue
      bytes = 0
      await nextTurn(this.#init.clock)
    }
    return found
  }

  #found({ id, envelope, firstSeenAt, matching }: MatchingListing): FoundListing {
    return { ...storedManifest(envelope), firstSeenAt, matching, ...this.#init.known(id) }
  }

  async #put(manifests: readonly SignedManifest[], source?: string): Promise<void> {
    const { index, clock, gradeOf } = this.#init
    const now = clock.now()
    await index.put(
      manifests.map((signed) => ({
        signed,
        hash: sha256(signed.envelope),
        liveUntil: Math.min(now + CATALOGUE_ENTRY_MS, signed.manifest.expiresAt),
        grade: gradeOf(signed.id),
        now,
        ...(source === undefined ? {} : { source })
      }))
    )
  }

  /** Updates the index with the APIs that this node serves before a search. Resolves to true where one is new. */
  async #syncOwn(): Promise<boolean> {
    const { local, clock, index } = this.#init
    const now = clock.elapsed()
    const served = new Map([...local()].map((signed) => [signed.id, signed]))
    const isKnown = (signed: SignedManifest) => {
      const known = this.#own.get(signed.id)
      return known?.signed === signed && now - known.at < CATALOGUE_ENTRY_MS / 2
    }
    const due = [...served.values()].filter((signed) => !isKnown(signed))
    if (due.length > 0) await this.#put(due)
    for (const signed of due) this.#own.set(signed.id, { signed, at: now })
    for (const id of [...this.#own.keys()].filter((known) => !served.has(known))) {
      this.#own.delete(id)
      // An announced listing expires on its own, or was withdrawn. Other nodes may still serve it.
      const [kept] = await index.heads([id])
      if (kept?.seq === 0n) await index.forget(id)
    }
    return due.length > 0
  }

  /** Resolves to true where peers were queried. */
  async #freshen(tag: string | undefined, signal: AbortSignal): Promise<boolean> {
    const { clock, connected } = this.#init
    await connected(signal)
    const mayAsk = [this.#refreshOnce(), tag === undefined ? undefined : this.#askTagged(tag)]
    const asking = mayAsk.filter((task) => task !== undefined)
    if (asking.length === 0) return false
    const patience = new AbortController()
    const enough = sleep(clock, CATALOGUE_REFRESH_MS, patience.signal).catch(ignore)
    try {
      await within(Promise.race([Promise.all(asking), enough]), signal)
      return true
    } finally {
      patience.abort()
    }
  }

  get #freshMs(): number {
    return this.#init.isTold ? CATALOGUE_ANNOUNCED_FRESH_MS : CATALOGUE_FRESH_MS
  }

  #refreshOnce(): Promise<void> | undefined {
    const { clock, isTold, link } = this.#init
    if (clock.elapsed() - this.#refreshedAt < this.#freshMs) return undefined
    this.#refreshing ??= this.#limited((signal) => this.#askAround(signal)).then((isComplete) => {
      // A node without peers has queried nobody. An incomplete query may have missed new listings, so the next search
      // queries again, unless announcements arrive.
      if (link.peers().length > 0 && (isComplete || isTold)) this.#refreshedAt = clock.elapsed()
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Queries peers that the directory names for a tag. In a large network, no other peer may have announced them. */
  #askTagged(tag: string): Promise<unknown> | undefined {
    const { clock, directory } = this.#init
    const key = tag.toLowerCase()
    if (clock.elapsed() - (this.#taggedAt.get(key) ?? -Infinity) < this.#freshMs) return undefined
    this.#taggedAt.set(key, clock.elapsed())
    const asked = new Set([this.#init.link.self])
    return this.#limited((signal) => this.#askNamed((until) => directory.tagged(key, until), asked, signal))
  }

  /** Queries all known peers. Continues after its search has returned, for `EXCHANGE_MS` more. */
  async #askAround(signal: AbortSignal): Promise<void> {
    const { directory, link, reader } = this.#init
    const asked = new Set([link.self])
    const connected = link.peers().filter((peer) => !reader.isQuiet(peer) && isNew(asked, peer))
    await Promise.all([
      this.#askNamed((until) => directory.catalogues(until), asked, signal),
      eachOf(connected, CATALOGUE_PEERS_AT_ONCE, (peer) => reader.read(peer, signal))
    ])
  }

  async #askNamed(
    find: (until: AbortSignal) => AsyncIterable<PeerAddress>,
    asked: Set<string>,
    signal: AbortSignal
  ): Promise<void> {
    const { clock, reader } = this.#init
    const reading: Array<Promise<void>> = []
    const enough = new AbortController()
    let patience: Timer | undefined
    for await (const peer of find(AbortSignal.any([signal, enough.signal]))) {
      if (isNew(asked, peer)) reading.push(reader.read(peer, signal))
      // The directory names most peers at once. Slow directory peers must not delay the rest.
      patience?.cancel()
      patience = clock.after(CLAIMANTS_MS, () => enough.abort())
    }
    patience?.cancel()
    await Promise.all(reading)
  }

  /** Queries some connected peers, chosen at random. */
  async #pull(): Promise<void> {
    const { link, random, reader } = this.#init
    const peers = link.peers().filter((peer) => !reader.isQuiet(peer))
    const some = draw(random, peers, CATALOGUE_PULLED_PEERS - this.#pulled)
    this.#pulled += some.length
    await this.#limited(async (signal) => void (await Promise.all(some.map((peer) => reader.read(peer, signal)))))
  }

  /** Resolves to true if the task ended in time. Responses so far are in the index in any case. */
  async #limited(task: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const limit = deadline(this.#init.clock, CATALOGUE_REFRESH_MS + EXCHANGE_MS, () => new SoukError('lookup_timeout'))
    try {
      await within(task(limit.signal), limit.signal)
      return true
    } catch {
      return false
    } finally {
      limit.clear()
    }
  }

  #every(name: string, ms: number, task: () => Promise<void>): void {
    this.#after(name, ms, () => task().finally(() => this.#timers.has(name) && this.#every(name, ms, task)), true)
  }

  #after(name: string, ms: number, task: () => Promise<unknown>, isKept = false): void {
    const timer = this.#init.clock.after(ms, () => {
      if (!isKept) this.#timers.delete(name)
      void task().catch(ignore)
    })
    this.#timers.set(name, timer)
  }
}

/** Marks a peer as queried. Returns false when it was queried before, or the limit is reached. */
function isNew(asked: Set<string>, { id }: PeerAddress): boolean {
  if (asked.has(id) || asked.size > CATALOGUE_PEERS_MAX) return false
  asked.add(id)
  return true
}

/** @throws SoukError `invalid_request` */
function toListingQuery(query: SearchQuery, now: number): ListingQuery {
  const { text = '', limit = PAGE_MAX, sort = 'relevance', minQuality, ...rest } = query
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) {
    throw new SoukError('invalid_request', `The limit must be 1 to ${PAGE_MAX}.`)
  }
  if (!LISTING_SORTS.includes(sort)) {
    throw new SoukError('invalid_request', `The order must be one of: ${LISTING_SORTS.join(', ')}.`)
  }
  if (text.length > SEARCH_CHARS_MAX) {
    throw new SoukError('invalid_request', `A search can have at most ${SEARCH_CHARS_MAX} characters.`)
  }
  if (minQuality !== undefined && !(minQuality >= 0 && minQuality <= 1)) {
    throw new SoukError('invalid_request', 'The minimum quality must be a number from 0 to 1.')
  }
  return { ...rest, terms: searchTerms(text), sort, limit, now, ...(minQuality === undefined ? {} : { minQuality }) }
}
