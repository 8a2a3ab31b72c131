import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { RESPONSES_DROPPED_AT_ONCE } from '../../base/limits/store.ts'
import type { ClaimLog, ClaimMark, KnownClaim } from '../../interface/store.ts'
import type { CommitQueue } from '../commit-queue.ts'
import { SELECT_RECORDS } from '../call-select.ts'
import { toCallRecord } from './call-row.ts'
import type { Names } from './names.ts'

const ROW_BYTES = 128
/** A time later than that of every claim. */
const ANY_AGE = Number.MAX_SAFE_INTEGER

export function sqliteClaims(db: DatabaseSync, queue: CommitQueue, names: Names): ClaimLog {
  const insert = db.prepare(`
    INSERT INTO claims (name, holder, epoch, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO UPDATE SET
    holder = excluded.holder, epoch = excluded.epoch, at = excluded.at, request_hash = NULL, call = NULL
    WHERE claims.at < ?5`)
  const select = db.prepare(
    'SELECT n.name AS holder, epoch, at, request_hash, call FROM claims JOIN names n ON n.id = holder WHERE claims.name = ?'
  )
  const selectCall = db.prepare(`${SELECT_RECORDS} WHERE c.seq = ?`)
  for (const statement of [select, selectCall]) statement.setReadBigInts(true)
  const remove = db.prepare('DELETE FROM claims WHERE name = ?')
  // Finds the newest claim beyond the limit; it and all older ones are deleted.
  const selectPast = db.prepare('SELECT at FROM claims ORDER BY at DESC LIMIT 1 OFFSET ?')
  const removeOld = db.prepare(
    'DELETE FROM claims WHERE name IN (SELECT name FROM claims WHERE at < ? ORDER BY at LIMIT ?)'
  )

  const known = (name: Uint8Array): KnownClaim | undefined => {
    const row = select.get(name)
    if (row === undefined) return undefined
    const call = row['call'] === null ? undefined : selectCall.get(row['call'] ?? null)
    return toClaim(name, row, call)
  }
  return {
    take({ name, holder, epoch, at }, expired) {
      const own = Uint8Array.from(name)
      return queue.write(ROW_BYTES, () =>
        insert.run(own, names.idOf(holder), epoch, at, expired).changes === 1 ? undefined : known(own)
      )
    },
    async put({ name, holder, epoch, at }) {
      const own = Uint8Array.from(name)
      await queue.write(ROW_BYTES, () => insert.run(own, names.idOf(holder), epoch, at, ANY_AGE))
    },
    async free(name) {
      const own = Uint8Array.from(name)
      await queue.write(ROW_BYTES, () => remove.run(own))
    },
    async drop(before, most) {
      const past = selectPast.get(most)
      const cutoff = Math.max(before, past === undefined ? 0 : Number(past['at']) + 1)
      for (let dropped = 0; ; ) {
        const slice = await queue.write(RESPONSES_DROPPED_AT_ONCE * ROW_BYTES, () =>
          Number(removeOld.run(cutoff, RESPONSES_DROPPED_AT_ONCE).changes)
        )
        dropped += slice
        if (slice < RESPONSES_DROPPED_AT_ONCE) return dropped
      }
    }
  }
}

/** Writes the outcome of a claim, in the transaction of its call. */
export function prepareSettle(db: DatabaseSync): (mark: ClaimMark, at: number, call: number | bigint) => void {
  const answer = db.prepare('UPDATE claims SET request_hash = ?, call = ?, at = ? WHERE name = ?')
  const remove = db.prepare('DELETE FROM claims WHERE name = ?')
  return ({ name, requestHash }, at, call) => {
    if (requestHash === undefined) remove.run(name)
    else answer.run(requestHash, call, at, name)
  }
}

type Row = Record<string, SQLOutputValue>

function toClaim(name: Uint8Array, row: Row, call: Row | undefined): KnownClaim {
  const claim = { name, holder: row['holder'] as string, epoch: row['epoch'] as bigint, at: Number(row['at']) }
  if (call === undefined) return claim
  return { ...claim, answered: { requestHash: row['request_hash'] as Uint8Array, record: toCallRecord(call) } }
}
