import type { ClientBase } from 'pg'
import { ConnectionLost, Fenced, isLost, isRefusal } from './errors.ts'

/** One kind of write. Adjacent writes of a kind share one statement. */
export interface Writer<I, O> {
  /** Runs in the running transaction; returns results in the order of the items. Changes nothing in memory if it throws. */
  run(db: ClientBase, items: readonly I[]): Promise<readonly O[]>
  /** True if it overwrites or deletes unconditionally. A process that was declared dead must not do that. */
  readonly isBlind?: true
  /**
   * True if a write in doubt waits until the database is back. Its caller keeps amounts in memory, which must follow the database.
   */
  readonly awaitsOutcome?: true
}

/** A connection for writing. */
export interface WriterSession {
  readonly db: ClientBase
  /** SQL that begins a transaction and stores its number. Its second result has no row if the process is fenced. */
  readonly begin: (number: number) => string
}

interface Item {
  readonly writer: Writer<unknown, unknown>
  readonly item: unknown
}

/**
 * Runs a transaction up to its COMMIT.
 * @throws the reason why it cannot be written, after a rollback; `isLost` tells if the connection is no longer usable
 */
export async function prepare(
  { db, begin }: WriterSession,
  number: number,
  writes: readonly Item[]
): Promise<unknown[]> {
  try {
    // Two statements in one round trip. If the second one is rejected, the transaction is open all the same.
    const began = (await db.query(begin(number))) as unknown as Array<{ rowCount: number | null }>
    if (began[1]?.rowCount !== 1) throw new Fenced()
    const results: unknown[] = []
    for (const run of runsOf(writes)) {
      const items = run.map(({ item }) => item)
      results.push(...(await run[0].writer.run(db, items)))
    }
    return results
  } catch (error) {
    if (!isLost(error)) await db.query('ROLLBACK')
    throw error
  }
}

/** @throws the server's rejection, after which nothing is written; ConnectionLost if the outcome is unknown */
export async function endTransaction(db: ClientBase): Promise<void> {
  let command = ''
  try {
    command = (await db.query('COMMIT')).command
  } catch (cause) {
    throw isRefusal(cause) ? cause : new ConnectionLost({ cause })
  }
  if (command !== 'COMMIT') throw new ConnectionLost()
}

function runsOf(batch: readonly Item[]): Array<[Item, ...Item[]]> {
  const runs: Array<[Item, ...Item[]]> = []
  for (const write of batch) {
    const last = runs.at(-1)
    if (last?.[0].writer === write.writer) last.push(write)
    else runs.push([write])
  }
  return runs
}
