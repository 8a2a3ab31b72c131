import { systemClock } from '../../base/clock.ts'
import { STORED_BYTES_MAX } from '../../base/limits/store.ts'
import type { Store } from '../../interface/store.ts'
import { openSqliteMemory, type SqliteDatabase } from '../sqlite/file.ts'
import { databaseStore, type SqliteStoreInit } from '../sqlite/store.ts'

export type MemoryStoreInit = Pick<SqliteStoreInit, 'storedBytesMax'>

/**
 * A store for tests and short-lived nodes: an SQLite database in memory. Its contents live as long as the object, also over `close` and
 * the next `open`.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from 'souk'
 *
 * const store = createMemoryStore()
 * await store.open()
 * await store.documents.put('colours', 'sky', '"blue"')
 * console.log(await store.documents.get('colours', 'sky')) // "blue"
 * await store.close()
 * ```
 */
export function createMemoryStore({ storedBytesMax = STORED_BYTES_MAX }: MemoryStoreInit = {}): Store {
  let database: SqliteDatabase | undefined
  // There is no disk, so each write is committed in the turn that requests it.
  const clock = { soon: queueMicrotask, elapsed: () => systemClock.elapsed() }
  const open = <T>(use: (database: SqliteDatabase) => T): T => use((database ??= openSqliteMemory()))
  return databaseStore({ clock, onFailure: () => {}, storedBytesMax, open })
}
