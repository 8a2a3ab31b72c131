import type { ClientBase } from 'pg'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { COMMIT_BATCH_BYTES_MAX, COMMIT_BATCH_MAX } from '../base/limits.ts'
import { storeFailed, storeNotOpen } from './commit-queue.ts'

/** One sort of write. Those that wait next to each other are written by one statement. */
export interface Writer<I, O> {
  /** Within the running transaction; answers in the order of the items. Leaves nothing behind in memory when it throws. */
  run(db: ClientBase, items: readonly I[]): Promise<readonly O[]>
}

interface Write {
  readonly writer: Writer<unknown, unknown>
  readonly item: unknown
  readonly bytes: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: SoukError) => void
}

/**
 * Group commit for a database at the other end of a connection: while one transaction is on its way, what is asked for
 * meanwhile waits together for the next. The order of the calls is kept.
 */
export interface PostgresQueue {
  /** @throws SoukError `internal_error`: this write is not possible, or the store failed. */
  write<I, O>(writer: Writer<I, O>, item: I, bytes: number): Promise<O>
  /** The same without an answer; lost when the store fails. */
  writeBehind<I>(writer: Writer<I, unknown>, item: I, bytes: number): void
  /** Commits what is waiting and takes nothing more. Never throws: whoever waits is told. */
  close(): Promise<void>
  /** The connection is gone, or a commit failed: nothing more is written or answered from here on. */
  fail(cause: unknown): void
  readonly failed: boolean
}

export interface PostgresQueueInit {
  readonly db: ClientBase
  readonly clock: Pick<Clock, 'soon'>
  readonly onFailure: (error: Error) => void
}

export function createPostgresQueue({ db, clock, onFailure }: PostgresQueueInit): PostgresQueue {
  let waiting: Write[] = []
  let draining: Promise<void> | undefined
  let isClosed = false
  let hasFailed = false

  const push = (write: Write): void => {
    if (hasFailed) write.reject(storeFailed())
    else if (isClosed) write.reject(storeNotOpen())
    else {
      waiting.push(write)
      draining ??= new Promise((resolve) => clock.soon(() => void drain().then(resolve)))
    }
  }
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = takeBatch(waiting)
      waiting = waiting.slice(batch.length)
      try {
        const settle = (await commitTogether(db, batch)) ?? (await commitOneByOne(db, batch))
        for (const tell of settle) tell()
      } catch (error) {
        fail(error, batch)
      }
    }
    draining = undefined
  }
  const fail = (cause: unknown, batch: readonly Write[]): void => {
    const error = storeFailed(cause)
    const lost = [...batch, ...waiting]
    waiting = []
    for (const write of lost) write.reject(error)
    if (hasFailed) return
    hasFailed = true
    onFailure(error)
  }

  return {
    write: <I, O>(writer: Writer<I, O>, item: I, bytes: number) =>
      new Promise<O>((resolve, reject) => {
        push({
          writer,
          item,
          bytes,
          resolve: (result) => resolve(result as O),
          reject
        })
      }),
    writeBehind: <I>(writer: Writer<I, unknown>, item: I, bytes: number) =>
      push({ writer, item, bytes, resolve: () => {}, reject: () => {} }),
    async close() {
      isClosed = true
      await draining
    },
    fail: (cause) => fail(cause, []),
    get failed() {
      return hasFailed
    }
  }
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

/** Undefined when one of the writes is not possible; nothing of the batch is then written. */
async function commitTogether(db: ClientBase, batch: readonly Write[]): Promise<Array<() => void> | undefined> {
  const settle: Array<() => void> = []
  await db.query('BEGIN')
  try {
    for (const run of runsOf(batch)) {
      const results = await run[0].writer.run(
        db,
        run.map(({ item }) => item)
      )
      for (const [i, write] of run.entries()) settle.push(() => write.resolve(results[i]))
    }
  } catch (error) {
    if (!isRefusal(error)) throw error
    await db.query('ROLLBACK')
    return undefined
  }
  await db.query('COMMIT')
  return settle
}

/** Each write in a transaction of its own, so that an impossible one harms no other. */
async function commitOneByOne(db: ClientBase, batch: readonly Write[]): Promise<Array<() => void>> {
  const settle: Array<() => void> = []
  for (const write of batch) {
    settle.push(await commitAlone(db, write))
  }
  return settle
}

async function commitAlone(db: ClientBase, write: Write): Promise<() => void> {
  for (let tries = 1; ; tries++) {
    await db.query('BEGIN')
    try {
      const [result] = await write.writer.run(db, [write.item])
      await db.query('COMMIT')
      return () => write.resolve(result)
    } catch (cause) {
      if (!isRefusal(cause)) throw cause
      await db.query('ROLLBACK')
      if (isDeadlock(cause) && tries < TRIES_MAX) continue
      return () => write.reject(new SoukError('internal_error', 'The store could not take this entry.', { cause }))
    }
  }
}

function runsOf(batch: readonly Write[]): Array<[Write, ...Write[]]> {
  const runs: Array<[Write, ...Write[]]> = []
  for (const write of batch) {
    const last = runs.at(-1)
    if (last?.[0].writer === write.writer) last.push(write)
    else runs.push([write])
  }
  return runs
}

/** The transaction as a whole cannot be written, each of its writes by itself can. */
export class MustBeAlone extends Error {}

/** Connection, resources, shutdown, system and internal errors: https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const FATAL = /^(08|53|57P|58|XX)/

/** Two processes waited for each other, and this one was chosen to give way: nothing is wrong with what it wrote. */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40P01'
}

const TRIES_MAX = 5

/** The database understood and refused: the connection and the transaction are known to be as before. */
function isRefusal(error: unknown): boolean {
  if (error instanceof MustBeAlone) return true
  return (
    error instanceof Error &&
    'severity' in error &&
    'code' in error &&
    typeof error.code === 'string' &&
    !FATAL.test(error.code)
  )
}
