import type { DatabaseSync } from 'node:sqlite'
import type { ApiId } from '../../base/api-name.ts'
import { OPERATIONS_COMPARED_MAX } from '../../base/limits/directory.ts'
import type { OperationSummary } from '../../interface/operation-summary.ts'
import type { ListingIndex, OperationBounds, OperationsPut } from '../../interface/listing-index.ts'
import type { CommitQueue } from '../commit-queue.ts'
import { OPERATION_BOUNDS } from '../listing-put.ts'
import { bestOperations, nameTerms, OPERATION_ROWS, operationTerms, soughtTerms } from '../operation-words.ts'

/** The approximate size of one operation in a commit. */
const OPERATION_BYTES = 512
/** Deleted listings whose operations one `prune` removes. */
const PRUNED_AT_ONCE = 8

/** All terms in one operation, at least one of them in its own words. Terms need no escaping. */
export function operationMatch(terms: readonly string[]): string {
  const words = terms.map((term) => `"${term}"*`)
  return `(${words.join(' AND ')}) AND {own} : (${words.join(' OR ')})`
}

export interface SqliteOperations extends Pick<ListingIndex, 'undescribed' | 'hasOperations' | 'describe'> {
  /** The best operations of a listing for these terms. */
  readonly matching: (terms: readonly string[]) => (id: ApiId) => readonly OperationSummary[]
  /** Removes operations of some listings that are no longer in the index. In a transaction. */
  readonly prune: () => void
}

export function sqliteOperations(db: DatabaseSync, queue: CommitQueue): SqliteOperations {
  const selectMissing = db.prepare(
    `SELECT l.id FROM listings l LEFT JOIN listing_descriptions d USING (id)
     WHERE l.is_shown = 1 AND l.live_until > ? AND (d.hash IS NULL OR d.hash <> l.hash)`
  )
  const touch = db.prepare(
    'UPDATE listing_descriptions SET hash = ? WHERE id = ? AND root = ? AND hash IS NOT NULL RETURNING number'
  )
  const selectNumber = db.prepare('SELECT number FROM listing_descriptions WHERE id = ?')
  const selectRows = db.prepare('SELECT rowid AS row FROM operation_words WHERE operation_words MATCH ? ORDER BY rowid')
  const selectEntry = db.prepare('SELECT entry FROM listing_operations WHERE row = ?')
  const selectOrphans = db.prepare(
    `SELECT d.number FROM listing_descriptions d WHERE NOT EXISTS (SELECT 1 FROM listings l WHERE l.id = d.id) LIMIT ?`
  )
  const deleteDescription = db.prepare('DELETE FROM listing_descriptions WHERE number = ?')
  const entriesOf = function* (rows: readonly number[]) {
    for (const row of rows) yield String(selectEntry.get(row)?.['entry'])
  }
  const clear = prepareClear(db)
  const take = prepareDescribe(db, clear)

  return {
    undescribed: async (now) => selectMissing.all(now).map(({ id }) => id as ApiId),
    hasOperations: (id, hash, root) => queue.write(OPERATION_BYTES, () => touch.get(hash, id, root) !== undefined),
    describe: (put, bounds = OPERATION_BOUNDS) =>
      queue.write((put.operations.length + 1) * OPERATION_BYTES, () => take(put, bounds)),
    matching(terms) {
      const sought = soughtTerms(terms)
      if (sought.length === 0) return () => []
      const found = selectRows.all(operationMatch(sought)).map(({ row }) => Number(row))
      const rowsOf = Map.groupBy(found, (row) => Math.floor(row / OPERATION_ROWS))
      return (id) => {
        const rows = rowsOf.get(Number(selectNumber.get(id)?.['number'])) ?? []
        return bestOperations(entriesOf(rows.slice(0, OPERATIONS_COMPARED_MAX)), terms)
      }
    },
    prune() {
      for (const { number } of selectOrphans.all(PRUNED_AT_ONCE)) {
        clear(Number(number))
        deleteDescription.run(number as number)
      }
    }
  }
}

type Clear = (number: number) => void

function prepareClear(db: DatabaseSync): Clear {
  const deletes = ['operation_words WHERE rowid', 'listing_operations WHERE row'].map((from) =>
    db.prepare(`DELETE FROM ${from} BETWEEN ? AND ?`)
  )
  return (number) => {
    const first = number * OPERATION_ROWS
    for (const statement of deletes) statement.run(first, first + OPERATION_ROWS - 1)
  }
}

function prepareDescribe(db: DatabaseSync, clear: Clear): (put: OperationsPut, bounds: OperationBounds) => boolean {
  const selectListing = db.prepare('SELECT provider, source FROM listings WHERE id = ? AND hash = ?')
  const selectKept = db.prepare('SELECT number, root, operations FROM listing_descriptions WHERE id = ?')
  const upsert = db.prepare(
    `INSERT INTO listing_descriptions (id, provider, source, root, operations) VALUES (?, ?, ?, ?, 0)
     ON CONFLICT (id) DO UPDATE SET source = excluded.source, root = excluded.root, operations = 0, hash = NULL
     RETURNING number`
  )
  const ofPublisher = db.prepare('SELECT total(operations) AS operations FROM listing_descriptions WHERE provider = ?')
  const insert = db.prepare('INSERT INTO listing_operations (row, entry) VALUES (?, ?)')
  const insertWords = db.prepare('INSERT INTO operation_words (rowid, own, api) VALUES (?, ?, ?)')
  const update = db.prepare(
    'UPDATE listing_descriptions SET operations = operations + ?, hash = coalesce(?, hash) WHERE number = ?'
  )
  const makeRoom = prepareOperationRoom(db, clear)

  return ({ id, hash, root, from, operations, isLast }, bounds) => {
    const listing = selectListing.get(id, hash)
    if (listing === undefined) return false
    const kept = selectKept.get(id)
    const isNext = from === 0 || (kept?.['root'] === root && kept['operations'] === from)
    if (!isNext) return false
    const provider = String(listing['provider'])
    const source = listing['source'] as string | null
    let number = Number(kept?.['number'])
    if (from === 0) {
      number = Number(upsert.get(id, provider, source, root)?.['number'])
      clear(number)
    }
    const room =
      source === null
        ? Number.POSITIVE_INFINITY
        : bounds.perPublisherMax - Number(ofPublisher.get(provider)?.['operations'])
    const taken = operations.slice(0, Math.max(0, room))
    const isOver = isLast || taken.length < operations.length
    const api = nameTerms(id).join(' ')
    for (const [at, operation] of taken.entries()) {
      const row = number * OPERATION_ROWS + from + at
      insert.run(row, JSON.stringify(operation))
      insertWords.run(row, operationTerms(operation).join(' '), api)
    }
    update.run(taken.length, isOver ? hash : null, number)
    makeRoom(bounds)
    return !isOver
  }
}

function prepareOperationRoom(db: DatabaseSync, clear: Clear): (bounds: OperationBounds) => void {
  const total = db.prepare('SELECT total(operations) AS operations FROM listing_descriptions')
  const most = db.prepare(
    `SELECT number FROM listing_descriptions WHERE operations > 0 AND source = (
       SELECT source FROM listing_descriptions WHERE source IS NOT NULL GROUP BY source ORDER BY sum(operations) DESC LIMIT 1
     ) ORDER BY number LIMIT 1`
  )
  // It counts as described, so that it is not fetched again until its manifest changes.
  const empty = db.prepare(
    `UPDATE listing_descriptions AS d SET operations = 0, hash = (SELECT hash FROM listings l WHERE l.id = d.id)
     WHERE number = ?`
  )
  return ({ operationsMax }) => {
    while (Number(total.get()?.['operations']) > operationsMax) {
      const number = most.get()?.['number']
      if (number === undefined) return
      clear(Number(number))
      empty.run(number as number)
    }
  }
}
