import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Clock, systemClock } from '../base/clock.ts'
import { isSoukError, SoukError } from '../base/errors.ts'
import type { Ledger } from '../interface/ledger.ts'
import type { CallLog, Documents, Store } from '../interface/store.ts'
import { type CommitQueue, createCommitQueue, storeFailed, storeNotOpen } from './commit-queue.ts'
import { sqliteBalances } from './sqlite-balances.ts'
import { sqliteCalls } from './sqlite-calls.ts'
import { preparePut, sqliteDocuments } from './sqlite-documents.ts'
import { sqliteBook, sqliteLedger } from './sqlite-ledger.ts'
import { sqliteNames } from './sqlite-names.ts'
import { migrate } from './sqlite-schema.ts'
import { sqliteTransactions } from './sqlite-transactions.ts'
import { sqliteUsage } from './sqlite-usage.ts'

export interface SqliteStoreInit {
  /** The database file, made with mode 0600 where it is missing, as its directory is with 0700. SQLite keeps a `-wal` file beside it. */
  readonly path: string
  /** Default: the system's. */
  readonly clock?: Pick<Clock, 'soon'>
  /**
   * Called once when a commit failed. What it held may have survived or not; only the disk knows, so the process must stop
   * and open the file afresh. Everything asked of the store after it rejects.
   */
  readonly onFailure?: (error: Error) => void
}

interface Session {
  readonly db: DatabaseSync
  readonly queue: CommitQueue
  readonly calls: CallLog
  readonly documents: Documents
  readonly ledger: Ledger
}

/** Result codes of SQLite, https://www.sqlite.org/rescode.html. */
const SQLITE_BUSY = 5

/**
 * One file, one process. `open` throws SoukError `internal_error` when another process has it, when it is no database of
 * Souk's, or when a newer Souk wrote it.
 */
export function createSqliteStore({ path, clock = systemClock, onFailure = () => {} }: SqliteStoreInit): Store {
  let session: Session | undefined
  const opened = (): Session => {
    if (session === undefined) throw storeNotOpen()
    if (session.queue.failed) throw storeFailed()
    return session
  }

  return {
    calls: {
      append: async (record, effects) => opened().calls.append(record, effects),
      find: async (peer, requestId) => opened().calls.find(peer, requestId),
      acknowledge: (peer, requestIds) => session?.calls.acknowledge(peer, requestIds),
      recent: async (query) => opened().calls.recent(query),
      usage: async () => opened().calls.usage(),
      dropResponses: async (before) => opened().calls.dropResponses(before)
    },
    documents: {
      get: async (collection, key) => opened().documents.get(collection, key),
      put: async (collection, key, value) => opened().documents.put(collection, key, value),
      insert: async (collection, key, value) => opened().documents.insert(collection, key, value),
      replace: async (collection, key, before, value) => opened().documents.replace(collection, key, before, value),
      delete: async (collection, key) => opened().documents.delete(collection, key),
      list: async (collection) => opened().documents.list(collection)
    },
    ledger: {
      book: async (entry, documents) => opened().ledger.book(entry, documents),
      draw: async (entry, account, documents) => opened().ledger.draw(entry, account, documents),
      balance: async (account) => opened().ledger.balance(account),
      balances: async (prefix) => opened().ledger.balances(prefix),
      entries: async (query) => opened().ledger.entries(query)
    },
    async open() {
      session ??= openSession(openDatabase(resolve(path)), clock, onFailure)
    },
    async close() {
      const closing = session
      closing?.queue.close()
      session = undefined
      closing?.db.close()
    }
  }
}

function openDatabase(path: string): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    makePrivate(path)
    db = new DatabaseSync(path)
    // Exclusive: a second process would share neither the caches here nor a group commit, so it is refused at once.
    // Full: a commit waits for the disk; without fullfsync, macOS does not wait for the disk's own cache.
    db.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      PRAGMA checkpoint_fullfsync = ON;
      PRAGMA foreign_keys = ON;`)
    migrate(db)
    return db
  } catch (error) {
    if (db?.isOpen === true) db.close()
    if (isSoukError(error)) throw error
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
    throw new SoukError('internal_error', `The store cannot be opened${isBusy ? ': another process uses it.' : '.'}`, {
      cause: error
    })
  }
}

/** SQLite gives its `-wal` file the mode of the database. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // By name once it exists: closing any descriptor of the file would drop the lock of a store that this process has open on it.
  if (existsSync(path)) chmodSync(path, 0o600)
  else closeSync(openSync(path, 'wx', 0o600))
}

function openSession(db: DatabaseSync, clock: Pick<Clock, 'soon'>, onFailure: (error: Error) => void): Session {
  const names = sqliteNames(db)
  const usage = sqliteUsage(db)
  const balances = sqliteBalances(db)
  const transactions = sqliteTransactions(db, {
    beforeCommit() {
      usage.write()
      balances.write()
    },
    afterRollback() {
      usage.forget()
      balances.forget()
      names.forget()
    },
    afterSavepointRollback: () => names.forget()
  })
  const queue = createCommitQueue({ clock, transactions, onFailure })
  const putDocuments = preparePut(db)
  const book = sqliteBook(db, names, balances, putDocuments)
  return {
    db,
    queue,
    calls: sqliteCalls({ db, queue, names, usage, book, putDocuments }),
    documents: sqliteDocuments(db, queue, putDocuments),
    ledger: sqliteLedger({ db, queue, book, balances })
  }
}
