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
  /** Calls back when all that was committed before is durable: never in the same turn, and the process goes on meanwhile. */
  readonly sync: (done: (error: Error | null) => void) => void
  close(): void
}

interface Opened {
  db?: DatabaseSync
  /** Descriptor of its write-ahead log. It stays the same file while the database is open. */
  wal?: number
}

/** Opens a file for `use`, and closes what was opened where that throws. @throws StoreBroken */
export function openSqliteFile<T>(path: string, use: (database: SqliteDatabase) => T): T {
  const opened: Opened = {}
  try {
    return use(openDatabase(path, opened))
  } catch (error) {
    if (opened.wal !== undefined) closeSync(opened.wal)
    if (opened.db?.isOpen === true) opened.db.close()
    if (isSoukError(error)) throw error
    // Statements that this version prepares on its own tables can fail for no other reason.
    const fault = faultOf(error) ?? (isOfSqlite(error) ? 'damaged' : 'failing')
    throw new StoreBroken(fault, `The store cannot be opened${fault === 'busy' ? ': another process uses it.' : '.'}`, {
      cause: error
    })
  }
}

/** Open, up to date, and on disk. */
function openDatabase(path: string, opened: Opened): SqliteDatabase {
  makePrivate(path)
  const db = (opened.db = new DatabaseSync(path))
  // Exclusive: a second process would share neither the caches here nor a group commit, so it is refused at once.
  const mode = db.prepare('PRAGMA locking_mode = EXCLUSIVE').get() && db.prepare('PRAGMA journal_mode = WAL').get()
  if (mode?.['journal_mode'] !== 'wal') throw new Error('the file system takes no write-ahead log')
  // Normal: SQLite waits for the disk where it moves its log into the database, and the queue after each commit. It is what
  // `FULL` does, but for the process, which goes on meanwhile. Without fullfsync, macOS does not wait for the disk's own cache.
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
      // Before the database, which removes the log.
      closeSync(wal)
      db.close()
    }
  }
}

/** A database that ends with the object: no file, no disk to wait for, and `close` keeps its contents. */
export function openSqliteMemory(): SqliteDatabase {
  const db = new DatabaseSync(':memory:')
  db.exec('PRAGMA foreign_keys = ON')
  migrate(db)
  return { db, sync: (done) => queueMicrotask(() => done(null)), close: () => {} }
}

/** SQLite gives its `-wal` file the mode of the database. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // By name once it exists: closing any descriptor of the file would drop the lock of a store that this process has open on it.
  if (existsSync(path)) chmodSync(path, 0o600)
  else closeSync(openSync(path, 'wx', 0o600))
}
