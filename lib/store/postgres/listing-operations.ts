import type { ClientBase } from 'pg'
import type { ApiId } from '../../base/api-name.ts'
import { OPERATIONS_COMPARED_MAX } from '../../base/limits/directory.ts'
import type { OperationSummary } from '../../interface/operation-summary.ts'
import type { ListingIndex, OperationBounds, OperationsPut } from '../../interface/listing-index.ts'
import { OPERATION_BOUNDS } from '../listing-put.ts'
import type { SqlRow } from '../listing-sql.ts'
import { bestOperations, nameTerms, OPERATION_ROWS, operationTerms, soughtTerms } from '../operation-words.ts'
import type { PostgresQueue } from './queue.ts'
import type { Writer } from './transaction.ts'

type Rows = (sql: string, values?: readonly unknown[]) => Promise<SqlRow[]>

/** All terms in one operation, at least one of them in its own words, which have weight A. */
export function operationMatch(terms: readonly string[]): string {
  const all = terms.map((term) => `'${term}':*`).join(' & ')
  return `(${all}) & (${terms.map((term) => `'${term}':*A`).join(' | ')})`
}

export interface PostgresOperations extends Pick<ListingIndex, 'undescribed' | 'hasOperations' | 'describe'> {
  /** The best operations of these listings for these terms. */
  readonly matching: (
    ids: readonly ApiId[],
    terms: readonly string[]
  ) => Promise<(id: ApiId) => readonly OperationSummary[]>
}

export function postgresOperations(rows: Rows, queue: PostgresQueue): PostgresOperations {
  return {
    async undescribed(now) {
      const found = await rows(
        `SELECT l.id FROM listings l LEFT JOIN listing_descriptions d USING (id)
         WHERE l.is_shown = 1 AND l.live_until > $1 AND (d.hash IS NULL OR d.hash <> l.hash)`,
        [now]
      )
      return found.map(({ id }) => id as ApiId)
    },
    hasOperations: (id, hash, root) => queue.write(touches, { id, hash, root }, hash.length),
    describe: (put, bounds = OPERATION_BOUNDS) => queue.write(descriptions, { put, bounds }, bytesOf(put)),
    async matching(ids, terms) {
      const sought = soughtTerms(terms)
      if (sought.length === 0 || ids.length === 0) return () => []
      const found = await rows(
        `SELECT d.id, o.entry FROM listing_descriptions d CROSS JOIN LATERAL (
           SELECT entry FROM listing_operations
           WHERE row BETWEEN d.number * ${OPERATION_ROWS} AND d.number * ${OPERATION_ROWS} + ${OPERATION_ROWS - 1}
             AND words @@ $2::tsquery
           ORDER BY row LIMIT ${OPERATIONS_COMPARED_MAX}
         ) o WHERE d.id = ANY($1::text[])`,
        [ids, operationMatch(sought)]
      )
      const byId = Map.groupBy(found, ({ id }) => String(id))
      const read = (id: ApiId) => (byId.get(id) ?? []).map(({ entry }) => String(entry))
      return (id) => bestOperations(read(id), terms)
    }
  }
}

/** Removes operations of listings that are no longer in the index. */
export async function pruneOperations(db: ClientBase): Promise<void> {
  const sql =
    'SELECT d.number FROM listing_descriptions d WHERE NOT EXISTS (SELECT 1 FROM listings l WHERE l.id = d.id)'
  for (const { number } of (await db.query<{ number: string }>(sql)).rows) {
    await clear(db, number)
    await db.query('DELETE FROM listing_descriptions WHERE number = $1', [number])
  }
}

const bytesOf = ({ operations }: OperationsPut): number =>
  operations.reduce((sum, { name, summary = '' }) => sum + name.length + summary.length, 0)

type Touch = Pick<OperationsPut, 'id' | 'hash' | 'root'>

const touches: Writer<Touch, boolean> = {
  async run(db, items) {
    const results: boolean[] = []
    for (const { id, hash, root } of items) {
      const { rowCount } = await db.query(
        'UPDATE listing_descriptions SET hash = $1 WHERE id = $2 AND root = $3 AND hash IS NOT NULL',
        [Buffer.from(hash), id, root]
      )
      results.push(rowCount === 1)
    }
    return results
  }
}

const descriptions: Writer<{ readonly put: OperationsPut; readonly bounds: OperationBounds }, boolean> = {
  async run(db, items) {
    // Processes that share the catalogue take turns, as in `puts`.
    await db.query('SELECT one FROM listing_feed FOR UPDATE')
    const results: boolean[] = []
    for (const { put, bounds } of items) results.push(await describe(db, put, bounds))
    return results
  }
}

async function describe(db: ClientBase, put: OperationsPut, bounds: OperationBounds): Promise<boolean> {
  const { id, hash, root, from, operations, isLast } = put
  const first = async (sql: string, values: unknown[]) => (await db.query<Record<string, unknown>>(sql, values)).rows[0]
  const listing = await first('SELECT provider, source FROM listings WHERE id = $1 AND hash = $2', [
    id,
    Buffer.from(hash)
  ])
  if (listing === undefined) return false
  const kept = await first('SELECT number, root, operations FROM listing_descriptions WHERE id = $1', [id])
  const isNext = from === 0 || (kept?.['root'] === root && Number(kept['operations']) === from)
  if (!isNext) return false
  let number = Number(kept?.['number'])
  if (from === 0) {
    const row = await first(
      `INSERT INTO listing_descriptions (id, provider, source, root, operations) VALUES ($1, $2, $3, $4, 0)
       ON CONFLICT (id) DO UPDATE SET source = excluded.source, root = excluded.root, operations = 0, hash = NULL
       RETURNING number`,
      [id, listing['provider'], listing['source'], root]
    )
    number = Number(row?.['number'])
    await clear(db, number)
  }
  const taken = operations.slice(0, await roomOf(db, listing, bounds))
  const isOver = isLast || taken.length < operations.length
  const api = nameTerms(id).map((word) => `'${word}':2B`)
  const words = taken.map((each) => [...operationTerms(each).map((word) => `'${word}':1A`), ...api].join(' '))
  await db.query(
    `INSERT INTO listing_operations (row, entry, words)
     SELECT $1::bigint + o.at - 1, o.entry, o.words::tsvector FROM unnest($2::text[], $3::text[]) WITH ORDINALITY o (entry, words, at)`,
    [number * OPERATION_ROWS + from, taken.map((each) => JSON.stringify(each)), words]
  )
  await db.query(
    'UPDATE listing_descriptions SET operations = operations + $1, hash = coalesce($2, hash) WHERE number = $3',
    [taken.length, isOver ? Buffer.from(hash) : null, number]
  )
  await makeRoom(db, bounds)
  return !isOver
}

async function roomOf(db: ClientBase, { provider, source }: SqlRow, { perPublisherMax }: OperationBounds) {
  if (source === null) return undefined
  const sql = 'SELECT coalesce(sum(operations), 0) AS operations FROM listing_descriptions WHERE provider = $1'
  const { rows } = await db.query<{ operations: string }>(sql, [provider])
  return Math.max(0, perPublisherMax - Number(rows[0]?.operations))
}

async function clear(db: ClientBase, number: number | string): Promise<void> {
  const first = Number(number) * OPERATION_ROWS
  await db.query('DELETE FROM listing_operations WHERE row BETWEEN $1 AND $2', [first, first + OPERATION_ROWS - 1])
}

async function makeRoom(db: ClientBase, { operationsMax }: OperationBounds): Promise<void> {
  for (;;) {
    const total = 'SELECT coalesce(sum(operations), 0) AS operations FROM listing_descriptions'
    const { rows } = await db.query<{ operations: string }>(total)
    if (Number(rows[0]?.operations) <= operationsMax) return
    // The emptied one counts as described, so that it is not fetched again until its manifest changes.
    const emptied = await db.query<{ number: string }>(
      `UPDATE listing_descriptions d SET operations = 0, hash = (SELECT hash FROM listings l WHERE l.id = d.id)
       WHERE number = (
         SELECT number FROM listing_descriptions WHERE operations > 0 AND source = (
           SELECT source FROM listing_descriptions WHERE source IS NOT NULL GROUP BY source ORDER BY sum(operations) DESC LIMIT 1
         ) ORDER BY number LIMIT 1)
       RETURNING number`
    )
    const number = emptied.rows[0]?.number
    if (number === undefined) return
    await clear(db, number)
  }
}
