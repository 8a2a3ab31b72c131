import type { ClientBase } from 'pg'
import { ConnectionLost, Fenced, isLost, isRefusal } from './postgres-errors.ts'

/** One sort of write. Those that wait next to each other are written by one statement. */
export interface Writer<I, O> {
  /** Within the running transaction; answers in the order of the items. Leaves nothing behind in memory when it throws. */
  run(db: ClientBase, items: readonly I[]): Promise<readonly O[]>
  /** It overwrites or deletes whatever is there. A process that was taken for dead in between must not do that. */
  readonly isBlind?: true
}

/** A connection to write by. */
export interface WriterSession {
  readonly db: ClientBase
  /** SQL that begins a transaction and leaves its number behind in it; the second result has no row once the process is fenced off. */
  readonly begin: (number: number) => string
}

interface Item {
  readonly writer: Writer<unknown, unknown>
  readonly item: unknown
}

/**
 * Everything of a transaction but its COMMIT.
 * @throws the reason why it cannot be written, rolled back; where the connection cannot be used any more, see `isLost`
 */
export async function prepare(
  { db, begin }: WriterSession,
  number: number,
  writes: readonly Item[]
): Promise<unknown[]> {
  // Two statements in one round trip.
  const began = (await db.query(begin(number))) as unknown as Array<{ rowCount: number | null }>
  if (began[1]?.rowCount !== 1) throw new Fenced()
  try {
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

/** @throws the server's refusal, after which nothing is written; ConnectionLost where nobody knows */
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
