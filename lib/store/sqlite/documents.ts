import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Documents } from '../../interface/store.ts'
import type { CommitQueue } from '../commit-queue.ts'

/** The approximate size of a deleted document. */
const ROW_BYTES = 512

export const sizeOf = (documents: readonly DocumentPut[]): number =>
  documents.reduce((sum, { value }) => sum + value.length, 0)

/** Puts documents in the running transaction. */
export type PutDocuments = (documents: readonly DocumentPut[]) => void

export function preparePut(db: DatabaseSync): PutDocuments {
  const upsert = db.prepare(
    `INSERT INTO documents (collection, key, value, expires_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (collection, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`
  )
  return (documents) => {
    for (const { collection, key, value, expiresAt } of documents) upsert.run(collection, key, value, expiresAt ?? null)
  }
}

export function sqliteDocuments(db: DatabaseSync, queue: CommitQueue, put: PutDocuments): Documents {
  const select = db.prepare('SELECT value FROM documents WHERE collection = ? AND key = ?')
  const selectAll = db.prepare('SELECT key, value FROM documents WHERE collection = ? ORDER BY key')
  const selectLast = db.prepare('SELECT key, value FROM documents WHERE collection = ? ORDER BY key DESC LIMIT ?')
  const selectBefore = db.prepare(
    'SELECT key, value FROM documents WHERE collection = ? AND key < ? ORDER BY key DESC LIMIT ?'
  )
  const insert = db.prepare(
    'INSERT INTO documents (collection, key, value, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT (collection, key) DO NOTHING'
  )
  const update = db.prepare(
    'UPDATE documents SET value = ?, expires_at = ? WHERE collection = ? AND key = ? AND value = ?'
  )
  const remove = db.prepare('DELETE FROM documents WHERE collection = ? AND key = ?')
  const trim = db.prepare(
    `DELETE FROM documents WHERE rowid IN (
       SELECT rowid FROM documents WHERE collection = ? AND key < ? ORDER BY key LIMIT ?)`
  )
  const sweep = db.prepare(
    `DELETE FROM documents WHERE rowid IN (
       SELECT rowid FROM documents WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`
  )

  return {
    async get(collection, key) {
      return select.get(collection, key)?.['value'] as string | undefined
    },
    async put(collection, key, value) {
      await queue.write(value.length, () => put([{ collection, key, value }]))
    },
    async insert(collection, key, value, expiresAt) {
      return queue.write(value.length, () => insert.run(collection, key, value, expiresAt ?? null).changes === 1)
    },
    async replace(collection, key, before, value, expiresAt) {
      return queue.write(
        value.length,
        () => update.run(value, expiresAt ?? null, collection, key, before).changes === 1
      )
    },
    async delete(collection, key) {
      return queue.write(key.length, () => remove.run(collection, key).changes === 1)
    },
    async last(collection, { before, limit }) {
      const most = Math.max(0, Math.floor(limit))
      const rows = before === undefined ? selectLast.all(collection, most) : selectBefore.all(collection, before, most)
      return rows.map(toDocument)
    },
    async list(collection) {
      return selectAll.all(collection).map(toDocument)
    },
    async putAll(documents) {
      await queue.write(sizeOf(documents), () => put(documents))
    },
    async trim(collection, before, limit) {
      return queue.write(limit * ROW_BYTES, () => Number(trim.run(collection, before, limit).changes))
    },
    async sweep(now, limit) {
      return queue.write(limit * ROW_BYTES, () => Number(sweep.run(now, limit).changes))
    }
  }
}

function toDocument(row: Record<string, SQLOutputValue>): { key: string; value: string } {
  return { key: row['key'] as string, value: row['value'] as string }
}
