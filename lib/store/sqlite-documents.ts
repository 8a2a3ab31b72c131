import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { DocumentPut } from '../interface/ledger.ts'
import type { Documents } from '../interface/store.ts'
import type { CommitQueue } from './commit-queue.ts'

/** Puts documents within the running transaction. */
export type PutDocuments = (documents: readonly DocumentPut[]) => void

export function preparePut(db: DatabaseSync): PutDocuments {
  const upsert = db.prepare(
    `INSERT INTO documents (collection, key, value) VALUES (?, ?, ?)
     ON CONFLICT (collection, key) DO UPDATE SET value = excluded.value`
  )
  return (documents) => {
    for (const { collection, key, value } of documents) upsert.run(collection, key, value)
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
    'INSERT INTO documents (collection, key, value) VALUES (?, ?, ?) ON CONFLICT (collection, key) DO NOTHING'
  )
  const update = db.prepare('UPDATE documents SET value = ? WHERE collection = ? AND key = ? AND value = ?')
  const remove = db.prepare('DELETE FROM documents WHERE collection = ? AND key = ?')

  return {
    async get(collection, key) {
      return select.get(collection, key)?.['value'] as string | undefined
    },
    async put(collection, key, value) {
      await queue.write(value.length, () => put([{ collection, key, value }]))
    },
    async insert(collection, key, value) {
      return queue.write(value.length, () => insert.run(collection, key, value).changes === 1)
    },
    async replace(collection, key, before, value) {
      return queue.write(value.length, () => update.run(value, collection, key, before).changes === 1)
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
    }
  }
}

function toDocument(row: Record<string, SQLOutputValue>): { key: string; value: string } {
  return { key: row['key'] as string, value: row['value'] as string }
}
