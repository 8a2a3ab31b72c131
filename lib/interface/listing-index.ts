import type { ApiId } from '../base/api-name.ts'
import type { Hex } from '../base/hex.ts'
import type { Atoms } from '../base/money.ts'
import type { OperationSummary } from './operation-summary.ts'
import type { SignedManifest } from './manifest.ts'

/**
 * Search orders. `relevance`: all words in the name first, then in name and tags, then in one operation, then the rest; by
 * quality within each group. `new`: most recently discovered first. Ties are sorted by id.
 */
export const LISTING_SORTS = ['relevance', 'quality', 'price', 'latency', 'new'] as const
export type ListingSort = (typeof LISTING_SORTS)[number]

/** A listing's ranking data, as measured by this node. */
export interface Grade {
  /** 0 to 1. Values from few samples are shrunk towards the mean. */
  readonly quality: number
  /** Absent where not measured. Such listings come last when sorted by latency. */
  readonly latencyMs?: number
}

/** A verified listing, with the proof that it is still served. */
export interface ListingPut {
  readonly signed: SignedManifest
  /** SHA-256 of its envelope. */
  readonly hash: Uint8Array
  /** Bytes of the signed record that announced it. Absent where this node queried the API itself. */
  readonly record?: { readonly bytes: Uint8Array; readonly seq: bigint }
  /** Searches show it until this time. */
  readonly liveUntil: number
  /** The index keeps the entry at least until this time, so that peers learn of it. Default `liveUntil`. */
  readonly keepUntil?: number
  /** Peer that sent it. Absent for this node's own listings, which are never evicted. */
  readonly source?: string
  readonly grade: Grade
  readonly now: number
}

/**
 * `new`, `changed`: stored. `refreshed`: same manifest, its times updated. `known`: nothing new. `refused`: older than
 * the stored one, or over its publisher's share.
 */
export type PutOutcome = 'new' | 'changed' | 'refreshed' | 'known' | 'refused'

export interface ListingBounds {
  readonly listingsMax: number
  readonly bytesMax: number
  readonly perPublisherMax: number
}

/** The stored data of a listing, without its envelope. */
export interface ListingHead {
  readonly id: ApiId
  readonly hash: Uint8Array
  readonly revision: number
  /** Sequence number of the last record; 0 before the first. */
  readonly seq: bigint
  readonly liveUntil: number
  readonly firstSeenAt: number
  /** Peer that sent it last. Absent for this node's own listings. */
  readonly source?: string
}

/** A stored listing. Its `envelope` was verified when it was stored. */
export interface IndexedListing extends ListingHead {
  readonly envelope: Uint8Array
}

export interface MatchingListing extends IndexedListing {
  /** Operations that contain all words of the query, at least one of them not from the API's name. The best ones first. */
  readonly matching: readonly OperationSummary[]
}

/** A part of the operations of a listing. The parts come in order, each with the same `hash` and `root`. */
export interface OperationsPut {
  readonly id: ApiId
  /** Hash of the manifest. A put is ignored when the index has another one by now. */
  readonly hash: Uint8Array
  /** Identifies the list of all operations. */
  readonly root: Hex
  /** Index of the first of these operations. The part from 0 replaces all earlier operations of the listing. */
  readonly from: number
  readonly operations: readonly OperationSummary[]
  readonly isLast: boolean
}

export interface OperationBounds {
  readonly operationsMax: number
  readonly perPublisherMax: number
}

export interface ListingQuery {
  /** Word prefixes as `searchTerms` returns them. All must match. */
  readonly terms: readonly string[]
  readonly protocol?: string
  readonly provider?: string
  readonly tag?: string
  readonly maxPrice?: Atoms
  /** 0 to 1. */
  readonly minQuality?: number
  readonly sort: ListingSort
  readonly limit: number
  /** `next` of the previous page. */
  readonly cursor?: string
  readonly now: number
}

/** The changes to send to a peer that has everything up to `through`. */
export interface ListingChanges {
  /** Change numbers are comparable only within one epoch. */
  readonly epoch: string
  readonly records: readonly Uint8Array[]
  readonly through: number
  readonly hasMore: boolean
}

/**
 * The listings that a node knows. The index is bounded in number, in bytes and per publisher. When it is full, it
 * evicts listings from the peer that supplied most: the longest unseen first, listings that were called last.
 */
export interface ListingIndex {
  /** Applies the listings in order, in one transaction. Durable where the store is. */
  put(listings: readonly ListingPut[], bounds?: ListingBounds): Promise<PutOutcome[]>
  /** The known ones among `ids`. */
  heads(ids: readonly ApiId[]): Promise<ListingHead[]>
  get(id: ApiId): Promise<IndexedListing | undefined>
  /** Live listings of this very name that can be called, sorted by id. */
  named(name: string, bounds: { readonly limit: number; readonly now: number }): Promise<ApiId[]>
  /** The manifest with this hash. */
  envelope(hash: Uint8Array): Promise<Uint8Array | undefined>
  /** Resolves to true when it existed. */
  forget(id: ApiId): Promise<boolean>
  /** Ignores unknown listings. */
  grade(grades: ReadonlyArray<Grade & { readonly id: ApiId }>): Promise<void>
  /**
   * Live listings that can be called. A listing whose rank changes between two pages may appear twice or not at all.
   * @throws SoukError `invalid_request` for a malformed cursor
   */
  search(query: ListingQuery): Promise<{ readonly listings: readonly MatchingListing[]; readonly next?: string }>
  /** Live listings whose operations are not indexed as their manifest has them. */
  undescribed(now: number): Promise<ApiId[]>
  /** Resolves to true where the operations of this root are indexed for the listing. They then count for the new manifest. */
  hasOperations(id: ApiId, hash: Uint8Array, root: Hex): Promise<boolean>
  /**
   * Indexes operations. Above the bounds, operations of the peer that supplied most are removed, and those above their
   * publisher's share are not indexed. Resolves to false when no further part is needed.
   */
  describe(put: OperationsPut, bounds?: OperationBounds): Promise<boolean>
  /**
   * Records received after change number `after` (0: all), oldest first. A listing that changed several times appears
   * once.
   */
  changes(after: number, bounds: { readonly limit: number; readonly bytesMax: number }): Promise<ListingChanges>
  /** Deletes expired listings, and operations of deleted ones. Resolves to the number of listings. */
  prune(now: number): Promise<number>
}
