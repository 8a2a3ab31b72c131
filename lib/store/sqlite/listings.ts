import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { ApiId } from '../../base/api-name.ts'
import type { ListingBounds, ListingIndex, ListingPut, PutOutcome } from '../../interface/listing-index.ts'
import type { CommitQueue } from '../commit-queue.ts'
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

import { operationMatch, sqliteOperations } from './listing-operations.ts'

/** The cost of one listing in a commit, in addition to its bytes. */
const ROW_BYTES = 512
const SELECT_NAMED =
  'SELECT id FROM listings WHERE id >= ? AND id < ? AND is_shown = 1 AND live_until > ? ORDER BY id LIMIT ?'

export function sqliteListings(db: DatabaseSync, queue: CommitQueue): ListingIndex {
  const take = preparePut(db)
  const drop = prepareDrop(db)
  const selectHead = db.prepare(`SELECT ${HEAD_COLUMNS} FROM listings l WHERE id = ?`)
  const selectOne = db.prepare(
    `SELECT ${HEAD_COLUMNS}, b.envelope FROM listings l JOIN listing_bodies b USING (seq) WHERE id = ?`
  )
  const selectEnvelope = db.prepare(
    'SELECT b.envelope FROM listings l JOIN listing_bodies b USING (seq) WHERE hash = ?'
  )
  const selectSeq = db.prepare('SELECT seq FROM listings WHERE id = ?')
  const selectOver = db.prepare('SELECT seq FROM listings WHERE keep_until <= ?')
  const updateGrade = db.prepare('UPDATE listings SET quality = ?, latency = ? WHERE id = ?')
  const selectEpoch = db.prepare('SELECT epoch FROM listing_feed')
  const { matching, undescribed, hasOperations, describe, prune } = sqliteOperations(db, queue)
  const selectNamed = db.prepare(SELECT_NAMED)
  const selectChanges = db.prepare(
    `SELECT l.change, b.record FROM listings l JOIN listing_bodies b USING (seq)
     WHERE l.change > ? AND b.record IS NOT NULL ORDER BY l.change LIMIT ?`
  )

  return {
    async put(listings, bounds = DEFAULT_BOUNDS) {
      if (listings.length === 0) return []
      const bytes = listings.reduce((sum, put) => sum + bytesOf(put) + ROW_BYTES, 0)
      return queue.write(bytes, () => listings.map((put) => take(put, bounds)))
    },
    async heads(ids) {
      return ids
        .map((id) => selectHead.get(id))
        .filter((row) => row !== undefined)
        .map(headOf)
    },
    async get(id) {
      const row = selectOne.get(id)
      return row && indexedOf(row)
    },
    async named(name, { limit, now }) {
      return selectNamed.all(...idsOf(name), now, limit).map(({ id }) => id as ApiId)
    },
    async envelope(hash) {
      const row = selectEnvelope.get(hash)
      return row && plain(row['envelope'])
    },
    async forget(id) {
      return queue.write(ROW_BYTES, () => {
        const seq = selectSeq.get(id)?.['seq']
        if (seq !== undefined) drop(Number(seq))
        return seq !== undefined
      })
    },
    async grade(grades) {
      await queue.write(grades.length, () => {
        for (const { id, ...grade } of grades) {
          const { quality, latency } = gradeColumns(grade)
          updateGrade.run(quality, latency, id)
        }
      })
    },
    async search(query) {
      const values: SQLInputValue[] = []
      const sql = searchSql(
        query,
        dialect((value) => values.push(value))
      )
      return pageOf(db.prepare(sql).all(...values), query, matching(query.terms))
    },
    undescribed,
    hasOperations,
    describe,
    async changes(after, { limit, bytesMax }) {
      const rows = selectChanges.all(after, limit + 1)
      let bytes = 0
      const told = rows.slice(0, limit).filter((row) => (bytes += plain(row['record']).length) <= bytesMax)
      return {
        epoch: String(selectEpoch.get()?.['epoch']),
        records: told.map((row) => plain(row['record'])),
        through: Number(told.at(-1)?.['change'] ?? after),
        hasMore: told.length < rows.length
      }
    },
    async prune(now) {
      return queue.write(ROW_BYTES, () => {
        const over = selectOver.all(now)
        for (const { seq } of over) drop(Number(seq))
        prune()
        return over.length
      })
    }
  }
}

/** Placeholders are numbered, because the text of a statement uses them in another order. */
function dialect(push: (value: SQLInputValue) => number): Dialect {
  const arg: Dialect['arg'] = (value) => `?${push(value)}`
  return {
    arg,
    hasWords(terms, where) {
      // Words consist of letters and digits, so they need no escaping.
      const words = terms.map((term) => `"${term}"*`).join(' AND ')
      const columns = { name: '{name} : ', 'name and tags': '{name tags} : ', anywhere: '' }[where]
      return `l.seq IN (SELECT rowid FROM listing_words WHERE listing_words MATCH ${arg(`${columns}(${words})`)})`
    },
    describedBy: (terms) =>
      `SELECT id FROM listing_descriptions WHERE number IN (
        SELECT rowid / ${OPERATION_ROWS} FROM operation_words WHERE operation_words MATCH ${arg(operationMatch(terms))})`,
    hasTag: (tag) => `l.seq IN (SELECT seq FROM listing_tags WHERE tag = ${arg(tag)})`
  }
}

function prepareDrop(db: DatabaseSync): (seq: number) => void {
  const count = db.prepare(
    `UPDATE listing_feed SET listings = listings - 1, bytes = bytes - (SELECT bytes FROM listings WHERE seq = ?)`
  )
  const deletes = [
    'DELETE FROM listing_words WHERE rowid = ?',
    'DELETE FROM listing_tags WHERE seq = ?',
    'DELETE FROM listing_bodies WHERE seq = ?',
    'DELETE FROM listings WHERE seq = ?'
  ].map((sql) => db.prepare(sql))
  return (seq) => {
    count.run(seq)
    for (const statement of deletes) statement.run(seq)
  }
}

function preparePut(db: DatabaseSync): (put: ListingPut, bounds: ListingBounds) => PutOutcome {
  const selectKept = db.prepare(`SELECT l.*, b.record FROM listings l JOIN listing_bodies b USING (seq) WHERE id = ?`)
  const countOf = db.prepare('SELECT count(*) AS listings FROM listings WHERE provider = ?')
  const see = db.prepare('UPDATE listings SET seen_at = ? WHERE id = ?')
  const nextChange = db.prepare('UPDATE listing_feed SET last = last + 1 RETURNING last')
  const count = db.prepare('UPDATE listing_feed SET listings = listings + 1, bytes = bytes + ?')
  const insert = db.prepare(
    `INSERT INTO listings (id, provider, protocol, price, revision, issued_at, hash, is_shown, source, bytes, first_seen_at,
       seen_at, live_until, keep_until, quality, latency, record_seq, change)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`
  )
  const insertBody = db.prepare('INSERT INTO listing_bodies (seq, envelope, record) VALUES (?, ?, ?)')
  const insertTag = db.prepare('INSERT INTO listing_tags (tag, seq) VALUES (?, ?)')
  const insertWords = db.prepare('INSERT INTO listing_words (rowid, name, tags, text) VALUES (?, ?, ?, ?)')
  const refresh = db.prepare(
    `UPDATE listings SET source = ?, seen_at = ?, live_until = ?, keep_until = ?, record_seq = ?, change = ? WHERE seq = ?`
  )
  const updateRecord = db.prepare('UPDATE listing_bodies SET record = ? WHERE seq = ?')
  const drop = prepareDrop(db)
  const makeRoom = prepareRoom(db, drop)

  function store(put: ListingPut, before: SqlRow | undefined, isSame: boolean): void {
    const { signed, hash, record, source, liveUntil, keepUntil = liveUntil, now } = put
    const change = record === undefined ? null : Number(nextChange.get()?.['last'])
    const seqOfRecord = record?.seq ?? (before?.['record_seq'] as number | undefined) ?? 0
    const keep = Math.max(liveUntil, keepUntil)
    if (isSame && before !== undefined) {
      const by = source ?? (before['source'] as string | null)
      const number = change ?? (before['change'] as number | null)
      refresh.run(by, now, liveUntil, keep, seqOfRecord, number, before['seq'] as number)
      if (record !== undefined) updateRecord.run(record.bytes, before['seq'] as number)
      return
    }
    if (before !== undefined) drop(Number(before['seq']))
    const { provider, protocol, price, revision, issuedAt, isShown, tags, words } = factsOf(signed.manifest)
    const { quality, latency } = gradeColumns(put.grade)
    const firstSeen = (before?.['first_seen_at'] as number | undefined) ?? now
    const bytes = bytesOf(put)
    const times = [firstSeen, now, liveUntil, keep] as const
    const facts = [signed.id, provider, protocol, price, revision, issuedAt, hash, Number(isShown)] as const
    const row = insert.get(...facts, source ?? null, bytes, ...times, quality, latency, seqOfRecord, change)
    const seq = Number(row?.['seq'])
    insertBody.run(seq, signed.envelope, record?.bytes ?? null)
    for (const tag of tags) insertTag.run(tag, seq)
    insertWords.run(seq, words.name.join(' '), words.tags.join(' '), words.text.join(' '))
    count.run(bytes)
  }

  return (put, bounds) => {
    const { id, manifest } = put.signed
    const before = selectKept.get(id)
    const kept = before && { ...headOf(before), issuedAt: Number(before['issued_at']) }
    const ofPublisher = () => Number(countOf.get(manifest.provider)?.['listings'])
    const outcome = judgePut(put, kept, ofPublisher, bounds)
    if (outcome === 'known') see.run(put.now, id)
    if (outcome === 'known' || outcome === 'refused') return outcome
    store(put, before, outcome === 'refreshed')
    makeRoom(bounds)
    return outcome
  }
}

function prepareRoom(db: DatabaseSync, drop: (seq: number) => void): (bounds: ListingBounds) => void {
  const totals = db.prepare('SELECT listings, bytes FROM listing_feed')
  const crowd = db.prepare(
    'SELECT source FROM listings WHERE source IS NOT NULL GROUP BY source ORDER BY count(*) DESC LIMIT 1'
  )
  const least = db.prepare(
    `SELECT seq FROM listings WHERE source = ? ORDER BY latency <> ${UNMEASURED_MS}, seen_at LIMIT 1`
  )
  return ({ listingsMax, bytesMax }) => {
    for (;;) {
      const all = totals.get()
      if (Number(all?.['listings']) <= listingsMax && Number(all?.['bytes']) <= bytesMax) return
      const source = crowd.get()?.['source']
      if (source === undefined) return
      drop(Number(least.get(source)?.['seq']))
    }
  }
}
