import type { ApiId, ApiRef } from '../base/api-name.ts'
import type { OperationSummary } from './operation-summary.ts'
import type { PeerAddress } from './link.ts'
import type { ListingSort } from './listing-index.ts'
import type { Delegation, SignedManifest } from './manifest.ts'
import type { Reputation } from './quality.ts'

/** The data that a serving node publishes about an API. */
export interface Offer {
  readonly id: ApiId
  /** SHA-256 of the manifest's signed envelope, and the manifest's revision. */
  readonly manifestHash: Uint8Array
  readonly revision: number
  readonly tags: readonly string[]
  /** Nodes that may serve the API besides the provider key's own node. */
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
  /** In an announcement: the network it is for. */
  readonly network?: string
  /** In an announcement: the API is no longer served. Valid only from the provider's own key. */
  readonly isWithdrawn?: boolean
}

/** Result of a `publish`: `stored` of `asked` peers acknowledged. Both are 0 when there are no other peers. */
export interface Published {
  readonly asked: number
  readonly stored: number
  /** Hints that no peer acknowledged: this node as a server of the API, the bare name, tags. Default 0. */
  readonly hintsLost?: number
}

/**
 * Finds APIs. Records are signed; provider claims are hints that need a signed record or manifest before use.
 * Implementations pass `test/suites/directory.ts`.
 */
export interface Directory {
  /**
   * Resolves when a peer can be queried. Without other peers it stays pending until the signal aborts. Never rejects.
   */
  ready(signal: AbortSignal): Promise<void>
  /** Puts the signed record and announces this node as a server of the API. Call again before the record expires. */
  publish(offer: Offer, signal: AbortSignal): Promise<Published>
  /** Stops announcing this node. Records that other peers hold expire. */
  withdraw(id: ApiId, signal: AbortSignal): Promise<void>
  /**
   * Returns the first valid record at once, or undefined when the network has none. With `onHigher` the lookup
   * continues for up to `LOOKUP_MS`, and reports each later record with a higher sequence number.
   */
  record(id: ApiId, signal: AbortSignal, hooks?: RecordHooks): Promise<DirectoryRecord | undefined>
  /** Peers that claim to serve this API. Untrusted. */
  servers(id: ApiId, signal: AbortSignal, hooks?: QueryHooks): AsyncIterable<PeerAddress>
  /** Peers that claim to know an API with this bare name. Untrusted. */
  claimants(name: string, signal: AbortSignal, hooks?: QueryHooks): AsyncIterable<PeerAddress>
  /** Peers that claim to serve an API with this tag, compared without case. Untrusted. */
  tagged(tag: string, signal: AbortSignal): AsyncIterable<PeerAddress>
  /** Peers that claim to have a catalogue. Untrusted. */
  catalogues(signal: AbortSignal): AsyncIterable<PeerAddress>
  /** This node's addresses changed, so the next `publish` announces everything again. */
  moved?(): void
}

export interface QueryHooks {
  /** Called when the query ends without a response of any peer, so what it did not find may still exist. */
  readonly onUnanswered?: () => void
}

export interface RecordHooks extends QueryHooks {
  readonly onHigher?: (record: DirectoryRecord) => void
}

/** A resolved API: its verified manifest and the nodes that serve it, best first. */
export interface Resolution {
  readonly signed: SignedManifest
  /** Delegated nodes only. Empty when the API is known but no serving node was found. */
  readonly owners: readonly PeerAddress[]
}

export interface ResolveOptions {
  readonly signal: AbortSignal
  /** Queries the network even when a fresh result is cached. */
  readonly refresh?: boolean
  /** A call follows. Opens the channel to an owner while its manifest is fetched, which saves a round trip. */
  readonly isForCall?: boolean
}

/** Resolves APIs and chooses among the nodes that serve them. */
export interface Resolver {
  /** The result of `resolve` where it needs no wait. It saves the call a turn of the event loop and a timer. */
  cached?(ref: ApiRef): Resolution | undefined
  /**
   * @throws SoukError `api_not_found`, `name_conflict` (member `candidates`), `lookup_timeout`, `owner_unreachable`
   *   (the directory has the API, but no serving node responded).
   */
  resolve(ref: ApiRef, options: ResolveOptions): Promise<Resolution>
  /**
   * Reports the result of a call at an owner. It affects the next choice. A failure also drops the API's cache entry.
   */
  report(id: ApiId, owner: string, outcome: { readonly ok: true; readonly ms: number } | { readonly ok: false }): void
}

export interface SearchQuery {
  /** Search words. Each must be a prefix of a word in name, description, tags or operations. */
  readonly text?: string
  readonly protocol?: string
  readonly tag?: string
  /** Only APIs of this provider id, in the order of their names. Its nodes are asked, which have all of them. */
  readonly provider?: string
  /** Highest price, USDC atoms. */
  readonly maxPrice?: bigint
  /** Lowest quality, 0 to 1. */
  readonly minQuality?: number
  /** Default `relevance`, which sorts by quality when there are no search words. */
  readonly sort?: ListingSort
  /** At most `PAGE_MAX`. */
  readonly limit?: number
  /** `next` of the previous page. */
  readonly cursor?: string
}

/** A listing in search results. */
export interface FoundListing extends SignedManifest, Reputation {
  readonly firstSeenAt: number
  /** Operations that contain all search words, the best ones first: at most `OPERATIONS_SHOWN_PER_LISTING_MAX`. */
  readonly matching: readonly OperationSummary[]
}

export interface SearchPage {
  readonly listings: readonly FoundListing[]
  readonly next?: string
}

/** Listings that this node knows, each verified. */
export interface Catalogue {
  /**
   * Queries peers first when the local index is old. Returns what is known when they have responded, or after `LOOKUP_MS`.
   * @throws SoukError `invalid_request`; `lookup_timeout` if nothing is known by then
   */
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchPage>
}
