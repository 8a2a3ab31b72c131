import type { ClientBase } from 'pg'
import { text, utf8 } from '../../base/bytes.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Documents } from '../../interface/store.ts'
import type { PostgresQueue } from './queue.ts'
import type { Writer } from './transaction.ts'
import type { PostgresReads } from './reads.ts'

const bytes = (value: string): Buffer => Buffer.from(utf8(value))

/** Puts documents in the running transaction. Of several with one key, the last one counts. */
export async function putDocuments(db: ClientBase, documents: readonly DocumentPut[]): Promise<void> {
  if (documents.length === 0) return
  const last = new Map(documents.map((put) => [JSON.stringify([put.collection, put.key]), put]))
  // In key order, so that two processes never wait for each other's rows.
  const puts = [...last].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, put]) => put)
  await db.query({
    name: 'put-documents',
    text: `INSERT INTO documents (collection, key, value, expires_at)
           SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[])
           ON CONFLICT (collection, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
    values: [
      puts.map(({ collection }) => bytes(collection)),
      puts.map(({ key }) => bytes(key)),
      puts.map(({ value }) => bytes(value)),
      puts.map(({ expiresAt }) => expiresAt ?? null)
    ]
  })
}

const puts: Writer<DocumentPut, void> = {
  isBlind: true,
  async run(db, items) {
    await putDocuments(db, items)
    return items.map(() => undefined)
  }
}

const inserts: Writer<DocumentPut, boolean> = {
  run: (db, items) =>
    oneByOne(items, async ({ collection, key, value, expiresAt }) => {
      const { rowCount } = await db.query(
        `INSERT INTO documents (collection, key, value, expires_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (collection, key) DO NOTHING`,
        [bytes(collection), bytes(key), bytes(value), expiresAt ?? null]
      )
      return rowCount === 1
    })
}

const replacements: Writer<DocumentPut & { readonly before: string }, boolean> = {
  run: (db, items) =>
    oneByOne(items, async ({ collection, key, before, value, expiresAt }) => {
      const { rowCount } = await db.query(
        'UPDATE documents SET value = $1, expires_at = $5 WHERE collection = $2 AND key = $3 AND value = $4',
        [bytes(value), bytes(collection), bytes(key), bytes(before), expiresAt ?? null]
      )
      return rowCount === 1
    })
}

const deletions: Writer<Pick<DocumentPut, 'collection' | 'key'>, boolean> = {
  isBlind: true,
  run: (db, items) =>
    oneByOne(items, async ({ collection, key }) => {
      const { rowCount } = await db.query('DELETE FROM documents WHERE collection = $1 AND key = $2', [
        bytes(collection),
        bytes(key)
      ])
      return rowCount === 1
    })
}

const groups: Writer<readonly DocumentPut[], void> = {
  async run(db, items) {
    await putDocuments(db, items.flat())
    return items.map(() => undefined)
  }
}

const trims: Writer<{ readonly collection: string; readonly before: string; readonly limit: number }, number> = {
  run: (db, items) =>
    oneByOne(items, async ({ collection, before, limit }) => {
      const { rowCount } = await db.query(
        `DELETE FROM documents WHERE collection = $1 AND key IN (
           SELECT key FROM documents WHERE collection = $1 AND key < $2 ORDER BY key LIMIT $3)`,
        [bytes(collection), bytes(before), limit]
      )
      return rowCount ?? 0
    })
}

const sweeps: Writer<{ readonly now: number; readonly limit: number }, number> = {
  run: (db, items) =>
    oneByOne(items, async ({ now, limit }) => {
      const { rowCount } = await db.query(
        `DELETE FROM documents WHERE (collection, key) IN (
           SELECT collection, key FROM documents WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
        [now, limit]
      )
      return rowCount ?? 0
    })
}

/** The approximate size of a deleted document. */
const ROW_BYTES = 512

export const sizeOf = (documents: readonly DocumentPut[]): number =>
  documents.reduce((sum, { value }) => sum + value.length, 0)

export function postgresDocuments(reads: PostgresReads, queue: PostgresQueue): Documents {
  return {
    async get(collection, key) {
      const { rows } = await reads.query<{ value: Buffer }>({
        name: 'get-document',
        text: 'SELECT value FROM documents WHERE collection = $1 AND key = $2',
        values: [bytes(collection), bytes(key)]
      })
      return rows[0] && text(rows[0].value)
    },
    put: (collection, key, value) => queue.write(puts, { collection, key, value }, value.length),
    insert: (collection, key, value, expiresAt) =>
      queue.write(inserts, { collection, key, value, expiresAt }, value.length),
    replace: (collection, key, before, value, expiresAt) =>
      queue.write(replacements, { collection, key, before, value, expiresAt }, value.length),
    delete: (collection, key) => queue.write(deletions, { collection, key }, key.length),
    async last(collection, { before, limit }) {
      const until = before === undefined ? '' : 'AND key < $3'
      const values = [
        bytes(collection),
        Math.max(0, Math.floor(limit)),
        ...(before === undefined ? [] : [bytes(before)])
      ]
      const { rows } = await reads.query<{ key: Buffer; value: Buffer }>(
        `SELECT key, value FROM documents WHERE collection = $1 ${until} ORDER BY key DESC LIMIT $2`,
        values
      )
      return rows.map(({ key, value }) => ({ key: text(key), value: text(value) }))
    },
    async list(collection) {
      const { rows } = await reads.query<{ key: Buffer; value: Buffer }>(
        'SELECT key, value FROM documents WHERE collection = $1 ORDER BY key',
        [bytes(collection)]
      )
      return rows.map(({ key, value }) => ({ key: text(key), value: text(value) }))
    },
    putAll: (documents) => queue.write(groups, documents, sizeOf(documents)),
    trim: (collection, before, limit) => queue.write(trims, { collection, before, limit }, limit * ROW_BYTES),
    sweep: (now, limit) => queue.write(sweeps, { now, limit }, limit * ROW_BYTES)
  }
}

async function oneByOne<I, O>(items: readonly I[], run: (item: I) => Promise<O>): Promise<O[]> {
  const results: O[] = []
  for (const item of items) results.push(await run(item))
  return results
}
