import type { ApiId } from '../base/api-name.ts'
import type { Atoms } from '../base/money.ts'
import type { SignedManifest } from './manifest.ts'

/**
 * Orders of a search. `relevance`: what has all words in its name, then in name and tags, then the rest, the best of each
 * first. `new`: what this node has known for the shortest time. What is equal otherwise goes by id.
 */
export const LISTING_SORTS = ['relevance', 'quality', 'price', 'latency', 'new'] as const
export type ListingSort = (typeof LISTING_SORTS)[number]

/** How a listing does, as far as this node knows: what it is ordered by. */
export interface Grade {
  /** 0 to 1, small samples shrunk. */
  readonly quality: number
  /** Absent where it was not measured: such listings come last by latency. */
  readonly latencyMs?: number
}

/** A listing that was verified, with what says that it is still served. */
export interface ListingPut {
  readonly signed: SignedManifest
  /** SHA-256 of its envelope. */
  readonly hash: Uint8Array
  /** The signed record that announced it, as it came. Absent where this node saw the API itself. */
  readonly record?: { readonly bytes: Uint8Array; readonly seq: bigint }
  /** It is shown until then. */
  readonly liveUntil: number
  /** It is kept until then at least, so that others can be told. Default `liveUntil`. */
  readonly keepUntil?: number
  /** The peer it came from. Absent: this node's own, which no other displaces. */
  readonly source?: string
  readonly grade: Grade
  readonly now: number
}

/**
 * `new`, `changed`: taken. `refreshed`: the same manifest, known to live longer, or not. `known`: nothing new. `refused`: older
 * than what is kept, or over its publisher's share.
 */
export type PutOutcome = 'new' | 'changed' | 'refreshed' | 'known' | 'refused'

export interface ListingBounds {
  readonly listingsMax: number
  readonly bytesMax: number
  readonly perPublisherMax: number
}

/** What a node has of a listing, without its bytes. */
export interface ListingHead {
  readonly id: ApiId
  readonly hash: Uint8Array
  readonly revision: number
  /** Of the last record seen; 0 before the first. */
  readonly seq: bigint
  readonly liveUntil: number
  readonly firstSeenAt: number
}

/** A listing as it is kept: `envelope` was verified when it came in. */
export interface IndexedListing extends ListingHead {
  readonly envelope: Uint8Array
}

export interface ListingQuery {
  /** Beginnings of words as `searchTerms` gives them; all must be found. */
  readonly terms: readonly string[]
  readonly protocol?: string
  readonly tag?: string
  readonly maxPrice?: Atoms
  /** 0 to 1. */
  readonly minQuality?: number
  readonly sort: ListingSort
  readonly limit: number
  /** `next` of the page before. */
  readonly cursor?: string
  readonly now: number
}

/** What a peer is told that has everything up to `through`. */
export interface ListingChanges {
  /** Numbers of changes mean something within one epoch only. */
  readonly epoch: string
  readonly records: readonly Uint8Array[]
  readonly through: number
  readonly hasMore: boolean
}

/**
 * The listings a node knows: searched, told to peers, bounded in number, in bytes and for each publisher. When it is full, the
 * peer through which most of it came gives way: what was seen longest ago first, what was called before last.
 */
export interface ListingIndex {
  /** In order, together. Durable where the store is. */
  put(listings: readonly ListingPut[], bounds?: ListingBounds): Promise<PutOutcome[]>
  /** Those of `ids` that are known. */
  heads(ids: readonly ApiId[]): Promise<ListingHead[]>
  get(id: ApiId): Promise<IndexedListing | undefined>
  /** The manifest with this hash. */
  envelope(hash: Uint8Array): Promise<Uint8Array | undefined>
  /** Resolves true when there was one. */
  forget(id: ApiId): Promise<boolean>
  /** Listings that are not known are passed over. */
  grade(grades: ReadonlyArray<Grade & { readonly id: ApiId }>): Promise<void>
  /**
   * What is live and can be called. A listing that changes its place between two pages may be seen twice, or not at all.
   * @throws SoukError `invalid_request` for a cursor that is none
   */
  search(query: ListingQuery): Promise<{ readonly listings: readonly IndexedListing[]; readonly next?: string }>
  /** Records that came after change number `after` (0: all), oldest first; a listing that changed since is told once. */
  changes(after: number, bounds: { readonly limit: number; readonly bytesMax: number }): Promise<ListingChanges>
  /** Forgets what has run out; resolves to how many. */
  prune(now: number): Promise<number>
}
