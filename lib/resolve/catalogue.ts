import type { ApiId } from '../base/api-name.ts'
import { type Clock, type Timer, deadline, sleep } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import {
  CATALOGUE_EMPTY_MS,
  CLAIMANTS_MS,
  CATALOGUE_FRESH_MS,
  CATALOGUE_PAGES_MAX,
  CATALOGUE_PEERS_AT_ONCE,
  CATALOGUE_PEERS_EMPTY_MAX,
  CATALOGUE_PEERS_MAX,
  CATALOGUE_REFRESH_MS,
  EXCHANGE_MS
} from '../base/limits.ts'
import { within } from '../base/within.ts'
import type { Catalogue, Directory, SearchPage, SearchQuery } from '../interface/directory.ts'
import type { Link, PeerAddress } from '../interface/link.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import { searchPage } from './listing-filter.ts'
import { boundedMap } from './bounded-map.ts'
import { fetchManifests, type LocalManifests } from './manifest-exchange.ts'
import { createShelf, type Shelf } from './shelf.ts'
import { eachOf } from './each-of.ts'
import { ignore } from './ignore.ts'

export interface CatalogueInit {
  readonly directory: Directory
  readonly link: Link
  /** What this node serves itself: always in the catalogue. */
  readonly local: LocalManifests
  readonly clock: Clock
}

export interface LearningCatalogue extends Catalogue {
  /** Takes in a manifest that was verified on another occasion. */
  learn(signed: SignedManifest): void
}

/** The catalogue that asks connected peers, and those whom the directory names, for what they serve. */
export function createCatalogue(init: CatalogueInit): LearningCatalogue {
  return new AskingCatalogue(init)
}

class AskingCatalogue implements LearningCatalogue {
  readonly #init: CatalogueInit
  readonly #shelf: Shelf
  /** Connected peers that had nothing to show, and when: should they have something since, the directory names them. */
  readonly #empty = boundedMap<string, number>(CATALOGUE_PEERS_EMPTY_MAX)
  #refreshedAt = -Infinity
  #refreshing: Promise<void> | undefined

  constructor(init: CatalogueInit) {
    this.#init = init
    this.#shelf = createShelf(init.clock)
  }

  learn(signed: SignedManifest): void {
    this.#shelf.put(signed)
  }

  async search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage> {
    signal.throwIfAborted()
    // A later page belongs to the picture of the first.
    if (query.cursor === undefined) await this.#freshen(signal)
    const own = new Map([...this.#init.local()].map((signed) => [signed.id, signed]))
    const others = this.#shelf.listings().filter(({ id }) => !own.has(id))
    return searchPage([...own.values(), ...others], query)
  }

  async #freshen(signal: AbortSignal): Promise<void> {
    const { clock } = this.#init
    if (clock.elapsed() - this.#refreshedAt < CATALOGUE_FRESH_MS) return
    this.#refreshing ??= this.#refresh().then((isComplete) => {
      // Cut short, it may have missed whoever is new: the next search goes on.
      if (isComplete) this.#refreshedAt = clock.elapsed()
      this.#refreshing = undefined
    })
    const patience = new AbortController()
    const enough = sleep(clock, CATALOGUE_REFRESH_MS, patience.signal).catch(ignore)
    try {
      await within(Promise.race([this.#refreshing, enough]), signal)
    } finally {
      patience.abort()
    }
  }

  /** Goes on behind the search that started it, for one exchange's time more. */
  async #refresh(): Promise<boolean> {
    const limit = deadline(this.#init.clock, CATALOGUE_REFRESH_MS + EXCHANGE_MS, () => new SoukError('lookup_timeout'))
    try {
      await within(this.#askAround(limit.signal), limit.signal)
      return true
    } catch {
      // Whoever answered in time is on the shelf; nobody has to.
      return false
    } finally {
      limit.clear()
    }
  }

  async #askAround(signal: AbortSignal): Promise<void> {
    const { directory, link, clock } = this.#init
    const asked = new Set([link.self])
    const wasEmpty = ({ id }: PeerAddress) => clock.elapsed() - (this.#empty.get(id) ?? -Infinity) < CATALOGUE_EMPTY_MS
    const isNew = ({ id }: PeerAddress) => !asked.has(id) && asked.size <= CATALOGUE_PEERS_MAX && asked.add(id)
    const connected = link.peers().filter((peer) => !wasEmpty(peer) && isNew(peer))
    const named: Array<Promise<void>> = []
    const askNamed = async () => {
      const enough = new AbortController()
      let patience: Timer | undefined
      for await (const peer of directory.catalogues(AbortSignal.any([signal, enough.signal]))) {
        if (isNew(peer)) named.push(this.#ask(peer, signal))
        // Most are named at once; peers of the directory that hang must not hold up the rest.
        patience?.cancel()
        patience = clock.after(CLAIMANTS_MS, () => enough.abort())
      }
      patience?.cancel()
    }
    await Promise.all([askNamed(), eachOf(connected, CATALOGUE_PEERS_AT_ONCE, (peer) => this.#ask(peer, signal))])
    await Promise.all(named)
  }

  /** All pages of one peer. */
  async #ask(peer: PeerAddress, signal: AbortSignal): Promise<void> {
    const { link, clock } = this.#init
    const known = (envelope: Uint8Array) => this.#shelf.find(envelope)
    const shown = new Set<ApiId>()
    let cursor: string | undefined
    try {
      for (let pages = 0; pages < CATALOGUE_PAGES_MAX; pages++) {
        const request = cursor === undefined ? {} : { cursor }
        const { manifests, next } = await fetchManifests(peer, request, { link, clock, signal, known })
        for (const signed of manifests) {
          shown.add(signed.id)
          this.#shelf.put(signed, peer.id)
        }
        cursor = next
        if (cursor === undefined) break
      }
      this.#shelf.keepOnly(peer.id, shown)
      if (shown.size === 0) this.#empty.set(peer.id, clock.elapsed())
    } catch {
      // A peer without an answer says nothing about what it serves.
    }
  }
}
