import type { ClientBase } from 'pg'
import type { ApiId } from '../../base/api-name.ts'
import type { Grade, ListingBounds, ListingIndex, ListingPut, PutOutcome } from '../../interface/listing-index.ts'
import { bytesOf, DEFAULT_BOUNDS, factsOf, gradeColumns, judgePut, UNMEASURED_MS } from '../listing-put.ts'
import { OPERATION_ROWS } from '../operation-words.ts'
import {
  type Dialect,
  HEAD_COLUMNS,
  headOf,
  idsOf,
  indexedOf,
  pageOf,
  plain,
  searchSql,
  type SqlRow
} from '../listing-sql.ts'
import type { PostgresQueue } from './queue.ts'
import type { Writer } from './transaction.ts'
import type { PostgresReads } from './reads.ts'

import { operationMatch, postgresOperations, pruneOperations } from './listing-operations.ts'

interface Puts {
  readonly listings: readonly ListingPut[]
  readonly bounds: ListingBounds
}

type Told = <T>(reading: Promise<T>) => Promise<T>

/** @param told replaces a read's error with one that hides the database's text */
export function postgresListings(reads: PostgresReads, queue: PostgresQueue, told: Told): ListingIndex {
  const rows = async (sql: string, values: readonly unknown[] = []): Promise<SqlRow[]> =>
    (await told(reads.query<Record<string, unknown>>(sql, [...values]))).rows

  const { matching, ...operations } = postgresOperations(rows, queue)

  return {
    ...operations,
    put(listings, bounds = DEFAULT_BOUNDS) {
      const bytes = listings.reduce((sum, put) => sum + bytesOf(put), 0)
      return queue.write(puts, { listings, bounds }, bytes)
    },
    async heads(ids) {
      return (await rows(`SELECT ${HEAD_COLUMNS} FROM listings l WHERE id = ANY($1::text[])`, [ids])).map(headOf)
    },
    async get(id) {
      const sql = `SELECT ${HEAD_COLUMNS}, b.envelope FROM listings l JOIN listing_bodies b USING (seq) WHERE id = $1`
      return (await rows(sql, [id])).map(indexedOf)[0]
    },
    async named(name, { limit, now }) {
      const sql = `SELECT id FROM listings WHERE id >= $1 AND id < $2 AND is_shown = 1 AND live_until > $3 ORDER BY id LIMIT $4`
      return (await rows(sql, [...idsOf(name), now, limit])).map(({ id }) => id as ApiId)
    },
    async envelope(hash) {
      const sql = 'SELECT b.envelope FROM listings l JOIN listing_bodies b USING (seq) WHERE hash = $1'
      return (await rows(sql, [Buffer.from(hash)])).map((row) => plain(row['envelope']))[0]
    },
    forget: (id) => queue.write(forgets, id, id.length),
    grade: (grades) => queue.write(gradings, grades, grades.length),
    async search(query) {
      const values: Array<string | number> = []
      const sql = searchSql(
        query,
        dialect((value) => values.push(value))
      )
      const found = await rows(sql, values)
      const ids = found.map(({ id }) => id as ApiId)
      return pageOf(found, query, await matching(ids, query.terms))
    },
    async changes(after, { limit, bytesMax }) {
      const found = await rows(
        `SELECT l.change, b.record FROM listings l JOIN listing_bodies b USING (seq)
         WHERE l.change > $1 AND b.record IS NOT NULL ORDER BY l.change LIMIT $2`,
        [after, limit + 1]
      )
      const [feed] = await rows('SELECT epoch FROM listing_feed')
      let bytes = 0
      const shown = found.slice(0, limit).filter((row) => (bytes += plain(row['record']).length) <= bytesMax)
      return {
        epoch: String(feed?.['epoch']),
        records: shown.map((row) => plain(row['record'])),
        through: Number(shown.at(-1)?.['change'] ?? after),
        hasMore: shown.length < found.length
      }
    },
    prune: (now) => queue.write(prunings, now, 1)
  }
}

/** Placeholders need explicit types, because they have none of their own. */
function dialect(push: (value: string | number) => number): Dialect {
  const arg: Dialect['arg'] = (value) =>
    typeof value === 'string' ? `$${push(value)}::text` : `$${push(String(value))}::bigint`
  return {
    arg,
    hasWords(terms, where) {
      const weights = { name: 'A', 'name and tags': 'AB', anywhere: '' }[where]
      return `l.words @@ ${arg(terms.map((term) => `'${term}':*${weights}`).join(' & '))}::tsquery`
    },
    describedBy: (terms) =>
      `SELECT id FROM listing_descriptions WHERE number IN (
        SELECT row / ${OPERATION_ROWS} FROM listing_operations WHERE words @@ ${arg(operationMatch(terms))}::tsquery)`,
    hasTag: (tag) => `l.tags @> ARRAY[${arg(tag)}]`
  }
}

/** Words with explicit positions, without PostgreSQL's own parser, which would split some of them. */
function vectorOf({ name, tags, text }: ReturnType<typeof factsOf>['words']): string {
  const at = (words: readonly string[], position: string) => words.map((word) => `'${word}':${position}`)
  return [...at(name, '1A'), ...at(tags, '2B'), ...at(text, '3C')].join(' ')
}

const puts: Writer<Puts, PutOutcome[]> = {
  async run(db, items) {
    // Processes that share the catalogue take turns, so that changes are numbered in the order of their visibility.
    await db.query('SELECT one FROM listing_feed FOR UPDATE')
    const results: PutOutcome[][] = []
    for (const { listings, bounds } of items) {
      const outcomes: PutOutcome[] = []
      for (const put of listings) outcomes.push(await take(db, put, bounds))
      results.push(outcomes)
    }
    return results
  }
}

const forgets: Writer<ApiId, boolean> = {
  async run(db, ids) {
    const results: boolean[] = []
    for (const id of ids) results.push((await drop(db, 'id = $1', id)) > 0)
    return results
  }
}

const prunings: Writer<number, number> = {
  async run(db, times) {
    const results: number[] = []
    for (const now of times) results.push(await drop(db, 'keep_until <= $1', now))
    await pruneOperations(db)
    return results
  }
}

const gradings: Writer<ReadonlyArray<Grade & { readonly id: ApiId }>, void> = {
  async run(db, items) {
    // In the order of ids, so that two processes never wait for each other's rows.
    for (const { id, ...grade } of items.flat().sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const { quality, latency } = gradeColumns(grade)
      await db.query('UPDATE listings SET quality = $1, latency = $2 WHERE id = $3', [quality, latency, id])
    }
    return items.map(() => undefined)
  }
}

async function drop(db: ClientBase, where: string, value: string | number): Promise<number> {
  await db.query('SELECT one FROM listing_feed FOR UPDATE')
  const { rows } = await db.query<{ bytes: string }>(`DELETE FROM listings WHERE ${where} RETURNING bytes`, [value])
  const bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0)
  if (rows.length > 0) {
    await db.query('UPDATE listing_feed SET listings = listings - $1, bytes = bytes - $2', [rows.length, bytes])
  }
  return rows.length
}

async function take(db: ClientBase, put: ListingPut, bounds: ListingBounds): Promise<PutOutcome> {
  const { id, manifest } = put.signed
  const before = (await db.query<Record<string, unknown>>('SELECT * FROM listings WHERE id = $1', [id])).rows[0]
  const kept = before && { ...headOf(before), issuedAt: Number(before['issued_at']) }
  const sql = 'SELECT count(*) AS listings FROM listings WHERE provider = $1'
  const others =
    before === undefined ? (await db.query<{ listings: string }>(sql, [manifest.provider])).rows[0] : undefined
  const outcome = judgePut(put, kept, () => Number(others?.listings), bounds)
  if (outcome === 'known') await db.query('UPDATE listings SET seen_at = $1 WHERE id = $2', [put.now, id])
  if (outcome === 'known' || outcome === 'refused') return outcome
  if (outcome === 'refreshed' && before !== undefined) await refresh(db, put, before)
  else await insert(db, put, before)
  await makeRoom(db, bounds)
  return outcome
}

async function nextChange(db: ClientBase): Promise<string | undefined> {
  return (await db.query<{ last: string }>('UPDATE listing_feed SET last = last + 1 RETURNING last')).rows[0]?.last
}

async function refresh(db: ClientBase, put: ListingPut, before: SqlRow): Promise<void> {
  const { record, source, liveUntil, keepUntil = liveUntil, now } = put
  const change = record === undefined ? before['change'] : await nextChange(db)
  const seq = record === undefined ? before['record_seq'] : record.seq.toString()
  await db.query(
    `UPDATE listings SET source = $1, seen_at = $2, live_until = $3, keep_until = $4, record_seq = $5, change = $6 WHERE seq = $7`,
    [source ?? before['source'], now, liveUntil, Math.max(liveUntil, keepUntil), seq, change, before['seq']]
  )
  if (record === undefined) return
  const values = [Buffer.from(record.bytes), before['seq']]
  await db.query('UPDATE listing_bodies SET record = $1 WHERE seq = $2', values)
}

async function insert(db: ClientBase, put: ListingPut, before: SqlRow | undefined): Promise<void> {
  const { signed, hash, record, source, liveUntil, keepUntil = liveUntil, now } = put
  if (before !== undefined) await drop(db, 'id = $1', signed.id)
  const change = record === undefined ? null : await nextChange(db)
  const { provider, protocol, price, revision, issuedAt, isShown, tags, words } = factsOf(signed.manifest)
  const { quality, latency } = gradeColumns(put.grade)
  const bytes = bytesOf(put)
  const facts = [
    signed.id,
    provider,
    protocol,
    price.toString(),
    revision,
    issuedAt,
    Buffer.from(hash),
    Number(isShown)
  ]
  const firstSeen = before?.['first_seen_at'] ?? now
  const times = [source ?? null, bytes, firstSeen, now, liveUntil, Math.max(liveUntil, keepUntil)]
  const seqOfRecord = record?.seq.toString() ?? before?.['record_seq'] ?? 0
  const marks = [quality, latency, seqOfRecord, change, tags, vectorOf(words)]
  const { rows } = await db.query<{ seq: string }>(
    `INSERT INTO listings (id, provider, protocol, price, revision, issued_at, hash, is_shown, source, bytes, first_seen_at,
       seen_at, live_until, keep_until, quality, latency, record_seq, change, tags, words)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20::tsvector) RETURNING seq`,
    [...facts, ...times, ...marks]
  )
  await db.query('INSERT INTO listing_bodies (seq, envelope, record) VALUES ($1, $2, $3)', [
    rows[0]?.seq,
    Buffer.from(signed.envelope),
    record === undefined ? null : Buffer.from(record.bytes)
  ])
  await db.query('UPDATE listing_feed SET listings = listings + 1, bytes = bytes + $1', [bytes])
}

async function makeRoom(db: ClientBase, { listingsMax, bytesMax }: ListingBounds): Promise<void> {
  for (;;) {
    const { rows } = await db.query<{ listings: string; bytes: string }>('SELECT listings, bytes FROM listing_feed')
    if (Number(rows[0]?.listings) <= listingsMax && Number(rows[0]?.bytes) <= bytesMax) return
    const dropped = await drop(
      db,
      `seq = (
        SELECT seq FROM listings
        WHERE source = (SELECT source FROM listings WHERE source IS NOT NULL GROUP BY source ORDER BY count(*) DESC LIMIT 1)
        ORDER BY latency <> $1::bigint, seen_at LIMIT 1)`,
      UNMEASURED_MS
    )
    if (dropped === 0) return
  }
}
