import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { ComponentLogger, Logger } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { checkMembers, COUNT, FUNCTION, LOGGER, type MemberRules, TEXT, withMethods } from '../../base/check-members.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { logOf } from '../../base/component-log.ts'
import { STORE_FREE_BYTES_MIN, STORED_BYTES_MAX } from '../../base/limits/store.ts'
import type { Ledger } from '../../interface/ledger.ts'
import type { ListingIndex } from '../../interface/listing-index.ts'
import type { CallLog, ClaimLog, Documents, Retention, Store } from '../../interface/store.ts'
import { FreeSpace } from '../free-space.ts'
import { listingsOf } from '../listings-of.ts'
import { type CommitQueue, createCommitQueue, storeFailed, storeNotOpen } from '../commit-queue.ts'
import { backUp } from './backup.ts'
import { sqliteBalances } from './balances.ts'
import { sqliteCalls } from './calls.ts'
import { sqliteClaims } from './claims.ts'
import { preparePut, sqliteDocuments } from './documents.ts'
import { sqliteBook, sqliteLedger } from './ledger.ts'
import { faultOf } from './errors.ts'
import { openSqliteFile, type SqliteDatabase } from './file.ts'
import { sqliteListings } from './listings.ts'
import { sqliteNames } from './names.ts'
import { sqliteRetention } from './retention.ts'
import { sqliteStagedCalls, type StagedCalls } from './staged-calls.ts'
import { sqliteStoredBytes, type StoredBytes } from './stored-bytes.ts'
import { sqliteTransactions } from './transactions.ts'
import { sqliteUsage } from './usage.ts'

export interface SqliteStoreInit {
  /**
   * The database file. A missing file is created with mode 0600, its directory with 0700. SQLite keeps a `-wal` file beside it.
   */
  readonly path: string
  /**
   * The maximum total bytes of stored responses. Above it, calls are recorded without their responses. Default
   * `STORED_BYTES_MAX`.
   */
  readonly storedBytesMax?: number
  /** Default: the system's. */
  readonly clock?: Pick<Clock, 'soon' | 'after' | 'elapsed'>
  /** Default: that of `@libp2p/logger`, which the environment variable `DEBUG` turns on. */
  readonly logger?: ComponentLogger
  /**
   * The minimum free space on the disk. Below it, the node accepts no new work, see `Store.refusal`. Default:
   * `STORE_FREE_BYTES_MIN`.
   */
  readonly freeBytesMin?: number
  /**
   * Called once when a commit failed. Its outcome is unknown until the file is read again, so the process must stop and reopen
   * the file. All later operations of the store reject.
   */
  readonly onFailure?: (error: Error) => void
}

interface Session {
  readonly database: SqliteDatabase
  readonly queue: CommitQueue
  readonly staged: StagedCalls
  readonly calls: CallLog
  readonly claims: ClaimLog
  readonly documents: Documents
  readonly ledger: Ledger
  readonly listings: ListingIndex
  readonly retention: Retention
  backUp(path: string): Promise<void>
  /** Running backups: the database stays open for them. */
  readonly backups: ReadonlySet<Promise<void>>
  readonly space?: FreeSpace
}

const RULES: MemberRules<SqliteStoreInit> = {
  path: TEXT,
  storedBytesMax: COUNT,
  clock: withMethods('a clock', 'soon', 'after', 'elapsed'),
  logger: LOGGER,
  freeBytesMin: COUNT,
  onFailure: FUNCTION
}

/**
 * One file, one process. `open` throws `StoreBroken`, a SoukError `internal_error` with the `fault`, when another process has it, when it
 * is no database of Souk's, or when a newer Souk wrote it.
 * @throws SoukError `invalid_request` for an option of a wrong name or type
 *
 * @example
 * ```ts
 * import { mkdtemp, rm } from 'node:fs/promises'
 * import { tmpdir } from 'node:os'
 * import { join } from 'node:path'
 * import { createNode, createSqliteStore } from 'souk'
 *
 * const folder = await mkdtemp(join(tmpdir(), 'souk-'))
 * const store = createSqliteStore({ path: join(folder, 'node.db') })
 * const node = await createNode({ store })
 * await node.start()
 * console.log(await node.souk.store.calls.usage()) // []
 * await node.stop()
 * await rm(folder, { recursive: true })
 * ```
 */
export function createSqliteStore(init: SqliteStoreInit): Store {
  checkMembers('The options of `createSqliteStore`', init, RULES, ['path'])
  const { clock = systemClock, onFailure = () => {}, storedBytesMax = STORED_BYTES_MAX } = init
  const { freeBytesMin: bytesMin = STORE_FREE_BYTES_MIN, logger = defaultLogger() } = init
  const path = resolve(init.path)
  return databaseStore({
    clock,
    onFailure,
    storedBytesMax,
    log: logOf(logger, 'souk:store'),
    open: (use) => openSqliteFile(path, use),
    watch: () => new FreeSpace({ directory: dirname(path), bytesMin, clock })
  })
}

/** The differences between a store in a file and one in memory. */
export interface DatabaseStoreInit extends SessionInit {
  /** Opens the database and passes it to `use`. If `use` throws, the database is closed. */
  readonly open: <T>(use: (database: SqliteDatabase) => T) => T
  /** Absent for a store that does not use a disk. */
  readonly watch?: () => FreeSpace
}

/** A store over one database. Used by `createSqliteStore` and `createMemoryStore`. */
export function databaseStore({ open, watch, ...init }: DatabaseStoreInit): Store {
  let session: Session | undefined
  let closing: Promise<void> | undefined
  const opened = (): Session => {
    if (session === undefined) throw storeNotOpen()
    const { failure } = session.queue
    if (failure !== undefined) throw failure
    return session
  }
  /** The result may come from a commit that is not durable yet, so it is returned only after that. */
  const read = async <T>(look: (session: Session) => T): Promise<Awaited<T>> => {
    const from = opened()
    let found: Awaited<T>
    try {
      found = await look(from)
    } catch (error) {
      // An inconsistent or unreadable page is as serious as a failed commit.
      if (faultOf(error) === undefined) throw error
      from.queue.fail(error)
      throw storeFailed(error)
    }
    const settling = from.queue.settled()
    if (settling !== undefined) await settling
    return found
  }
  /** The session once no call is staged. */
  const unstaged = async (): Promise<Session> => {
    const session = opened()
    await unstage(session)
    return session
  }

  return {
    calls: {
      append: (...args) => append(opened, ...args),
      find: (peer, requestId) => read(({ calls }) => calls.find(peer, requestId)),
      acknowledge: (peer, requestIds) => session?.calls.acknowledge(peer, requestIds),
      recent: async (query) => {
        await unstaged()
        return read(({ calls }) => calls.recent(query))
      },
      usage: () => read(({ calls }) => calls.usage()),
      dropResponses: async (before) => (await unstaged()).calls.dropResponses(before)
    },
    claims: {
      take: async (claim, expired) => opened().claims.take(claim, expired),
      put: async (claim) => opened().claims.put(claim),
      free: async (name) => opened().claims.free(name),
      drop: async (before, most) => opened().claims.drop(before, most)
    },
    documents: {
      get: (collection, key) => read(({ documents }) => documents.get(collection, key)),
      put: async (collection, key, value) => opened().documents.put(collection, key, value),
      insert: async (...document) => opened().documents.insert(...document),
      replace: async (...document) => opened().documents.replace(...document),
      delete: async (collection, key) => opened().documents.delete(collection, key),
      last: (collection, query) => read(({ documents }) => documents.last(collection, query)),
      list: (collection) => read(({ documents }) => documents.list(collection)),
      putAll: async (documents) => opened().documents.putAll(documents),
      trim: async (collection, before, limit) => opened().documents.trim(collection, before, limit),
      sweep: async (now, limit) => opened().documents.sweep(now, limit)
    },
    ledger: {
      book: async (entry, documents) => opened().ledger.book(entry, documents),
      draw: async (entry, account, documents) => opened().ledger.draw(entry, account, documents),
      balance: (account) => read(({ ledger }) => ledger.balance(account)),
      balances: (prefix) => read(({ ledger }) => ledger.balances(prefix)),
      carried: (prefix) => read(({ ledger }) => ledger.carried(prefix)),
      entries: async (query) => {
        await unstaged()
        return read(({ ledger }) => ledger.entries(query))
      }
    },
    retention: { trim: async (rules) => (await unstaged()).retention.trim(rules) },
    // Catalogue writes by other publishers; no response depends on their durability.
    listings: listingsOf(() => opened().listings),
    backUp: async (path) => opened().backUp(path),
    refusal: () => session?.space?.refusal,
    async open() {
      if (closing !== undefined) await closing
      if (session !== undefined) return
      const space = watch?.()
      session = { ...open((database) => openSession(database, init)), ...(space && { space }) }
      await space?.start()
    },
    async close() {
      if (session !== undefined) closing = closeSession(session)
      session = undefined
      await closing
    }
  }
}

/** Not async, because each call waits for it. */
function append(opened: () => Session, ...args: Parameters<CallLog['append']>): Promise<void> {
  try {
    return opened().calls.append(...args)
  } catch (error) {
    return Promise.reject(error)
  }
}

interface SessionInit extends Required<Pick<SqliteStoreInit, 'onFailure' | 'storedBytesMax'>> {
  readonly clock: Pick<Clock, 'soon' | 'elapsed'>
  /** Default: none. */
  readonly log?: Logger
}

function openSession(database: SqliteDatabase, { clock, onFailure, storedBytesMax, log }: SessionInit): Session {
  const { db } = database
  const names = sqliteNames(db)
  const stored = sqliteStoredBytes(db, storedBytesMax)
  const staged = sqliteStagedCalls(db, names, stored)
  // The sums below are computed from the tables.
  moveAll(db, staged, stored)
  const usage = sqliteUsage(db)
  const balances = sqliteBalances(db)
  const transactions = sqliteTransactions(database, {
    beforeCommit() {
      staged.write(usage.isDue || balances.isDue)
      usage.write()
      balances.write()
      stored.write()
    },
    afterCommit() {
      staged.keep()
      usage.keep()
      balances.keep()
    },
    afterRollback() {
      staged.forget()
      usage.forget()
      balances.forget()
      stored.forget()
      names.forget()
    },
    afterSavepointRollback: () => names.forget()
  })
  const queue = createCommitQueue({ clock, transactions, onFailure, ...(log && { log }) })
  const putDocuments = preparePut(db)
  const book = sqliteBook({ db, names, balances, staged, putDocuments })
  const backups = new Set<Promise<void>>()
  return {
    database,
    queue,
    staged,
    calls: sqliteCalls({ db, queue, names, usage, balances, stored, staged, book, putDocuments }),
    claims: sqliteClaims(db, queue, names),
    documents: sqliteDocuments(db, queue, putDocuments),
    ledger: sqliteLedger({ db, queue, book, balances }),
    listings: sqliteListings(db, queue),
    retention: sqliteRetention({ db, queue, names, usage, balances }),
    backups,
    async backUp(path) {
      const written = backUp(db, path)
      backups.add(written)
      try {
        await written
      } finally {
        backups.delete(written)
      }
    }
  }
}

/** Moves calls that an earlier process staged. */
function moveAll(db: DatabaseSync, staged: StagedCalls, stored: StoredBytes): void {
  db.exec('BEGIN IMMEDIATE')
  staged.write(true)
  stored.write()
  db.exec('COMMIT')
}

/** Moves the staged calls to their tables, so that a query finds them. */
async function unstage({ queue, staged }: Pick<Session, 'queue' | 'staged'>): Promise<void> {
  if (staged.size > 0) await queue.write(0, () => staged.settle())
}

async function closeSession(session: Session): Promise<void> {
  const { database, queue, backups, space } = session
  space?.stop()
  await Promise.allSettled(backups)
  // After a failure, the next process moves them.
  const moved = queue.failure !== undefined ? undefined : unstage(session).catch(() => undefined)
  await queue.close()
  await moved
  try {
    database.close()
  } catch (error) {
    // The earlier failure has been reported, and everything that was acknowledged is on disk.
    if (queue.failure === undefined) throw error
  }
}
