import type { Client, ClientBase } from 'pg'
import type { Clock } from '../../base/clock.ts'
import { POSTGRES_LISTEN_BEAT_MS, POSTGRES_LISTEN_MS } from '../../base/limits/store.ts'
import type { Signals } from '../../interface/store.ts'
import { endClient } from './client.ts'
import type { PostgresReads } from './reads.ts'

export interface PostgresSignalsInit {
  readonly reads: PostgresReads
  /** A separate connection, not connected yet. */
  readonly client: () => Client
  readonly clock: Pick<Clock, 'after'>
}

type Hear = (text: string | undefined) => void

/**
 * Signals by LISTEN and NOTIFY. These belong to a database and the tables to a schema, so the channel is named after the schema.
 * The first listener opens the connection. Without a connection signals are missed, so listeners are told when it breaks and when
 * it is back.
 */
export class PostgresSignals implements Signals {
  readonly #init: PostgresSignalsInit
  readonly #heard = new Map<string, Set<Hear>>()
  #client: Client | undefined
  #connecting: Promise<void> | undefined
  /** The next heartbeat, or the next attempt to connect. */
  #timer: { cancel(): void } | undefined
  #isClosed = false

  constructor(init: PostgresSignalsInit) {
    this.#init = init
  }

  async send(topic: string, text: string): Promise<void> {
    await this.#init.reads.query(`SELECT pg_notify(${CHANNEL}, $1)`, [`${topic}\n${text}`])
  }

  listen(topic: string, hear: Hear): () => void {
    const listeners = this.#heard.get(topic) ?? new Set()
    this.#heard.set(topic, listeners.add(hear))
    this.#connecting ??= this.#connect()
    return () => void listeners.delete(hear)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#connecting
    if (this.#client !== undefined) await endClient(this.#client)
  }

  async #connect(): Promise<void> {
    const client = this.#init.client()
    const lose = (): void => {
      if (this.#client !== client) return
      this.#client = undefined
      this.#missed()
      this.#connectLater()
    }
    client.on('error', lose).on('end', lose)
    client.on('notification', ({ payload = '' }) => this.#pass(payload))
    try {
      await client.connect()
      await client.query(`LISTEN ${await channelOf(client)}`)
    } catch (error) {
      void endClient(client)
      // A database that does not support LISTEN is not tried again.
      if (!isRefused(error)) this.#connectLater()
      return
    }
    this.#client = client
    this.#missed()
    this.#beatLater(client, lose)
  }

  /** A heartbeat, because a silently broken connection looks like one without signals. */
  #beatLater(client: Client, lose: () => void): void {
    this.#timer = this.#init.clock.after(POSTGRES_LISTEN_BEAT_MS, () => {
      if (this.#isClosed || this.#client !== client) return
      client.query('SELECT 1').then(
        () => this.#beatLater(client, lose),
        () => {
          lose()
          void endClient(client)
        }
      )
    })
  }

  #connectLater(): void {
    if (this.#isClosed) return
    this.#timer = this.#init.clock.after(POSTGRES_LISTEN_MS, () => {
      this.#connecting = this.#connect()
    })
  }

  #pass(payload: string): void {
    const end = payload.indexOf('\n')
    for (const hear of this.#heard.get(payload.slice(0, end)) ?? []) hear(payload.slice(end + 1))
  }

  #missed(): void {
    for (const listeners of this.#heard.values()) for (const hear of listeners) hear(undefined)
  }
}

/** At most 63 bytes, whatever the name of the schema. */
const CHANNEL = `'souk_' || md5(current_schema())`

async function channelOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ channel: string }>(`SELECT quote_ident(${CHANNEL}) AS channel`)
  return rows[0]?.channel ?? ''
}

/** Syntax error, or an unsupported feature. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:42|0A)/.test(String(error.code))
}
