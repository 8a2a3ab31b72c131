import type { ApiId } from '../base/api-name.ts'
import { type Clock, deadline, sleep } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import {
  CATALOGUE_FRESH_MS,
  CATALOGUE_PAGES_MAX,
  CATALOGUE_PEERS_AT_ONCE,
  CATALOGUE_PEERS_MAX,
  CATALOGUE_REFRESH_MS,
  EXCHANGE_MS
} from '../base/limits.ts'
import { within } from '../base/within.ts'
import type { Catalogue, Directory, SearchPage, SearchQuery } from '../interface/directory.ts'
import type { Link, PeerAddress } from '../interface/link.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import { searchPage } from './listing-filter.ts'
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
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshedAt = clock.elapsed()
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
  async #refresh(): Promise<void> {
    const limit = deadline(this.#init.clock, CATALOGUE_REFRESH_MS + EXCHANGE_MS, () => new SoukError('lookup_timeout'))
    try {
      await within(this.#askAround(limit.signal), limit.signal)
    } catch {
      // Whoever answered in time is on the shelf; nobody has to.
    } finally {
      limit.clear()
    }
  }

  async #askAround(signal: AbortSignal): Promise<void> {
    const { directory, link } = this.#init
    const asked = new Set([link.self])
    const isNew = ({ id }: PeerAddress) => !asked.has(id) && asked.size <= CATALOGUE_PEERS_MAX && asked.add(id)
    const connected = link.peers().filter(isNew)
    const named: Array<Promise<void>> = []
    const askNamed = async () => {
      for await (const peer of directory.catalogues(signal)) if (isNew(peer)) named.push(this.#ask(peer, signal))
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
    } catch {
      // A peer without an answer says nothing about what it serves.
    }
  }
}
