import { chmodSync, closeSync, existsSync, fdatasync, fdatasyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isSoukError } from '../../base/errors.ts'
import { SQLITE_CACHE_BYTES } from '../../base/limits/store.ts'
import { faultOf, isOfSqlite, StoreBroken } from './errors.ts'
import { migrate } from './schema.ts'

/** An open database with the current schema. */
export interface SqliteDatabase {
  readonly db: DatabaseSync
  /** Calls back when all earlier commits are durable: never in the same turn, and without blocking the process. */
  readonly sync: (done: (error: Error | null) => void) => void
  close(): void
}

interface Opened {
  db?: DatabaseSync
  /** The descriptor of the write-ahead log. It refers to the same file while the database is open. */
  wal?: number
}

/** Opens a file and passes it to `use`. If `use` throws, the file is closed. @throws StoreBroken */
export function openSqliteFile<T>(path: string, use: (database: SqliteDatabase) => T): T {
  const opened: Opened = {}
  try {
    return use(openDatabase(path, opened))
  } catch (error) {
    if (opened.wal !== undefined) closeSync(opened.wal)
    if (opened.db?.isOpen === true) opened.db.close()
    if (isSoukError(error)) throw error
    // The statements that this version prepares on its own tables cannot fail for another reason.
    const fault = faultOf(error) ?? (isOfSqlite(error) ? 'damaged' : 'failing')
    throw new StoreBroken(fault, `The store cannot be opened${fault === 'busy' ? ': another process uses it.' : '.'}`, {
      cause: error
    })
  }
}

/** Opens the database, migrates it to the current schema, and syncs it to disk. */
function openDatabase(path: string, opened: Opened): SqliteDatabase {
  makePrivate(path)
  const db = (opened.db = new DatabaseSync(path))
  // Exclusive, because the caches and the group commit work for one process only. A second process gets an error at once.
  const mode = db.prepare('PRAGMA locking_mode = EXCLUSIVE').get() && db.prepare('PRAGMA journal_mode = WAL').get()
  if (mode?.['journal_mode'] !== 'wal') throw new Error('the file system takes no write-ahead log')
  // With `NORMAL`, SQLite syncs when it moves its log into the database, and the commit queue syncs after each commit. That is as
  // durable as `FULL`, but does not block the process. Without `fullfsync`, macOS does not wait for the cache of the disk.
  db.exec(`
    PRAGMA synchronous = NORMAL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA foreign_keys = ON;
    PRAGMA cache_size = ${-SQLITE_CACHE_BYTES / 1024};`)
  migrate(db)
  const wal = (opened.wal = openSync(`${path}-wal`, 'r+'))
  fdatasyncSync(wal)
  return {
    db,
    sync: (done) => fdatasync(wal, done),
    close() {
      // Closed before the database, because closing the database removes the log.
      closeSync(wal)
      db.close()
    }
  }
}

/** A database in memory. It has no file and needs no sync. Its contents live as long as the object, also after `close`. */
export function openSqliteMemory(): SqliteDatabase {
  const db = new DatabaseSync(':memory:')
  db.exec('PRAGMA foreign_keys = ON')
  migrate(db)
  return { db, sync: (done) => queueMicrotask(() => done(null)), close: () => {} }
}

/** Makes the file private before SQLite opens it. SQLite gives its `-wal` file the same mode. */
function makePrivate(path: string): void {
  makeDirectory(dirname(path))
  // An existing file is changed by name: closing a descriptor of it would release the lock of a store that this process has open.
  if (existsSync(path)) chmodSync(path, 0o600)
  else closeSync(openSync(path, 'wx', 0o600))
}

/** Not by `recursive`: Node.js then tries for ever where the system answers ENOENT although the parent exists, as below `/proc`. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it since.
    if (!existsSync(path)) throw error
  }
}
