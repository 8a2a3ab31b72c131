import type { Logger } from '@libp2p/interface'
import type { Clock, Timer } from '../../base/clock.ts'
import { SILENT_LOG } from '../../base/component-log.ts'
import { SoukError, withUnknownCharge } from '../../base/errors.ts'
import { SLOW_COMMIT_MS } from '../../base/limits/process.ts'
import {
  COMMIT_BATCH_BYTES_MAX,
  COMMIT_BATCH_MAX,
  STORE_WAIT_MS,
  STORE_WAIT_SWEEP_MS
} from '../../base/limits/store.ts'
import { storeNotOpen } from '../commit-queue.ts'
import { ConnectionLost, isLost, isLostRace, storeUnavailable } from './errors.ts'
import { endTransaction, prepare, type Writer, type WriterSession } from './transaction.ts'

interface Write {
  readonly writer: Writer<unknown, unknown>
  readonly item: unknown
  readonly bytes: number
  /** Time by the clock's `elapsed`. */
  readonly askedAt: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: SoukError) => void
}

/** The result of recovering the state of the connection before. */
export interface Recovered {
  /** Number of the last transaction of this process in the database. */
  readonly committed: number
  /** True if another process declared this one dead in between. */
  readonly isFenced: boolean
}

export interface PostgresQueueInit {
  readonly clock: Pick<Clock, 'soon' | 'after' | 'elapsed'>
  /** Called when the connection fails during a write; the owner reconnects. */
  readonly onLost: (session: WriterSession, cause: unknown) => void
  /** Default: none. */
  readonly log?: Logger
}

interface InDoubt {
  readonly number: number
  readonly writes: readonly Write[]
  readonly results: readonly unknown[]
}

/** The writes of one transaction in progress. */
interface Batch {
  readonly session: WriterSession
  readonly writes: readonly Write[]
  /** Index of the first write that is neither written nor in doubt. */
  rest: number
}

/**
 * Group commit for a remote database: writes requested during a transaction share the next one. They keep their order.
 *
 * Without a connection, writes wait for up to `STORE_WAIT_MS`. A transaction whose COMMIT got no response is in doubt until the
 * next connection checks it. If the database has it, its writes resolve with their results; otherwise they are written again, or
 * rejected if they waited too long. Writes with `awaitsOutcome` wait for that check, however long the database is away.
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

  /** Like `write` without a result. The write is lost if it fails. */
  writeBehind<I>(writer: Writer<I, unknown>, item: I, bytes: number): void {
    const askedAt = this.#init.clock.elapsed()
    this.#push({ writer, item, bytes, askedAt, resolve: () => {}, reject: () => {} })
  }

  /** Uses this connection for all writes from now on. */
  resume(session: WriterSession, { committed, isFenced }: Recovered): void {
    const doubt = this.#doubt
    this.#doubt = undefined
    if (doubt !== undefined) {
      if (committed >= doubt.number) settle(doubt.writes, doubt.results)
      else this.#waiting = [...doubt.writes, ...this.#waiting]
    }
    // Expires old writes, so that a write that breaks every connection ends at some time.
    this.#expire()
    if (isFenced) this.#rejectWaiting(({ writer }) => writer.isBlind === true)
    this.#session = session
    this.#schedule()
  }

  /** Stops writing after the connection is lost. */
  suspend(): void {
    this.#session = undefined
    this.#schedule()
  }

  /** Commits the waiting writes and accepts no more. Never throws; the callers of the writes get the errors. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#draining
    this.#sweeping?.cancel()
    this.#rejectWaiting(() => true)
    this.#rejectDoubtful(() => true)
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

  /** Never throws: writes that failed wait again or are in doubt. */
  async #writeBatch(batch: Batch): Promise<void> {
    const { session, writes } = batch
    try {
      if ((await this.#tryCommit(batch, 0, writes.length)) === undefined) return
      // Each write in a transaction of its own, so that an impossible one does not fail the others.
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
    batch.writes[i]?.reject(new SoukError('internal_error', 'The store rejected this entry.', refused))
  }

  /** Undefined if it was written, else the server's reason. @throws if the connection is no longer usable */
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
    // Another connection has replaced this one, which ends its transaction.
    if (this.#session !== session) throw new ConnectionLost()
    // Until the response arrives, only the database knows the outcome.
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
    const isOver = ({ askedAt }: Write): boolean => askedAt < oldest
    this.#rejectWaiting(isOver)
    this.#rejectDoubtful((write) => isOver(write) && write.writer.awaitsOutcome !== true)
  }

  #rejectWaiting(isOver: (write: Write) => boolean): void {
    const over = this.#waiting.filter(isOver)
    this.#waiting = this.#waiting.filter((write) => !isOver(write))
    const error = storeUnavailable(undefined)
    for (const write of over) write.reject(error)
  }

  /** Their transaction stays in doubt, because the others in it may still wait for its outcome. */
  #rejectDoubtful(isOver: (write: Write) => boolean): void {
    const error = withUnknownCharge(storeUnavailable(undefined))
    for (const write of this.#doubt?.writes.filter(isOver) ?? []) write.reject(error)
  }
}

const TRIES_MAX = 5

function settle(writes: readonly Write[], results: readonly unknown[]): void {
  for (const [i, write] of writes.entries()) write.resolve(results[i])
}

/** Takes at least one write, so that a single large one is not blocked. */
function takeBatch(waiting: readonly Write[]): Write[] {
  let bytes = 0
  const end = waiting.findIndex((write, count) => {
    bytes += write.bytes
    return count === COMMIT_BATCH_MAX || (count > 0 && bytes > COMMIT_BATCH_BYTES_MAX)
  })
  return waiting.slice(0, end === -1 ? waiting.length : end)
}
