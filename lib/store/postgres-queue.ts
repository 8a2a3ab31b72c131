import type { Logger } from '@libp2p/interface'
import type { Clock, Timer } from '../base/clock.ts'
import { SILENT_LOG } from '../base/component-log.ts'
import { SoukError, withUnknownCharge } from '../base/errors.ts'
import {
  COMMIT_BATCH_BYTES_MAX,
  COMMIT_BATCH_MAX,
  SLOW_COMMIT_MS,
  STORE_WAIT_MS,
  STORE_WAIT_SWEEP_MS
} from '../base/limits.ts'
import { storeNotOpen } from './commit-queue.ts'
import { ConnectionLost, isLost, isLostRace, storeUnavailable } from './postgres-errors.ts'
import { endTransaction, prepare, type Writer, type WriterSession } from './postgres-transaction.ts'

interface Write {
  readonly writer: Writer<unknown, unknown>
  readonly item: unknown
  readonly bytes: number
  /** On the clock's `elapsed`. */
  readonly askedAt: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: SoukError) => void
}

/** What a new connection found out about the one before it. */
export interface Recovered {
  /** Number of the last transaction of this process that the database has. */
  readonly committed: number
  /** Another process took this one for dead in between. */
  readonly isFenced: boolean
}

export interface PostgresQueueInit {
  readonly clock: Pick<Clock, 'soon' | 'after' | 'elapsed'>
  /** The connection failed while it was written by; whoever made it makes another one. */
  readonly onLost: (session: WriterSession, cause: unknown) => void
  /** Default: none. */
  readonly log?: Logger
}

interface InDoubt {
  readonly number: number
  readonly writes: readonly Write[]
  readonly results: readonly unknown[]
}

/** Writes of one transaction, as they are worked off. */
interface Batch {
  readonly session: WriterSession
  readonly writes: readonly Write[]
  /** Those from here on are neither written nor in doubt. */
  rest: number
}

/**
 * Group commit for a database at the other end of a connection: while one transaction is on its way, what is asked for
 * meanwhile waits together for the next. The order of the calls is kept.
 *
 * Writes wait while there is no connection, for `STORE_WAIT_MS`. A transaction whose COMMIT got no answer is in doubt: the next
 * connection says whether the database has it. If so, its writes are answered as they were going to be; if not, they are written again.
 */
export class PostgresQueue {
  readonly #init: PostgresQueueInit
  #session: WriterSession | undefined
  #waiting: Write[] = []
  #doubt: InDoubt | undefined
  #draining: Promise<void> | undefined
  #sweeping: Timer | undefined
  #isClosed = false
  #last = 0

  constructor(init: PostgresQueueInit) {
    this.#init = init
  }

  /** @throws SoukError `internal_error`: this write is not possible; `store_unavailable`: it waited too long */
  write<I, O>(writer: Writer<I, O>, item: I, bytes: number): Promise<O> {
    const askedAt = this.#init.clock.elapsed()
    return new Promise<O>((resolve, reject) => {
      this.#push({ writer, item, bytes, askedAt, resolve: (result) => resolve(result as O), reject })
    })
  }

  /** The same without an answer; lost where it cannot be written. */
  writeBehind<I>(writer: Writer<I, unknown>, item: I, bytes: number): void {
    const askedAt = this.#init.clock.elapsed()
    this.#push({ writer, item, bytes, askedAt, resolve: () => {}, reject: () => {} })
  }

  /** Writes go to this connection from now on. */
  resume(session: WriterSession, { committed, isFenced }: Recovered): void {
    const doubt = this.#doubt
    this.#doubt = undefined
    if (doubt !== undefined) {
      if (committed >= doubt.number) settle(doubt.writes, doubt.results)
      else this.#waiting = [...doubt.writes, ...this.#waiting]
    }
    // A write that breaks each connection it is tried on must end some time.
    this.#expire()
    if (isFenced) this.#giveUp(({ writer }) => writer.isBlind === true)
    this.#session = session
    this.#schedule()
  }

  /** The connection is lost. */
  suspend(): void {
    this.#session = undefined
    this.#schedule()
  }

  /** Commits what is waiting and takes nothing more. Never throws: whoever waits is told. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#draining
    this.#sweeping?.cancel()
    this.#giveUp(() => true)
  }

  #push(write: Write): void {
    if (this.#isClosed) return write.reject(storeNotOpen())
    this.#waiting.push(write)
    this.#schedule()
  }

  #schedule(): void {
    const { clock } = this.#init
    if (this.#session === undefined) this.#sweeping ??= clock.after(STORE_WAIT_SWEEP_MS, () => this.#sweep())
    else if (this.#waiting.length > 0) {
      this.#draining ??= new Promise((resolve) => clock.soon(() => void this.#drain().then(resolve)))
    }
  }

  async #drain(): Promise<void> {
    for (let session = this.#session; session !== undefined && this.#waiting.length > 0; session = this.#session) {
      const writes = takeBatch(this.#waiting)
      this.#waiting = this.#waiting.slice(writes.length)
      await this.#writeBatch({ session, writes, rest: 0 })
    }
    this.#draining = undefined
    this.#schedule()
  }

  /** Never throws: what could not be written waits again, or is in doubt. */
  async #writeBatch(batch: Batch): Promise<void> {
    const { session, writes } = batch
    try {
      if ((await this.#tryCommit(batch, 0, writes.length)) === undefined) return
      // Each write in a transaction of its own, so that an impossible one harms no other.
      for (const i of writes.keys()) await this.#writeAlone(batch, i)
    } catch (cause) {
      this.#waiting = [...writes.slice(batch.rest), ...this.#waiting]
      if (this.#session === session) this.#session = undefined
      this.#init.onLost(session, cause)
    }
  }

  async #writeAlone(batch: Batch, i: number): Promise<void> {
    let refused = await this.#tryCommit(batch, i, i + 1)
    for (let tries = 1; tries < TRIES_MAX && isLostRace(refused?.cause); tries++) {
      refused = await this.#tryCommit(batch, i, i + 1)
    }
    batch.rest = i + 1
    if (refused === undefined) return
    batch.writes[i]?.reject(new SoukError('internal_error', 'The store could not take this entry.', refused))
  }

  /** Undefined where it was written, else why the server refused it. @throws where the connection cannot be used any more */
  async #tryCommit(batch: Batch, from: number, to: number): Promise<{ cause: unknown } | undefined> {
    try {
      await this.#commit(batch, from, to)
      return undefined
    } catch (cause) {
      if (isLost(cause)) throw cause
      this.#doubt = undefined
      batch.rest = from
      return { cause }
    }
  }

  async #commit(batch: Batch, from: number, to: number): Promise<void> {
    const { session } = batch
    const writes = batch.writes.slice(from, to)
    const number = ++this.#last
    const startedAt = this.#init.clock.elapsed()
    const results = await prepare(session, number, writes)
    // Another connection has taken over: this transaction ends with its own.
    if (this.#session !== session) throw new ConnectionLost()
    // Until the answer is here, only the database knows.
    this.#doubt = { number, writes, results }
    batch.rest = to
    await endTransaction(session.db)
    this.#doubt = undefined
    settle(writes, results)
    const ms = this.#init.clock.elapsed() - startedAt
    const { log = SILENT_LOG } = this.#init
    if (ms >= SLOW_COMMIT_MS) log('slow commit: %d writes took %d ms', writes.length, Math.round(ms))
  }

  #sweep(): void {
    this.#sweeping = undefined
    if (this.#session !== undefined) return
    this.#expire()
    if (this.#waiting.length > 0 || this.#doubt !== undefined) this.#schedule()
  }

  #expire(): void {
    const oldest = this.#init.clock.elapsed() - STORE_WAIT_MS
    this.#giveUp(({ askedAt }) => askedAt < oldest)
  }

  /** Of a transaction in doubt nobody knows whether it was written. */
  #giveUp(isOver: (write: Write) => boolean): void {
    const over = this.#waiting.filter(isOver)
    this.#waiting = this.#waiting.filter((write) => !isOver(write))
    const error = storeUnavailable(undefined)
    for (const write of over) write.reject(error)
    if (this.#doubt?.writes.every(isOver) !== true) return
    for (const write of this.#doubt.writes) write.reject(withUnknownCharge(error))
    this.#doubt = undefined
  }
}

const TRIES_MAX = 5

function settle(writes: readonly Write[], results: readonly unknown[]): void {
  for (const [i, write] of writes.entries()) write.resolve(results[i])
}

/** At least one write, so that a single large one is not stuck. */
function takeBatch(waiting: readonly Write[]): Write[] {
  let bytes = 0
  const end = waiting.findIndex((write, count) => {
    bytes += write.bytes
    return count === COMMIT_BATCH_MAX || (count > 0 && bytes > COMMIT_BATCH_BYTES_MAX)
  })
  return waiting.slice(0, end === -1 ? waiting.length : end)
}
