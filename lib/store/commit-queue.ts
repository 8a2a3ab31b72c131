import type { Logger } from '@libp2p/interface'
import type { Clock } from '../base/clock.ts'
import { reasonOf, SILENT_LOG } from '../base/component-log.ts'
import { SoukError, withUnknownCharge } from '../base/errors.ts'
import { SLOW_COMMIT_MS } from '../base/limits/process.ts'
import { COMMIT_BATCH_BYTES_MAX, COMMIT_BATCH_MAX } from '../base/limits/store.ts'

/** The database operations that the queue needs. */
export interface Transactions {
  begin(): void
  /** Returns when the transaction is written; only `sync` makes it durable. After a throw, the outcome is unknown. */
  commit(): void
  rollback(): void
  /** Calls back when all earlier commits are durable: never in the same turn, and without blocking the process. */
  sync(done: (error: Error | null) => void): void
  /** Runs `write` in a savepoint: if it throws, its changes are rolled back. */
  isolate(write: () => void): void
  /** True while a transaction runs. The database itself may end it, for example after a disk error. */
  readonly active: boolean
  /** True if the database failed, not the write. */
  isFatal(error: unknown): boolean
}

/** One write, and what becomes of it. */
export interface Write {
  /** Its approximate size. */
  readonly bytes: number
  /** May run twice; the first run is then rolled back. */
  apply(): void
  /** Called when the write is durable. */
  resolve(): void
  reject(error: SoukError): void
}

/** A write, or the rejection of one. */
type Settled = Pick<Write, 'resolve'>

/**
 * Group commit: writes requested in the same turn of the event loop, or during a disk wait, share one transaction and one disk
 * wait. They keep their order.
 */
export interface CommitQueue {
  /** Joins the next transaction. */
  push(write: Write): void
  /**
   * Resolves with the result of `apply` when its transaction is durable. `apply` may run twice; the first run is then rolled
   * back.
   * @param bytes the approximate size of the write
   * @throws SoukError `internal_error`: this write is not possible, or the store failed. With `isChargeUnknown`, it may be on disk
   */
  write<T>(bytes: number, apply: () => T): Promise<T>
  /** Like `write` without a result. The write is lost if the store fails. */
  writeBehind(bytes: number, apply: () => void): void
  /**
   * Resolves when everything readable now is durable; undefined if it already is. No caller may see data that is not durable.
   * @throws SoukError `internal_error`: the store failed
   */
  settled(): Promise<void> | undefined
  /** Commits the waiting writes and accepts no more. Never throws or rejects; the callers of the writes get the errors. */
  close(): Promise<void>
  /** Marks the queue as failed after an error of the database elsewhere. */
  fail(cause: unknown): void
  /** Set after a failed commit. The commit may still have survived, so nothing more is written or returned. */
  readonly failure: SoukError | undefined
}

export interface CommitQueueInit {
  readonly clock: Pick<Clock, 'soon' | 'elapsed'>
  readonly transactions: Transactions
  readonly onFailure: (error: Error) => void
  /** Default: none. */
  readonly log?: Logger
}

export function storeNotOpen(): SoukError {
  return new SoukError('internal_error', 'The store is not open.')
}

export function storeFailed(cause?: unknown): SoukError {
  return new SoukError('internal_error', 'This node cannot keep its books any more and has to be restarted.', { cause })
}

export function createCommitQueue({ clock, transactions, onFailure, log = SILENT_LOG }: CommitQueueInit): CommitQueue {
  let waiting: Write[] = []
  let isScheduled = false
  let isClosed = false
  let hasFailed = false
  let failedBy: unknown
  /** Resolves when the pending disk sync has succeeded or failed. */
  let syncing: Promise<void> | undefined

  const push = (write: Write): void => {
    if (hasFailed) write.reject(storeFailed(failedBy))
    else if (isClosed) write.reject(storeNotOpen())
    else {
      waiting.push(write)
      schedule()
    }
  }
  const schedule = (): void => {
    if (isScheduled || syncing !== undefined) return
    isScheduled = true
    // After the I/O events of this turn, so that all calls that they bring share the commit. A timer would halve the throughput.
    clock.soon(() => {
      isScheduled = false
      drain()
      if (waiting.length > 0) schedule()
    })
  }
  const drain = (): void => {
    if (waiting.length === 0) return
    const batch = takeBatch(waiting)
    waiting = waiting.slice(batch.length)
    const startedAt = clock.elapsed()
    try {
      // The sync runs outside this thread, because it can take seconds.
      syncBehind(commitTogether(transactions, batch) ?? commitCarefully(transactions, batch), batch, startedAt)
    } catch (error) {
      fail(error, batch)
    }
  }
  const syncBehind = (settled: readonly Settled[], batch: readonly Write[], startedAt: number): void => {
    const { promise, resolve } = Promise.withResolvers<void>()
    transactions.sync((error) => {
      syncing = undefined
      const ms = clock.elapsed() - startedAt
      if (ms >= SLOW_COMMIT_MS) log('slow commit: %d writes took %d ms', batch.length, Math.round(ms))
      // After a failure, no write is reported as successful, because it may be lost.
      if (hasFailed) for (const write of batch) write.reject(withUnknownCharge(storeFailed(failedBy)))
      else if (error === null) for (const each of settled) each.resolve()
      else fail(error, batch)
      resolve()
      if (waiting.length > 0) schedule()
    })
    syncing = promise
  }
  const fail = (cause: unknown, batch: readonly Write[]): void => {
    const isFirst = !hasFailed
    hasFailed = true
    failedBy ??= cause
    const error = storeFailed(cause)
    if (log.enabled) log('a commit of %d writes failed: %s', batch.length, reasonOf(cause))
    const unbegun = waiting
    waiting = []
    for (const write of batch) write.reject(withUnknownCharge(error))
    for (const write of unbegun) write.reject(error)
    if (isFirst) onFailure(error)
  }

  return {
    push,
    write: <T>(bytes: number, apply: () => T) =>
      new Promise<T>((resolve, reject) => {
        let result: T
        push({ bytes, apply: () => (result = apply()), resolve: () => resolve(result), reject })
      }),
    writeBehind: (bytes, apply) => push({ bytes, apply, resolve: () => {}, reject: () => {} }),
    settled: () =>
      syncing?.then(() => {
        if (hasFailed) throw storeFailed(failedBy)
      }),
    async close() {
      isClosed = true
      for (let last = syncing; last !== undefined || waiting.length > 0; last = syncing) {
        if (last === undefined) drain()
        else await last
      }
    },
    fail: (cause) => fail(cause, []),
    get failure() {
      return hasFailed ? storeFailed(failedBy) : undefined
    }
  }
}

/** Takes at least one write, so that a single large one is not blocked. */
function takeBatch(waiting: readonly Write[]): Write[] {
  let bytes = 0
  let count = 0
  for (const write of waiting) {
    bytes += write.bytes
    if (count === COMMIT_BATCH_MAX || (count > 0 && bytes > COMMIT_BATCH_BYTES_MAX)) break
    count++
  }
  return waiting.slice(0, count)
}

/** Undefined if one of the writes is not possible; the whole batch is then rolled back. */
function commitTogether(transactions: Transactions, batch: readonly Write[]): readonly Settled[] | undefined {
  transactions.begin()
  try {
    for (const write of batch) write.apply()
  } catch (error) {
    if (transactions.isFatal(error)) throw error
    transactions.rollback()
    return undefined
  }
  transactions.commit()
  return batch
}

/** Writes each in a savepoint, so that an impossible write does not fail the others. It is slower, so it is not tried first. */
function commitCarefully(transactions: Transactions, batch: readonly Write[]): Settled[] {
  transactions.begin()
  const settled = batch.map((write): Settled => {
    try {
      transactions.isolate(() => write.apply())
      return write
    } catch (cause) {
      if (!transactions.active || transactions.isFatal(cause)) throw cause
      const error = new SoukError('internal_error', 'The store rejected this entry.', { cause })
      return { resolve: () => write.reject(error) }
    }
  })
  transactions.commit()
  return settled
}
