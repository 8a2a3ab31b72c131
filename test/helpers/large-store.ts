import { DatabaseSync } from 'node:sqlite'
import { createSqliteStore } from '../../lib/store/sqlite/store.ts'
import { peerId } from './call-record.ts'

const LARGE_PEERS = 100
/** The time between two calls of a large store. */
export const LARGE_STEP_MS = 3_000
export const LARGE_API = `ticker@${peerId('P')}` as const
export const largePeer = (n: number): string => `${peerId('C')}${n}`

/** Rows per insert, because uncommitted rows stay in memory. */
const ROWS_AT_ONCE = 500_000

/**
 * Fills a new SQLite store with this many paid calls and their entries, the last at `endsAt`, in the same order and with the same
 * sums as a node. It bypasses the node's code, which would take an hour for ten million rows.
 */
export async function fillStore(path: string, rows: number, endsAt: number): Promise<void> {
  const store = createSqliteStore({ path })
  await store.open()
  await store.close()
  using db = new DatabaseSync(path)
  db.exec('PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF')
  const name = db.prepare('INSERT INTO names (id, name) VALUES (?, ?)')
  name.run(1, 'call')
  name.run(2, LARGE_API)
  for (let n = 0; n < LARGE_PEERS; n++) {
    name.run(1_000 + n, largePeer(n))
    name.run(2_000 + n, `receivable/${n}`)
    name.run(3_000 + n, `earned/${n}`)
  }
  const startsAt = endsAt - rows * LARGE_STEP_MS
  const insertCalls = db.prepare(`
    WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
    INSERT INTO calls (seq, peer, request_id, api, revision, outcome, status, price, charged, request_hash, at, owner_ms,
      upstream_ms, rule)
    SELECT i, 1000 + i % ${LARGE_PEERS}, unhex(printf('%012x70008%015x', ?3 + i * ${LARGE_STEP_MS}, i)), 2, 1, 'captured', 200,
      100, 100, zeroblob(32), ?3 + i * ${LARGE_STEP_MS}, 1.5, 2.5, 'success' FROM n`)
  const insertEntries = db.prepare(`
    INSERT INTO entries (seq, at, kind, call, account, contra, amount)
    SELECT seq, at, 1, seq, peer + 1000, peer + 2000, charged FROM calls WHERE seq >= ?1 AND seq <= ?2`)
  for (let first = 1; first <= rows; first += ROWS_AT_ONCE) {
    const last = Math.min(rows, first + ROWS_AT_ONCE - 1)
    db.exec('BEGIN')
    insertCalls.run(first, last, startsAt)
    insertEntries.run(first, last)
    db.exec('COMMIT')
  }
  db.exec(`
    BEGIN;
    INSERT INTO accounts SELECT account, sum(amount) FROM entries GROUP BY account;
    INSERT INTO accounts SELECT contra, -sum(amount) FROM entries GROUP BY contra;
    INSERT INTO usage SELECT api, count(*), 0, sum(price), sum(charged) FROM calls GROUP BY api;
    UPDATE sums SET through = ${rows};
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE);`)
}
