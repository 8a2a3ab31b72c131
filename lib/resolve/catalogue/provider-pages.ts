import type { Clock } from '../../base/clock.ts'
import { PROVIDER_NODES_ASKED_MAX, PROVIDER_PAGES_MAX } from '../../base/limits/directory.ts'
import { searchTerms } from '../../base/search-terms.ts'
import type { Link, PeerAddress } from '../../interface/link.ts'
import type { ListingQuery } from '../../interface/listing-index.ts'
import type { SignedManifest } from '../../interface/manifest.ts'
import { ignore } from '../../base/ignore.ts'
import { fetchManifests } from '../manifest/manifest-exchange.ts'

/** Starts a cursor in the pages of a provider. The name of the page's last API follows. */
const CURSOR = 'after:'

export interface ProviderPagesInit {
  readonly link: Link
  readonly clock: Clock
}

export interface ProviderPage {
  readonly manifests: readonly SignedManifest[]
  readonly next?: string
}

/**
 * Reads the APIs of one provider from its nodes, by name. Catalogues keep a limited number of each provider; its own
 * nodes have all.
 */
export class ProviderPages {
  readonly #init: ProviderPagesInit

  constructor(init: ProviderPagesInit) {
    this.#init = init
  }

  /** Undefined where none of these nodes responds. @throws the signal's reason */
  async read(
    nodes: readonly PeerAddress[],
    provider: string,
    query: ListingQuery,
    signal: AbortSignal
  ): Promise<ProviderPage | undefined> {
    for (const peer of nodes.slice(0, PROVIDER_NODES_ASKED_MAX)) {
      const page = await this.#readFrom(peer, provider, query, signal).catch(ignore)
      signal.throwIfAborted()
      if (page !== undefined) return page
    }
    return undefined
  }

  /** Reads pages until one of the query is full. */
  async #readFrom(
    peer: PeerAddress,
    provider: string,
    query: ListingQuery,
    signal: AbortSignal
  ): Promise<ProviderPage> {
    const { link, clock } = this.#init
    const found: SignedManifest[] = []
    let after = query.cursor?.startsWith(CURSOR) === true ? query.cursor.slice(CURSOR.length) : ''
    for (let pages = 0; pages < PROVIDER_PAGES_MAX; pages++) {
      const request = { name: '', provider, after }
      const { manifests, hasMore } = await fetchManifests(peer, request, { link, clock, signal })
      const next = manifests.filter(({ manifest }) => manifest.name > after).toSorted(byName)
      for (const signed of next) {
        after = signed.manifest.name
        if (isMatch(signed, query)) found.push(signed)
        if (found.length === query.limit) return { manifests: found, next: CURSOR + after }
      }
      if (!hasMore || next.length === 0) return { manifests: found }
    }
    return { manifests: found, next: CURSOR + after }
  }
}

const byName = (a: SignedManifest, b: SignedManifest): number => (a.manifest.name < b.manifest.name ? -1 : 1)

function isMatch({ manifest }: SignedManifest, { terms, protocol, tag, maxPrice }: ListingQuery): boolean {
  const { state, name, description, tags, price } = manifest
  if (state !== 'published' && state !== 'deprecated') return false
  if (protocol !== undefined && manifest.protocol.toLowerCase() !== protocol.toLowerCase()) return false
  if (tag !== undefined && !tags.some((own) => own.toLowerCase() === tag.toLowerCase())) return false
  if (maxPrice !== undefined && price > maxPrice) return false
  const words = searchTerms([name, description, ...tags].join(' '))
  return terms.every((term) => words.some((word) => word.startsWith(term)))
}
