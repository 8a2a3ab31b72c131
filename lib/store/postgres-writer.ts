import type { Logger } from '@libp2p/interface'
import type { Client } from 'pg'
import { type Clock, sleep } from '../base/clock.ts'
import { reasonOf } from '../base/component-log.ts'
import type { SoukError } from '../base/errors.ts'
import { POSTGRES_IDLE_TRANSACTION_MS, RECONNECT_MS_MAX, RECONNECT_MS_MIN, WRITER_ROW_DAYS } from '../base/limits.ts'
import { endClient } from './postgres-client.ts'
import { isAway, storeUnavailable } from './postgres-errors.ts'
import type { PostgresQueue, Recovered } from './postgres-queue.ts'
import type { WriterSession } from './postgres-transaction.ts'

export interface PostgresWriterInit {
  /** A connection of its own, not connected yet. */
  readonly client: () => Client
  readonly queue: PostgresQueue
  readonly clock: Clock
  /** Called when the database is back, before anything is written. `isFenced`: another process took this one for dead in between. */
  readonly onBack: (isFenced: boolean) => void
  readonly log: Logger
}

/** The row of this process in `writers`. */
interface Row {
  readonly id: string
  /** The fencing token: each connection has one of its own, and a transaction with an older one writes nothing. */
  readonly token: string
  /** How many times other processes took this one for dead. */
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
 * The one connection that a process writes by. When it is lost, another is made, at intervals of `RECONNECT_MS_MAX` at most. Each
 * transaction first updates the row of its process in `writers`, which does three things: the row keeps the number of the last
 * transaction, so that the next connection finds out what became of it; a transaction with an old fencing token is refused; and
 * the row's lock keeps the next connection waiting until the last transaction of the one before has ended either way.
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

  /** Connects for the first time. @throws what `pg` says */
  async start(): Promise<void> {
    await this.#connect()
  }

  /** Why the database cannot be used; undefined while it can. */
  get away(): SoukError | undefined {
    return this.#away
  }

  /** Names this process to others, for `fence`. */
  get id(): string {
    return this.#row?.id ?? ''
  }

  /** When nothing is written any more. */
  async stop(): Promise<void> {
    this.#closing.abort(storeUnavailable(undefined))
    await this.#returning
    const { client } = this.#connection ?? {}
    this.#connection = undefined
    if (client === undefined) return
    // Where it stays behind, others remove it later.
    await client.query('DELETE FROM writers WHERE id = $1', [this.#row?.id]).catch(() => {})
    await endClient(client)
  }

  /** The connection failed. */
  lose(session: WriterSession, cause: unknown): void {
    const lost = this.#connection
    if (lost?.session !== session) return
    this.#connection = undefined
    this.#away = storeUnavailable(cause)
    if (this.#init.log.enabled) this.#init.log('the connection to the database is lost: %s', reasonOf(cause))
    this.#init.queue.suspend()
    void endClient(lost.client)
    // One that is lost as soon as it is made does not help: pauses go on growing.
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

  /** Makes sure that nothing of the connection before is written any more, and finds out what was. */
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
      // A database that has lost the row, such as a replica that was behind, has nothing of this process's last transaction either.
    }
    await client.query(`DELETE FROM writers WHERE at < now() - interval '${WRITER_ROW_DAYS} days'`)
    const { rows } = await client.query<Row>('INSERT INTO writers DEFAULT VALUES RETURNING id, token, fences')
    const [made] = rows
    if (made === undefined) throw storeUnavailable(undefined)
    return { row: made, committed: -1, isFenced: row !== undefined }
  }
}

/** Keeps a process from writing until it has found out that it was taken for dead. */
export const FENCE = 'UPDATE writers SET token = token + 1, fences = fences + 1 WHERE id = $1'

const beginning =
  ({ id, token }: Row) =>
  (number: number): string =>
    `BEGIN; UPDATE writers SET last_commit = ${number}, at = now() WHERE id = ${id} AND token = ${token}`

async function settings(client: Client): Promise<Backend> {
  // A server may be set up to answer before the disk has it. A weaker wait for replicas is its operator's choice. The server ends a
  // transaction whose process no longer answers, so that its locks keep nobody waiting.
  const { rows } = await client.query<Backend & { readOnly: string }>(
    `SELECT pg_backend_pid() AS pid, current_setting('transaction_read_only') AS "readOnly",
       (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS "startedAt",
       CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END,
       set_config('idle_in_transaction_session_timeout', '${POSTGRES_IDLE_TRANSACTION_MS}', false)`
  )
  const [found] = rows
  if (found === undefined) throw storeUnavailable(undefined)
  if (found.readOnly === 'on') throw storeUnavailable(Object.assign(new Error('read-only'), { code: '25006' }))
  return found
}

/** The server may not have noticed that the connection before is gone. Where this is not possible, its locks are waited for. */
async function endBackend(client: Client, backend: Backend | undefined): Promise<void> {
  if (backend === undefined) return
  const sql = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2'
  try {
    await client.query(sql, [backend.pid, backend.startedAt])
  } catch (error) {
    if (isAway(error)) throw error
  }
}
