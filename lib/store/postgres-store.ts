import type { Pool, PoolClient } from 'pg'
import { type Clock, systemClock } from '../base/clock.ts'
import { isSoukError, SoukError } from '../base/errors.ts'
import { POSTGRES_CONNECT_MS, POSTGRES_CONNECTIONS_MAX, STORED_BYTES_MAX } from '../base/limits.ts'
import type { Ledger } from '../interface/ledger.ts'
import type { ListingIndex } from '../interface/listing-index.ts'
import type { CallLog, ClaimLog, Documents, Retention, Store } from '../interface/store.ts'
import { storeFailed, storeNotOpen } from './commit-queue.ts'
import { listingsOf } from './listings-of.ts'
import { postgresCalls } from './postgres-calls.ts'
import { postgresClaims } from './postgres-claims.ts'
import { postgresDocuments } from './postgres-documents.ts'
import { postgresLedger } from './postgres-ledger.ts'
import { postgresListings } from './postgres-listings.ts'
import { postgresNames } from './postgres-names.ts'
import { postgresRetention } from './postgres-retention.ts'
import { PostgresSignals } from './postgres-signals.ts'
import { createPostgresQueue, type PostgresQueue } from './postgres-queue.ts'
import { migratePostgres } from './postgres-schema.ts'

export interface PostgresStoreInit {
  /** `postgres://user:password@host/database`, with `sslmode` and the like as PostgreSQL's own clients take them. */
  readonly url: string
  /** Bytes of stored responses: past it calls are answered and recorded without. Default `STORED_BYTES_MAX`. */
  readonly storedBytesMax?: number
  /** Default: the system's. */
  readonly clock?: Pick<Clock, 'soon' | 'after'>
  /**
   * Called once when a commit failed or the connection that writes is lost. What was being committed may have survived or not;
   * only the database knows, so the process must stop and start afresh. Everything asked of the store after it rejects.
   */
  readonly onFailure?: (error: Error) => void
}

interface Session {
  readonly pool: Pool
  readonly writer: PoolClient
  readonly queue: PostgresQueue
  readonly calls: CallLog
  readonly claims: ClaimLog
  readonly documents: Documents
  readonly ledger: Ledger
  readonly signals: PostgresSignals
  readonly listings: ListingIndex
  readonly retention: Retention
}

/**
 * For several processes that share accounts, quotas or an owner's books. `open` throws SoukError `internal_error` when the
 * database cannot be reached, or when a newer Souk made its tables.
 */
export function createPostgresStore(init: PostgresStoreInit): Store {
  const { url, clock = systemClock, onFailure = () => {}, storedBytesMax = STORED_BYTES_MAX } = init
  let session: Session | undefined
  const opened = (): Session => {
    if (session === undefined) throw storeNotOpen()
    if (session.queue.failed) throw storeFailed()
    return session
  }

  return {
    calls: {
      append: async (record, effects) => opened().calls.append(record, effects),
      find: async (peer, requestId) => told(opened().calls.find(peer, requestId)),
      acknowledge: (peer, requestIds) => session?.calls.acknowledge(peer, requestIds),
      recent: async (query) => told(opened().calls.recent(query)),
      usage: async () => told(opened().calls.usage()),
      dropResponses: async (before) => opened().calls.dropResponses(before)
    },
    claims: {
      take: async (claim, expired) => opened().claims.take(claim, expired),
      free: async (name) => opened().claims.free(name),
      drop: async (before, most) => opened().claims.drop(before, most)
    },
    documents: {
      get: async (collection, key) => told(opened().documents.get(collection, key)),
      put: async (collection, key, value) => opened().documents.put(collection, key, value),
      insert: async (collection, key, value) => opened().documents.insert(collection, key, value),
      replace: async (collection, key, before, value) => opened().documents.replace(collection, key, before, value),
      delete: async (collection, key) => opened().documents.delete(collection, key),
      last: async (collection, query) => told(opened().documents.last(collection, query)),
      list: async (collection) => told(opened().documents.list(collection)),
      putAll: async (documents) => opened().documents.putAll(documents),
      trim: async (collection, before, limit) => opened().documents.trim(collection, before, limit),
      sweep: async (now, limit) => opened().documents.sweep(now, limit)
    },
    ledger: {
      book: async (entry, documents) => opened().ledger.book(entry, documents),
      draw: async (entry, account, documents) => opened().ledger.draw(entry, account, documents),
      balance: async (account) => told(opened().ledger.balance(account)),
      balances: async (prefix) => told(opened().ledger.balances(prefix)),
      carried: async (prefix) => told(opened().ledger.carried(prefix)),
      entries: async (query) => told(opened().ledger.entries(query))
    },
    signals: {
      send: async (topic, text) => told(opened().signals.send(topic, text)),
      listen: (topic, hear) => opened().signals.listen(topic, hear)
    },
    listings: listingsOf(() => opened().listings),
    retention: { trim: async (rules) => told(opened().retention.trim(rules)) },
    async open() {
      session ??= await openSession({ url, clock, onFailure, storedBytesMax })
    },
    async close() {
      const closing = session
      await closing?.queue.close()
      await closing?.signals.close()
      session = undefined
      closing?.writer.release(true)
      await closing?.pool.end()
    }
  }
}

/** A read's own error, with nothing of the database's text in its message. */
async function told<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (cause) {
    if (isSoukError(cause)) throw cause
    throw new SoukError('internal_error', 'The store could not be read.', { cause })
  }
}

async function openSession({ url, clock, onFailure, storedBytesMax }: Required<PostgresStoreInit>): Promise<Session> {
  // Only nodes with such a store load the client.
  const { Client, Pool } = await import('pg')
  const connection = { connectionString: url, connectionTimeoutMillis: POSTGRES_CONNECT_MS }
  const pool = new Pool({ ...connection, max: POSTGRES_CONNECTIONS_MAX, allowExitOnIdle: true })
  // An idle connection that breaks is replaced by the next query; unheard it would end the process.
  pool.on('error', () => {})
  let writer: PoolClient | undefined
  try {
    writer = await pool.connect()
    await migratePostgres(writer)
    // A server may be set up to answer before the disk has it. A weaker wait for replicas is its operator's choice.
    await writer.query(
      `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`
    )
  } catch (cause) {
    writer?.release(true)
    await pool.end()
    if (isSoukError(cause)) throw cause
    throw new SoukError('internal_error', 'The store cannot be opened.', { cause })
  }
  const queue = createPostgresQueue({ db: writer, clock, onFailure })
  writer.on('error', (error) => queue.fail(error))
  const names = postgresNames(pool)
  return {
    pool,
    writer,
    queue,
    calls: postgresCalls(pool, queue, names, storedBytesMax),
    claims: postgresClaims(queue, names),
    documents: postgresDocuments(pool, queue),
    ledger: postgresLedger(pool, queue, names),
    signals: new PostgresSignals({ pool, clock, client: () => new Client({ ...connection, keepAlive: true }) }),
    listings: postgresListings(pool, queue, told),
    retention: postgresRetention(pool, queue, names)
  }
}
