import type { ApiId } from '../base/api-name.ts'
import type { OperationSummary } from '../interface/operation-summary.ts'
import type {
  IndexedListing,
  ListingHead,
  ListingQuery,
  ListingSort,
  MatchingListing
} from '../interface/listing-index.ts'
import { decodeCursor, encodeCursor } from './listing-page.ts'
import { soughtTerms } from './operation-words.ts'
import { QUALITY_UNITS } from './listing-put.ts'

/** The SQL that differs between databases. */
export interface Dialect {
  /** Binds a value and returns its placeholder. */
  readonly arg: (value: string | number | bigint) => string
  /** A condition for listings `l` with words that have these prefixes, in these columns. */
  readonly hasWords: (terms: readonly string[], where: 'name' | 'name and tags' | 'anywhere') => string
  /** A query for ids of listings with an operation that has all these words, at least one not from the API's name. */
  readonly describedBy: (terms: readonly string[]) => string
  readonly hasTag: (tag: string) => string
}

const VALUES: Readonly<Record<ListingSort, string>> = {
  relevance: '-l.quality',
  quality: '-l.quality',
  price: 'l.price',
  latency: 'l.latency',
  new: '-l.first_seen_at'
}

export const HEAD_COLUMNS = 'l.id, l.hash, l.revision, l.record_seq, l.live_until, l.first_seen_at, l.source'

/** The statement of one page, plus one row to detect a next page. @throws SoukError `invalid_request` */
export function searchSql(query: ListingQuery, { arg, hasWords, describedBy, hasTag }: Dialect): string {
  const { terms, protocol, provider, tag, maxPrice, minQuality, sort, limit, cursor, now } = query
  const value = VALUES[sort]
  const sought = soughtTerms(terms)
  const described = sought.length > 0 ? 'l.id IN (SELECT id FROM described)' : '1 = 0'
  const byTier = sort === 'relevance' && terms.length > 0
  // Written once and referred to by name in the order below, so that the placeholders are in order.
  const tier = byTier
    ? `CASE WHEN ${hasWords(terms, 'name')} THEN 0 WHEN ${hasWords(terms, 'name and tags')} THEN 1
         WHEN ${described} THEN 2 ELSE 3 END`
    : '0'
  const where = [`l.is_shown = 1`, `l.live_until > ${arg(now)}`]
  if (terms.length > 0) where.push(`(${hasWords(terms, 'anywhere')} OR ${described})`)
  if (protocol !== undefined) where.push(`l.protocol = ${arg(protocol.toLowerCase())}`)
  if (provider !== undefined) where.push(`l.provider = ${arg(provider)}`)
  if (tag !== undefined) where.push(hasTag(tag.toLowerCase()))
  if (maxPrice !== undefined) where.push(`l.price <= ${arg(maxPrice)}`)
  if (minQuality !== undefined) where.push(`l.quality >= ${arg(Math.ceil(minQuality * QUALITY_UNITS))}`)
  let after = ''
  if (cursor !== undefined) {
    const place = decodeCursor(sort, cursor)
    after = `WHERE (tier, value, id) > (${arg(place.tier)}, ${arg(place.value)}, ${arg(place.id)})`
  }
  return `
    ${sought.length > 0 ? `WITH described (id) AS MATERIALIZED (${describedBy(sought)})` : ''}
    SELECT ${HEAD_COLUMNS}, b.envelope, found.tier, found.value
    FROM (
      SELECT seq, tier, value, id
      FROM (SELECT l.seq, l.id, ${tier} AS tier, ${value} AS value FROM listings l WHERE ${where.join(' AND ')}) matching
      ${after}
      ORDER BY tier, value, id LIMIT ${arg(limit + 1)}
    ) found
    JOIN listings l ON l.seq = found.seq
    JOIN listing_bodies b ON b.seq = found.seq
    ORDER BY found.tier, found.value, found.id`
}

/** The first id of a name, and the one after its last. */
export const idsOf = (name: string): readonly [string, string] => [`${name}@`, `${name}A`]

/** A row as returned by the client of either database. */
export type SqlRow = Readonly<Record<string, unknown>>

export function headOf(row: SqlRow): ListingHead {
  return {
    id: row['id'] as ApiId,
    hash: plain(row['hash']),
    revision: Number(row['revision']),
    seq: BigInt(row['record_seq'] as number | string),
    liveUntil: Number(row['live_until']),
    firstSeenAt: Number(row['first_seen_at']),
    ...(typeof row['source'] === 'string' ? { source: row['source'] } : {})
  }
}

export const indexedOf = (row: SqlRow): IndexedListing => ({ ...headOf(row), envelope: plain(row['envelope']) })

/** Clients return buffers, but the contract requires plain bytes. */
export const plain = (bytes: unknown): Uint8Array => Uint8Array.from(bytes as Uint8Array)

/** @param matching - operations by listing */
export function pageOf(
  rows: readonly SqlRow[],
  { sort, limit }: ListingQuery,
  matching: (id: ApiId) => readonly OperationSummary[]
): { listings: MatchingListing[]; next?: string } {
  const page = rows.slice(0, limit)
  const listings = page.map((row) => ({ ...indexedOf(row), matching: matching(row['id'] as ApiId) }))
  const last = page.at(-1)
  if (last === undefined || rows.length === page.length) return { listings }
  const place = { tier: Number(last['tier']), value: Number(last['value']), id: last['id'] as string }
  return { listings, next: encodeCursor(sort, place) }
}
