import { toHex } from '../base/hex.ts'
import type { ApiId } from '../base/api-name.ts'
import type {
  IndexedListing,
  ListingBounds,
  ListingIndex,
  ListingPut,
  ListingQuery,
  ListingSort,
  PutOutcome
} from '../interface/listing-index.ts'
import { newEpoch } from './listing-epoch.ts'
import { decodeCursor, encodeCursor, type Place } from './listing-page.ts'
import {
  bytesOf,
  DEFAULT_BOUNDS,
  factsOf,
  gradeColumns,
  judgePut,
  QUALITY_UNITS,
  UNMEASURED_MS
} from './listing-put.ts'

type Facts = ReturnType<typeof factsOf>

interface Row extends Facts {
  readonly id: ApiId
  readonly hash: Uint8Array
  readonly envelope: Uint8Array
  record: Uint8Array | undefined
  seq: bigint
  readonly bytes: number
  readonly source: string | undefined
  readonly firstSeenAt: number
  seenAt: number
  liveUntil: number
  keepUntil: number
  quality: number
  latency: number
  change: number
}

/** Looks at every listing for each search: for nodes that are thrown away. */
export function memoryListings(check: () => void): ListingIndex {
  const epoch = newEpoch()
  const rows = new Map<ApiId, Row>()
  let changes = 0

  function take(put: ListingPut, bounds: ListingBounds): PutOutcome {
    const kept = rows.get(put.signed.id)
    const { provider } = put.signed.manifest
    const ofPublisher = () => [...rows.values()].filter((row) => row.provider === provider).length
    const outcome = judgePut(put, kept, ofPublisher, bounds)
    if (outcome === 'known' && kept !== undefined) kept.seenAt = put.now
    if (outcome === 'known' || outcome === 'refused') return outcome
    const change = put.record === undefined ? (kept?.change ?? 0) : ++changes
    rows.set(put.signed.id, { ...rowOf(put, kept, outcome === 'refreshed'), change })
    makeRoom(bounds)
    return outcome
  }

  function makeRoom({ listingsMax, bytesMax }: ListingBounds): void {
    let bytes = [...rows.values()].reduce((sum, row) => sum + row.bytes, 0)
    while (rows.size > listingsMax || bytes > bytesMax) {
      const victim = leastWanted([...rows.values()])
      if (victim === undefined) return
      rows.delete(victim.id)
      bytes -= victim.bytes
    }
  }

  return {
    async put(listings, bounds = DEFAULT_BOUNDS) {
      check()
      return listings.map((put) => take(put, bounds))
    },
    async heads(ids) {
      check()
      return ids.flatMap((id) => rows.get(id) ?? []).map(toIndexed)
    },
    async get(id) {
      check()
      const row = rows.get(id)
      return row && toIndexed(row)
    },
    async envelope(hash) {
      check()
      const wanted = toHex(hash)
      return [...rows.values()].find((row) => toHex(row.hash) === wanted)?.envelope
    },
    async forget(id) {
      check()
      return rows.delete(id)
    },
    async grade(grades) {
      check()
      for (const { id, ...grade } of grades) {
        const row = rows.get(id)
        if (row !== undefined) Object.assign(row, gradeColumns(grade))
      }
    },
    async search(query) {
      check()
      return searchRows(rows.values(), query)
    },
    async changes(after, { limit, bytesMax }) {
      check()
      const since = [...rows.values()].filter(({ record, change }) => record !== undefined && change > after)
      since.sort((a, b) => a.change - b.change)
      let bytes = 0
      const told = since.slice(0, limit).filter(({ record }) => (bytes += record?.length ?? 0) <= bytesMax)
      return {
        epoch,
        records: told.map(({ record }) => record as Uint8Array),
        through: told.at(-1)?.change ?? Math.max(after, 0),
        hasMore: told.length < since.length
      }
    },
    async prune(now) {
      check()
      const over = [...rows.values()].filter(({ keepUntil }) => keepUntil <= now)
      for (const { id } of over) rows.delete(id)
      return over.length
    }
  }
}

function rowOf(put: ListingPut, kept: Row | undefined, isSame: boolean): Omit<Row, 'change'> {
  const { signed, hash, record, source, liveUntil, keepUntil = liveUntil, grade, now } = put
  return {
    ...factsOf(signed.manifest),
    ...gradeColumns(grade),
    id: signed.id,
    hash,
    envelope: signed.envelope,
    record: record?.bytes ?? (isSame ? kept?.record : undefined),
    seq: record?.seq ?? kept?.seq ?? 0n,
    bytes: bytesOf(put),
    source: source ?? (isSame ? kept?.source : undefined),
    firstSeenAt: kept?.firstSeenAt ?? now,
    seenAt: now,
    liveUntil,
    keepUntil: Math.max(keepUntil, liveUntil)
  }
}

/** Of the peer that most came through, what was seen longest ago; what was called here only when nothing else is left. */
function leastWanted(rows: readonly Row[]): Row | undefined {
  const bySource = Map.groupBy(
    rows.filter(({ source }) => source !== undefined),
    ({ source }) => source
  )
  const [crowd = []] = [...bySource.values()].sort((a, b) => b.length - a.length)
  const isCalled = ({ latency }: Row) => Number(latency !== UNMEASURED_MS)
  return crowd.toSorted((a, b) => isCalled(a) - isCalled(b) || a.seenAt - b.seenAt)[0]
}

const VALUES: Readonly<Record<ListingSort, (row: Row) => number>> = {
  relevance: ({ quality }) => -quality,
  quality: ({ quality }) => -quality,
  price: ({ price }) => Number(price),
  latency: ({ latency }) => latency,
  new: ({ firstSeenAt }) => -firstSeenAt
}

function searchRows(rows: Iterable<Row>, query: ListingQuery): { listings: IndexedListing[]; next?: string } {
  const { sort, limit, cursor } = query
  const after = cursor === undefined ? undefined : decodeCursor(sort, cursor)
  const placed = [...rows]
    .filter((row) => matches(row, query))
    .map((row) => ({
      row,
      tier: sort === 'relevance' ? tierOf(row, query.terms) : 0,
      value: VALUES[sort](row),
      id: row.id
    }))
    .filter((place) => after === undefined || compare(place, after) > 0)
    .sort(compare)
  const page = placed.slice(0, limit)
  const last = page.at(-1)
  return {
    listings: page.map(({ row }) => toIndexed(row)),
    ...(last === undefined || page.length === placed.length ? {} : { next: encodeCursor(sort, last) })
  }
}

function compare(a: Place, b: Place): number {
  return a.tier - b.tier || a.value - b.value || (a.id === b.id ? 0 : a.id < b.id ? -1 : 1)
}

function matches(row: Row, { terms, protocol, tag, maxPrice, minQuality, now }: ListingQuery): boolean {
  const { name, tags, text } = row.words
  return (
    row.isShown &&
    row.liveUntil > now &&
    (protocol === undefined || row.protocol === protocol.toLowerCase()) &&
    (tag === undefined || row.tags.includes(tag.toLowerCase())) &&
    (maxPrice === undefined || row.price <= maxPrice) &&
    (minQuality === undefined || row.quality >= minQuality * QUALITY_UNITS) &&
    hasAll([...name, ...tags, ...text], terms)
  )
}

function tierOf({ words: { name, tags } }: Row, terms: readonly string[]): number {
  if (hasAll(name, terms)) return 0
  return hasAll([...name, ...tags], terms) ? 1 : 2
}

const hasAll = (words: readonly string[], terms: readonly string[]): boolean =>
  terms.every((term) => words.some((word) => word.startsWith(term)))

function toIndexed({ id, hash, revision, seq, liveUntil, firstSeenAt, envelope }: Row): IndexedListing {
  return { id, hash, revision, seq, liveUntil, firstSeenAt, envelope }
}
