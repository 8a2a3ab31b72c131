import { equals } from 'uint8arrays/equals'
import {
  CATALOGUE_BYTES_MAX,
  CATALOGUE_MAX,
  CATALOGUE_PER_PUBLISHER_MAX,
  OPERATIONS_INDEXED_MAX,
  OPERATIONS_PER_PUBLISHER_MAX,
  TERMS_PER_LISTING_MAX
} from '../base/limits/directory.ts'
import { searchTerms } from '../base/search-terms.ts'
import type { Grade, ListingBounds, ListingPut, OperationBounds, PutOutcome } from '../interface/listing-index.ts'
import { splitWords } from './operation-words.ts'
import type { ListingState, Manifest } from '../interface/manifest.ts'

export const DEFAULT_BOUNDS: ListingBounds = {
  listingsMax: CATALOGUE_MAX,
  bytesMax: CATALOGUE_BYTES_MAX,
  perPublisherMax: CATALOGUE_PER_PUBLISHER_MAX
}

export const OPERATION_BOUNDS: OperationBounds = {
  operationsMax: OPERATIONS_INDEXED_MAX,
  perPublisherMax: OPERATIONS_PER_PUBLISHER_MAX
}

/** Quality is stored in whole ten-thousandths, so that every database orders it alike. */
export const QUALITY_UNITS = 10_000
/** The latency of a listing without a measurement, so that it sorts last. */
export const UNMEASURED_MS = 2 ** 31 - 1

/** The states that a search shows, because they can be called. */
const SHOWN: ReadonlySet<ListingState> = new Set(['published', 'deprecated'])

/** The stored facts of a listing before a put. */
export interface StoredListing {
  readonly revision: number
  readonly issuedAt: number
  readonly hash: Uint8Array
  readonly seq: bigint
  readonly liveUntil: number
}

/**
 * Decides the outcome of a put, alike in every store.
 * @param ofPublisher returns the number of listings of its publisher
 */
export function judgePut(
  put: ListingPut,
  kept: StoredListing | undefined,
  ofPublisher: () => number,
  { perPublisherMax }: ListingBounds
): PutOutcome {
  const { signed, hash, record, source, liveUntil } = put
  if (kept === undefined) return source === undefined || ofPublisher() < perPublisherMax ? 'new' : 'refused'
  const { revision, issuedAt } = signed.manifest
  const isSame = equals(hash, kept.hash)
  if (record !== undefined && record.seq <= kept.seq) return isSame && record.seq === kept.seq ? 'known' : 'refused'
  if (isSame) return record !== undefined || liveUntil > kept.liveUntil ? 'refreshed' : 'known'
  const isNewer = revision === kept.revision ? issuedAt > kept.issuedAt : revision > kept.revision
  return isNewer ? 'changed' : 'refused'
}

/** The columns that a manifest is searched by. */
export function factsOf(manifest: Manifest) {
  const { name, provider, protocol, description, tags, price, revision, issuedAt, state, api } = manifest
  const operations = api.operations.map((operation) => operation.name)
  return {
    provider,
    protocol: protocol.toLowerCase(),
    price,
    revision,
    issuedAt,
    isShown: SHOWN.has(state),
    tags: [...new Set(tags.map((tag) => tag.toLowerCase()))],
    words: {
      name: searchTerms(name),
      tags: searchTerms(tags.join(' ')),
      text: searchTerms([description, ...operations, ...operations.map(splitWords)].join(' ')).slice(
        0,
        TERMS_PER_LISTING_MAX
      )
    }
  }
}

export const bytesOf = ({ signed, record }: ListingPut): number => signed.envelope.length + (record?.bytes.length ?? 0)

export const gradeColumns = ({ quality, latencyMs }: Grade): { quality: number; latency: number } => ({
  quality: Math.round(Math.min(1, Math.max(0, quality)) * QUALITY_UNITS),
  latency: latencyMs === undefined ? UNMEASURED_MS : Math.min(Math.round(latencyMs), UNMEASURED_MS - 1)
})
