import type { ApiId, ApiRef } from '../base/api-name.ts'
import type { PeerAddress } from './link.ts'
import type { ListingSort } from './listing-index.ts'
import type { Delegation, SignedManifest } from './manifest.ts'
import type { Standing } from './quality.ts'

/** What a node that serves an API tells the world. */
export interface Offer {
  readonly id: ApiId
  /** SHA-256 of the manifest's signed envelope, and its revision. */
  readonly manifestHash: Uint8Array
  readonly revision: number
  readonly tags: readonly string[]
  /** Nodes that may serve it beside the provider key's own. */
  readonly delegations: readonly Delegation[]
}

/** A directory record after every check: signer, expiry, size, sequence number. */
export interface DirectoryRecord {
  readonly id: ApiId
  readonly seq: bigint
  readonly issuedAt: number
  readonly expiresAt: number
  readonly manifestHash: Uint8Array
  readonly revision: number
  readonly delegations: readonly Delegation[]
  /** In an announcement: the network it is meant for. */
  readonly network?: string
  /** In an announcement: it is served no more. Counts only from the provider's own key. */
  readonly isWithdrawn?: boolean
}

/** How far a `publish` got. `stored` of `asked` peers acknowledged; both 0 on a network of one. */
export interface Published {
  readonly asked: number
  readonly stored: number
}

/**
 * Where APIs are found. Records are proof, claims are hints: nothing a claim says is believed before a signature says so.
 * Implementations pass `test/suites/directory.ts`.
 */
export interface Directory {
  /** Resolves when there is somebody to ask. On a network of one that may be never: mind the signal. Never rejects. */
  ready(signal: AbortSignal): Promise<void>
  /** Puts the signed record and announces this node as serving the API. Repeat it to keep it alive. */
  publish(offer: Offer, signal: AbortSignal): Promise<Published>
  /** Stops announcing this node as serving the API; what others hold runs out by itself. */
  withdraw(id: ApiId, signal: AbortSignal): Promise<void>
  /**
   * The first good record found, at once; undefined when the network has none. With `onHigher` the search goes on behind
   * the answer, for `LOOKUP_MS` at most, and tells of each later record with a higher sequence number.
   */
  record(
    id: ApiId,
    signal: AbortSignal,
    onHigher?: (record: DirectoryRecord) => void
  ): Promise<DirectoryRecord | undefined>
  /** Peers that say they serve exactly this API. Ends by itself; untrusted. */
  servers(id: ApiId, signal: AbortSignal): AsyncIterable<PeerAddress>
  /** Peers that say they know an API of this bare name. Untrusted. */
  claimants(name: string, signal: AbortSignal): AsyncIterable<PeerAddress>
  /** Peers that say they serve something with this tag, whatever its case. Untrusted. */
  tagged(tag: string, signal: AbortSignal): AsyncIterable<PeerAddress>
  /** Peers that say they have listings to show. Untrusted. */
  catalogues(signal: AbortSignal): AsyncIterable<PeerAddress>
  /** The last question was answered by no peer: what it did not find may still be there. Default false. */
  readonly isUnanswered?: boolean
}

/** An API that was found: its verified manifest, and the nodes that serve it, best first. */
export interface Resolution {
  readonly signed: SignedManifest
  /** Delegated nodes only. Empty when the API is known but nobody who serves it was found. */
  readonly owners: readonly PeerAddress[]
}

export interface ResolveOptions {
  readonly signal: AbortSignal
  /** Asks the network even when a fresh answer is at hand. */
  readonly refresh?: boolean
}

/** Finds APIs and chooses among the nodes that serve them. */
export interface Resolver {
  /**
   * @throws SoukError `api_not_found`, `name_conflict` (member `candidates`), `lookup_timeout`, `owner_unreachable` (found
   *   in the directory, but no node that serves it answered).
   */
  resolve(ref: ApiRef, options: ResolveOptions): Promise<Resolution>
  /** How a call at an owner went; steers the next choice. `failed` also drops what is cached of the API. */
  report(id: ApiId, owner: string, outcome: { readonly ok: true; readonly ms: number } | { readonly ok: false }): void
}

export interface SearchQuery {
  /** Words, all of which must begin a word of name, description, tags or operations. */
  readonly text?: string
  readonly protocol?: string
  readonly tag?: string
  /** Most expensive price wanted, USDC atoms. */
  readonly maxPrice?: bigint
  /** The least quality wanted, 0 to 1. */
  readonly minQuality?: number
  /** Default `relevance`, which is the best first where there are no words. */
  readonly sort?: ListingSort
  /** At most `PAGE_MAX`. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly cursor?: string
}

/** A listing as a search finds it. */
export interface FoundListing extends SignedManifest, Standing {
  readonly firstSeenAt: number
}

export interface SearchPage {
  readonly listings: readonly FoundListing[]
  readonly next?: string
}

/** Listings this node knows of, each verified. */
export interface Catalogue {
  /** Asks around first when what it knows is old; returns what it knows by then. */
  search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage>
}
