import type { ClientBase } from 'pg'
import type { Atoms } from '../../base/money.ts'
import type { Retention, Trimmed, TrimRules } from '../../interface/store.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresQueue } from './queue.ts'
import type { PostgresReads } from './reads.ts'
import type { Writer } from './transaction.ts'
import { isTrimmedKind, type OldRow, planTrim, type TrimPlan } from '../trim-plan.ts'

type Table = 'calls' | 'entries'

interface Old extends OldRow {
  /** Row id of its entry. */
  readonly entry: string | null
}

interface Move {
  readonly table: Table
  /** The position where this slice began. If another process has moved on since, it has done the work. */
  readonly after: number
  readonly plan: TrimPlan<Old>
}

interface OldRecord {
  seq: string
  at: string
  entry: string | null
  is_kept: boolean
  is_free: boolean
  kind: string | null
  lines: Array<{ account: string; amount: string }> | null
}

const ROW_BYTES = 512
/** Marks a table whose end this pass has reached. */
const OVER = -1

// The newest row of each table stays, as in SQLite.
const LINES = `
  CASE WHEN e.seq IS NULL THEN NULL
    WHEN e.amount IS NULL THEN (
      SELECT json_agg(json_build_object('account', n.name, 'amount', p.amount::text) ORDER BY p.line)
      FROM postings p JOIN names n ON n.id = p.account WHERE p.entry = e.seq)
    ELSE json_build_array(
      json_build_object('account', (SELECT name FROM names WHERE id = e.account), 'amount', e.amount::text),
      json_build_object('account', (SELECT name FROM names WHERE id = e.contra), 'amount', (-e.amount)::text))
  END AS lines`
const SELECT_CALLS = `
  SELECT c.seq, c.at, e.seq AS entry, NULL AS kind, c.charged = 0 AND e.seq IS NULL AS is_free, ${LINES},
    e.seq IS NOT NULL AND e.seq = (SELECT max(seq) FROM entries) OR EXISTS (SELECT 1 FROM responses WHERE seq = c.seq)
    OR EXISTS (SELECT 1 FROM claims WHERE call = c.seq) AS is_kept
  FROM (
    SELECT * FROM calls WHERE seq > $1 AND seq < (SELECT max(seq) FROM calls) ORDER BY seq LIMIT $2
  ) AS c LEFT JOIN entries e ON e.call = c.seq ORDER BY c.seq`
const SELECT_ENTRIES = `
  SELECT e.seq, e.at, e.seq AS entry, (SELECT name FROM names WHERE id = e.kind) AS kind, false AS is_free, ${LINES},
    e.call IS NOT NULL AS is_kept
  FROM entries e WHERE e.seq > $1 AND e.seq < (SELECT max(seq) FROM entries) ORDER BY e.seq LIMIT $2`

export function postgresRetention(reads: PostgresReads, queue: PostgresQueue, names: PostgresNames): Retention {
  const moves = moveWriter(names)
  const throughOf = async (table: Table): Promise<number> => {
    const { rows } = await reads.query<{ through: string }>('SELECT through FROM trims WHERE name = $1', [table])
    return Number(rows[0]?.through ?? 0)
  }
  const carriedOf = async (account: string): Promise<Atoms> => {
    const { rows } = await reads.query<{ amount: string }>(
      'SELECT amount FROM carried WHERE account = (SELECT id FROM names WHERE name = $1)',
      [account]
    )
    return BigInt(rows[0]?.amount ?? 0)
  }
  /** Undefined if this pass has finished the table. */
  const slice = async (table: Table, rules: TrimRules): Promise<TrimPlan<Old> | undefined> => {
    const after = await throughOf(table)
    if (after === OVER) return undefined
    const text = table === 'calls' ? SELECT_CALLS : SELECT_ENTRIES
    const { rows } = await reads.query<OldRecord>(text, [after, rules.limit])
    const bounds = table === 'calls' ? rules : { ...rules, freeBefore: rules.before }
    const plan = await planTrim(
      rows.map((row) => toOld(row, rules)),
      bounds,
      carriedOf
    )
    const isOurs = await queue.write(moves, { table, after, plan }, plan.due.length * ROW_BYTES)
    return isOurs ? plan : { ...plan, due: [] }
  }
  return {
    async trim(rules): Promise<Trimmed> {
      const calls = await slice('calls', rules)
      if (calls !== undefined) {
        const entries = calls.due.filter(({ entry }) => entry !== null).length
        return { calls: calls.due.length, entries, isOver: false }
      }
      const plan = await slice('entries', rules)
      const isOver = (await throughOf('entries')) === OVER
      if (isOver) await queue.write(restarts, undefined, ROW_BYTES)
      return { calls: 0, entries: plan?.due.length ?? 0, isOver }
    }
  }
}

function toOld({ seq, at, entry, kind, is_kept, is_free, lines }: OldRecord, rules: TrimRules): Old {
  return {
    seq: Number(seq),
    at: Number(at),
    entry,
    isKept: is_kept || (kind !== null && !isTrimmedKind(kind, rules)),
    isFree: is_free,
    postings: (lines ?? []).map(({ account, amount }) => ({ account, amount: BigInt(amount) }))
  }
}

const restarts: Writer<undefined, void> = {
  async run(db, items) {
    await db.query(`UPDATE trims SET through = 0 WHERE NOT EXISTS (SELECT 1 FROM trims WHERE through <> ${OVER})`)
    return items.map(() => undefined)
  }
}

/** Deletes the due rows and carries their sums; false if another process did. */
function moveWriter(names: PostgresNames): Writer<Move, boolean> {
  return {
    async run(db, items) {
      const moved: boolean[] = []
      for (const item of items) moved.push(await move(db, names, item))
      return moved
    }
  }
}

async function move(db: ClientBase, names: PostgresNames, { table, after, plan }: Move): Promise<boolean> {
  const { due, carried, through = OVER } = plan
  // The row stays locked until the commit, so the slower of two processes sees that the other has moved on.
  const { rowCount } = await db.query('UPDATE trims SET through = $1 WHERE name = $2 AND through = $3', [
    through,
    table,
    after
  ])
  if (rowCount === 0) return false
  if (due.length === 0) return true
  const entries = due.flatMap(({ entry }) => (entry === null ? [] : [entry]))
  await db.query('DELETE FROM postings WHERE entry = ANY($1::bigint[])', [entries])
  await db.query('DELETE FROM entries WHERE seq = ANY($1::bigint[])', [entries])
  if (table === 'calls') {
    await db.query('DELETE FROM calls WHERE seq = ANY($1::bigint[])', [due.map(({ seq }) => seq)])
  }
  const ids = await names.idsOf(carried.keys())
  await db.query(
    `INSERT INTO carried (account, amount) SELECT * FROM unnest($1::bigint[], $2::numeric[])
     ON CONFLICT (account) DO UPDATE SET amount = excluded.amount`,
    [[...carried.keys()].map((account) => ids.get(account)), [...carried.values()]]
  )
  return true
}
