import type { Logger } from '@libp2p/interface'
import type { Client } from 'pg'
import { type Clock, sleep } from '../../base/clock.ts'
import { reasonOf } from '../../base/component-log.ts'
import type { SoukError } from '../../base/errors.ts'
import {
  POSTGRES_IDLE_TRANSACTION_MS,
  RECONNECT_MS_MAX,
  RECONNECT_MS_MIN,
  WRITER_ROW_DAYS
} from '../../base/limits/store.ts'
import { endClient } from './client.ts'
import { isAway, storeUnavailable } from './errors.ts'
import type { PostgresQueue, Recovered } from './queue.ts'
import type { WriterSession } from './transaction.ts'

export interface PostgresWriterInit {
  /** A separate connection, not connected yet. */
  readonly client: () => Client
  readonly queue: PostgresQueue
  readonly clock: Clock
  /**
   * Called when the database is back, before anything is written. @param isFenced another process declared this one dead in
   * between
   */
  readonly onBack: (isFenced: boolean) => void
  readonly log: Logger
}

/** The row of this process in `writers`. */
interface Row {
  readonly id: string
  /** The fencing token. Each connection gets a new one, and transactions with an older one write nothing. */
  readonly token: string
  /** How often other processes declared this one dead. */
  readonly fences: string
}

/** The server's process behind a connection. */
interface Backend {
  readonly pid: number
  readonly startedAt: string
}

interface Connection {
  readonly client: Client
  readonly session: WriterSession
  readonly openedAt: number
}

/**
 * A process's only connection for writing. After a loss it reconnects, at intervals of at most `RECONNECT_MS_MAX`. Each
 * transaction first updates the row of its process in `writers`, for three reasons. The row keeps the number of the last
 * transaction, so that the next connection learns its outcome. A transaction with an old fencing token is rejected. The row's
 * lock makes the next connection wait until the last transaction of the one before has ended.
 */
export class PostgresWriter {
  readonly #init: PostgresWriterInit
  readonly #closing = new AbortController()
  #connection: Connection | undefined
  #row: Row | undefined
  #backend: Backend | undefined
  #away: SoukError | undefined
  #pauseMs = RECONNECT_MS_MIN
  #returning: Promise<void> | undefined

  constructor(init: PostgresWriterInit) {
    this.#init = init
  }

  /** Connects for the first time. @throws the errors of `pg` */
  async start(): Promise<void> {
    await this.#connect()
  }

  /** Why the database is unavailable; undefined while it is available. */
  get away(): SoukError | undefined {
    return this.#away
  }

  /** Identifies this process to others, for `fence`. */
  get id(): string {
    return this.#row?.id ?? ''
  }

  /** Call it after the last write. */
  async stop(): Promise<void> {
    this.#closing.abort(storeUnavailable(undefined))
    await this.#returning
    const { client } = this.#connection ?? {}
    this.#connection = undefined
    if (client === undefined) return
    // If the row remains, other processes remove it later.
    await client.query('DELETE FROM writers WHERE id = $1', [this.#row?.id]).catch(() => {})
    await endClient(client)
  }

  /** Handles the failure of a connection. */
  lose(session: WriterSession, cause: unknown): void {
    const lost = this.#connection
    if (lost?.session !== session) return
    this.#connection = undefined
    this.#away = storeUnavailable(cause)
    if (this.#init.log.enabled) this.#init.log('the connection to the database is lost: %s', reasonOf(cause))
    this.#init.queue.suspend()
    void endClient(lost.client)
    // A connection that fails soon after opening does not reset the growing pauses.
    if (this.#init.clock.elapsed() - lost.openedAt > RECONNECT_MS_MAX) this.#pauseMs = RECONNECT_MS_MIN
    this.#returning = this.#return()
  }

  async #return(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        await sleep(this.#init.clock, this.#pauseMs, signal)
        this.#pauseMs = Math.min(this.#pauseMs * 2, RECONNECT_MS_MAX)
        return await this.#connect()
      } catch (cause) {
        if (signal.aborted) return
        this.#away = storeUnavailable(cause)
        if (this.#init.log.enabled) this.#init.log('the database cannot be reached: %s', reasonOf(cause))
      }
    }
  }

  async #connect(): Promise<void> {
    const client = this.#init.client()
    let session: WriterSession | undefined
    const lose = (cause?: unknown): void => {
      if (session !== undefined) this.lose(session, cause)
    }
    client.on('error', lose).on('end', lose)
    try {
      await client.connect()
      const backend = await settings(client)
      const { row, ...recovered } = await this.#recover(client)
      if (this.#closing.signal.aborted) throw this.#closing.signal.reason
      this.#row = row
      this.#backend = backend
      session = { db: client, begin: beginning(row) }
      this.#connection = { client, session, openedAt: this.#init.clock.elapsed() }
      this.#away = undefined
      this.#init.log(
        'connected to the database%s',
        recovered.isFenced ? '; another process took this one for dead' : ''
      )
      this.#init.onBack(recovered.isFenced)
      this.#init.queue.resume(session, recovered)
    } catch (error) {
      void endClient(client)
      throw error
    }
  }

  /** Ensures that the connection before writes nothing more, and learns its last commit. */
  async #recover(client: Client): Promise<Recovered & { readonly row: Row }> {
    const row = this.#row
    if (row !== undefined) {
      await endBackend(client, this.#backend)
      const { rows } = await client.query<Omit<Row, 'id'> & { last_commit: string }>(
        `UPDATE writers SET token = token + 1, at = now() WHERE id = $1 RETURNING token, fences, last_commit`,
        [row.id]
      )
      const [found] = rows
      if (found !== undefined) {
        const { token, fences, last_commit } = found
        return {
          row: { id: row.id, token, fences },
          committed: Number(last_commit),
          isFenced: fences !== row.fences
        }
      }
      // A database without the row, such as a lagging replica, lacks this process's last transaction as well.
    }
    await client.query(`DELETE FROM writers WHERE at < now() - interval '${WRITER_ROW_DAYS} days'`)
    const { rows } = await client.query<Row>(NEW_ROW)
    const [made] = rows
    if (made === undefined) throw storeUnavailable(undefined)
    return { row: made, committed: -1, isFenced: row !== undefined }
  }
}

/**
 * A random id. A sequence would give an id twice in a database that was restored from a backup older than the processes, and two
 * processes with one row shut each other out.
 */
const NEW_ROW = `INSERT INTO writers (id) OVERRIDING SYSTEM VALUE
  VALUES (('x' || left(md5(gen_random_uuid()::text), 15))::bit(60)::bigint) RETURNING id, token, fences`

/** Prevents a process from writing until it has noticed that it was declared dead. */
export const FENCE = 'UPDATE writers SET token = token + 1, fences = fences + 1 WHERE id = $1'

const beginning =
  ({ id, token }: Row) =>
  (number: number): string =>
    `BEGIN; UPDATE writers SET last_commit = ${number}, at = now() WHERE id = ${id} AND token = ${token}`

async function settings(client: Client): Promise<Backend> {
  // The server may be configured to respond before the disk write; a weaker wait for replicas is the operator's choice. The
  // server ends transactions of unresponsive processes, so that their locks do not block other processes. Row locks keep balances,
  // so a stricter isolation would only reject writes.
  const { rows } = await client.query<Backend & { readOnly: string }>(
    `SELECT pg_backend_pid() AS pid, current_setting('transaction_read_only') AS "readOnly",
       (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS "startedAt",
       CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END,
       set_config('default_transaction_isolation', 'read committed', false),
       set_config('idle_in_transaction_session_timeout', '${POSTGRES_IDLE_TRANSACTION_MS}', false)`
  )
  const [found] = rows
  if (found === undefined) throw storeUnavailable(undefined)
  if (found.readOnly === 'on') throw storeUnavailable(Object.assign(new Error('read-only'), { code: '25006' }))
  return found
}

/**
 * Ends the server process of the connection before, which the server may still consider alive. If that is not permitted, its
 * locks are waited for.
 */
async function endBackend(client: Client, backend: Backend | undefined): Promise<void> {
  if (backend === undefined) return
  const sql = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2'
  try {
    await client.query(sql, [backend.pid, backend.startedAt])
  } catch (error) {
    if (isAway(error)) throw error
  }
}
