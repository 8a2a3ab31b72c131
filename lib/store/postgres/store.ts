import type { ComponentLogger, Logger } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import type { Client as PgClient, Pool } from 'pg'
import { checkMembers, CLOCK, COUNT, LOGGER, type MemberRules, TEXT } from '../../base/check-members.ts'
import { type Clock, sleep, systemClock } from '../../base/clock.ts'
import { logOf, reasonOf } from '../../base/component-log.ts'
import { isSoukError, SoukError } from '../../base/errors.ts'
import { POSTGRES_CLOSE_MS, POSTGRES_CONNECTIONS_MAX, STORED_BYTES_MAX } from '../../base/limits/store.ts'
import type { Ledger } from '../../interface/ledger.ts'
import type { ListingIndex } from '../../interface/listing-index.ts'
import type { CallLog, ClaimLog, Documents, Retention, Store } from '../../interface/store.ts'
import { storeNotOpen } from '../commit-queue.ts'
import { listingsOf } from '../listings-of.ts'
import { postgresCalls } from './calls.ts'
import { postgresClaims } from './claims.ts'
import { clientConfig, endClient } from './client.ts'
import { postgresDocuments } from './documents.ts'
import { databaseRejected, isAway, isDenied, storeUnavailable } from './errors.ts'
import { postgresLedger } from './ledger.ts'
import { postgresListings } from './listings.ts'
import { postgresNames } from './names.ts'
import { refusePooler } from './pooler.ts'
import { PostgresQueue } from './queue.ts'
import { type PostgresReads, postgresReads } from './reads.ts'
import { postgresRetention } from './retention.ts'
import { migratePostgres } from './schema.ts'
import { checkServer } from './server.ts'
import { PostgresSignals } from './signals.ts'
import { FENCE, PostgresWriter } from './writer.ts'

export interface PostgresStoreInit {
  /**
   * `postgres://user:password@host/database`, with parameters such as `sslmode` and `sslrootcert`. All modes but `disable` and
   * `no-verify` check the certificate and the host name, as `verify-full` does.
   */
  readonly url: string
  /**
   * The maximum total bytes of stored responses. Above it, calls are recorded without their responses. Default
   * `STORED_BYTES_MAX`.
   */
  readonly storedBytesMax?: number
  /** Default: the system's clock. */
  readonly clock?: Clock
  /** Default: that of `@libp2p/logger`, which the environment variable `DEBUG` turns on. */
  readonly logger?: ComponentLogger
}

const RULES: MemberRules<PostgresStoreInit> = { url: TEXT, storedBytesMax: COUNT, clock: CLOCK, logger: LOGGER }

interface Session {
  readonly pool: Pool
  readonly reads: PostgresReads
  readonly writer: PostgresWriter
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
 * A store for several processes that share accounts, quotas or an owner's books. It survives the loss of its connections: see
 * `PostgresQueue` and `PostgresWriter`. While the database is away, reads and changes fail with `store_unavailable`, and outcomes
 * (`calls.append`, `ledger.book`, `ledger.draw`) wait.
 *
 * `open` throws SoukError `store_unavailable` if the database cannot be reached, which may be temporary. It throws
 * `internal_error` if the database cannot be used: a wrong password, a missing database, an untrusted certificate, a version or
 * an encoding that is not supported, tables of a newer Souk, a pooler in transaction mode, an unknown parameter in the address.
 * @throws SoukError `invalid_request` for an option of a wrong name or type
 */
export function createPostgresStore(init: PostgresStoreInit): Store {
  checkMembers('The options of `createPostgresStore`', init, RULES, ['url'])
  const { url, clock = systemClock, storedBytesMax = STORED_BYTES_MAX, logger = defaultLogger() } = init
  const log = logOf(logger, 'souk:store')
  let session: Session | undefined
  const fenced = new Set<() => void>()
  const onFenced = (): void => {
    for (const hear of fenced) hear()
  }
  const opened = (): Session => {
    if (session === undefined) throw storeNotOpen()
    return session
  }
  /** For operations that can fail while the database is away. */
  const reached = (): Session => {
    const found = opened()
    if (found.writer.away !== undefined) throw found.writer.away
    return found
  }

  return {
    calls: {
      append: async (record, effects) => opened().calls.append(record, effects),
      find: async (peer, requestId) => told(reached().calls.find(peer, requestId)),
      acknowledge: (peer, requestIds) => session?.calls.acknowledge(peer, requestIds),
      recent: async (query) => told(reached().calls.recent(query)),
      usage: async () => told(reached().calls.usage()),
      dropResponses: async (before) => reached().calls.dropResponses(before)
    },
    claims: {
      take: async (claim, expired) => reached().claims.take(claim, expired),
      put: async (claim) => opened().claims.put(claim),
      free: async (name) => opened().claims.free(name),
      drop: async (before, most) => reached().claims.drop(before, most)
    },
    documents: {
      get: async (collection, key) => told(reached().documents.get(collection, key)),
      put: async (collection, key, value) => reached().documents.put(collection, key, value),
      insert: async (...document) => reached().documents.insert(...document),
      replace: async (...document) => reached().documents.replace(...document),
      delete: async (collection, key) => reached().documents.delete(collection, key),
      last: async (collection, query) => told(reached().documents.last(collection, query)),
      list: async (collection) => told(reached().documents.list(collection)),
      putAll: async (documents) => reached().documents.putAll(documents),
      trim: async (collection, before, limit) => reached().documents.trim(collection, before, limit),
      sweep: async (now, limit) => reached().documents.sweep(now, limit)
    },
    ledger: {
      book: async (entry, documents) => opened().ledger.book(entry, documents),
      draw: async (entry, account, documents) => opened().ledger.draw(entry, account, documents),
      balance: async (account) => told(reached().ledger.balance(account)),
      balances: async (prefix) => told(reached().ledger.balances(prefix)),
      carried: async (prefix) => told(reached().ledger.carried(prefix)),
      entries: async (query) => told(reached().ledger.entries(query))
    },
    signals: {
      send: async (topic, text) => told(reached().signals.send(topic, text)),
      listen: (topic, hear) => opened().signals.listen(topic, hear)
    },
    fencing: {
      get id() {
        return opened().writer.id
      },
      fence: async (id) => void (await told(reached().reads.query(FENCE, [id]))),
      onFenced(hear) {
        fenced.add(hear)
        return () => void fenced.delete(hear)
      }
    },
    listings: listingsOf(() => reached().listings),
    retention: { trim: async (rules) => told(reached().retention.trim(rules)) },
    refusal: () => session?.writer.away,
    async backUp() {
      opened()
      throw new SoukError(
        'backup_not_supported',
        'Back up the PostgreSQL database with its own tools, such as pg_dump.'
      )
    },
    async open() {
      session ??= await openSession({ url, clock, storedBytesMax, log }, onFenced)
    },
    async close() {
      const closing = session
      await closing?.queue.close()
      await closing?.signals.close()
      session = undefined
      await closing?.writer.stop()
      // `pool.end()` waits for a server that may never respond.
      if (closing !== undefined) await Promise.race([closing.pool.end(), sleep(clock, POSTGRES_CLOSE_MS)])
    }
  }
}

/** A read's error, without the database's text in its message. */
async function told<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (cause) {
    if (isSoukError(cause)) throw cause
    throw new SoukError('internal_error', 'The store could not be read.', { cause })
  }
}

async function openSession(
  { url, clock, storedBytesMax, log }: Required<Omit<PostgresStoreInit, 'logger'>> & { readonly log: Logger },
  onFenced: () => void
): Promise<Session> {
  // Only nodes with such a store load the client.
  const { Client, Pool } = await import('pg')
  try {
    const config = clientConfig(url)
    await prepare([1, 2].map(() => new Client({ ...config, query_timeout: 0 })) as [PgClient, PgClient])
    const client = () => new Client(config)
    const queue = new PostgresQueue({ clock, onLost: (by, cause) => writer.lose(by, cause), log })
    const onBack = (isFenced: boolean): void => {
      names.forget()
      if (isFenced) onFenced()
    }
    const writer = new PostgresWriter({ client, queue, clock, onBack, log })
    const pool = new Pool({ ...config, max: POSTGRES_CONNECTIONS_MAX, allowExitOnIdle: true })
    // The next query replaces a broken idle connection; without a listener, the error would end the process.
    pool.on('error', () => {})
    const reads = postgresReads(pool, () => writer.away)
    const names = postgresNames(reads)
    await writer.start()
    return {
      pool,
      reads,
      writer,
      queue,
      calls: postgresCalls(reads, queue, names, storedBytesMax),
      claims: postgresClaims(queue, names),
      documents: postgresDocuments(reads, queue),
      ledger: postgresLedger(reads, queue, names),
      signals: new PostgresSignals({ reads, clock, client }),
      listings: postgresListings(reads, queue, told),
      retention: postgresRetention(reads, queue, names)
    }
  } catch (cause) {
    if (log.enabled) log('the database cannot be opened: %s', reasonOf(cause))
    if (isAway(cause) && !isDenied(cause)) throw storeUnavailable(cause)
    if (isSoukError(cause)) throw cause
    throw databaseRejected(cause)
  }
}

/** Checks the server and creates the tables. @throws SoukError, and the errors of `pg` */
async function prepare(clients: readonly [PgClient, PgClient]): Promise<void> {
  for (const client of clients) client.on('error', () => {})
  try {
    for (const client of clients) await client.connect()
    await refusePooler(...clients)
    await checkServer(clients[0])
    await migratePostgres(clients[0])
  } finally {
    for (const client of clients) void endClient(client)
  }
}
