import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Atoms } from '../../base/money.ts'
import type { Posting } from '../../interface/ledger.ts'
import type { Retention, Trimmed, TrimRules } from '../../interface/store.ts'
import type { CommitQueue } from '../commit-queue.ts'
import type { Balances } from './balances.ts'
import type { Names } from './names.ts'
import type { Usage } from './usage.ts'
import { isTrimmedKind, type OldRow, planTrim, type TrimPlan } from '../trim-plan.ts'

export interface SqliteRetentionInit {
  readonly db: DatabaseSync
  readonly queue: CommitQueue
  readonly names: Names
  readonly usage: Usage
  readonly balances: Balances
}

type Table = 'calls' | 'entries'
type Row = Record<string, SQLOutputValue>

interface Old extends OldRow {
  /** Row id of its entry. */
  readonly entry: number | undefined
}

/** The size of a row and its index entries. */
const ROW_BYTES = 512
/** Marks a table whose end this pass has reached. */
const OVER = -1

// The newest row of each table stays, so that no number is used twice.
const SELECT_CALLS = `
  SELECT c.seq, c.at, c.charged, e.seq AS entry, e.amount, a.name AS account, o.name AS contra,
    e.seq IS (SELECT max(seq) FROM entries) AND e.seq IS NOT NULL OR EXISTS (SELECT 1 FROM responses WHERE seq = c.seq)
    OR EXISTS (SELECT 1 FROM claims WHERE call = c.seq) AS is_kept
  FROM calls c LEFT JOIN entries e ON e.call = c.seq
  LEFT JOIN names a ON a.id = e.account LEFT JOIN names o ON o.id = e.contra
  WHERE c.seq > ? AND c.seq < (SELECT max(seq) FROM calls) ORDER BY c.seq LIMIT ?`
const SELECT_ENTRIES = `
  SELECT e.seq, e.at, e.call, e.seq AS entry, k.name AS kind, e.amount, a.name AS account, o.name AS contra
  FROM entries e JOIN names k ON k.id = e.kind
  LEFT JOIN names a ON a.id = e.account LEFT JOIN names o ON o.id = e.contra
  WHERE e.seq > ? AND e.seq < (SELECT max(seq) FROM entries) ORDER BY e.seq LIMIT ?`

export function sqliteRetention(init: SqliteRetentionInit): Retention {
  const { db, queue } = init
  const selectThrough = db.prepare('SELECT through FROM trims WHERE name = ?')
  const selectCalls = db.prepare(SELECT_CALLS)
  const selectEntries = db.prepare(SELECT_ENTRIES)
  const selectPostings = db.prepare(
    'SELECT n.name AS account, p.amount FROM postings p JOIN names n ON n.id = p.account WHERE p.entry = ? ORDER BY p.line'
  )
  for (const statement of [selectCalls, selectEntries, selectPostings]) statement.setReadBigInts(true)
  const selectCarried = db.prepare('SELECT amount FROM carried WHERE account = (SELECT id FROM names WHERE name = ?)')
  const write = prepareWrite(init)

  const throughOf = (table: Table): number => Number(selectThrough.get(table)?.['through'] ?? 0)
  const postingsOf = (row: Row): Posting[] => {
    if (row['entry'] === null) return []
    const toPosting = ({ account, amount }: Row) => ({ account: account as string, amount: amount as bigint })
    if (row['amount'] === null) return selectPostings.all(row['entry'] ?? null).map(toPosting)
    const first = toPosting(row)
    return [first, { account: row['contra'] as string, amount: -first.amount }]
  }
  const rowsOf = (table: Table, rules: TrimRules, after: number): Old[] => {
    const rows = (table === 'calls' ? selectCalls : selectEntries).all(after, rules.limit)
    return rows.map((row) => ({
      seq: Number(row['seq']),
      at: Number(row['at']),
      entry: row['entry'] === null ? undefined : Number(row['entry']),
      isKept:
        table === 'calls'
          ? row['is_kept'] !== 0n
          : row['call'] !== null || !isTrimmedKind(row['kind'] as string, rules),
      isFree: row['charged'] === 0n && row['entry'] === null,
      postings: postingsOf(row)
    }))
  }
  const carriedOf = (account: string): Atoms => BigInt(String(selectCarried.get(account)?.['amount'] ?? 0))
  /** Undefined if this pass has finished the table. */
  const slice = async (table: Table, rules: TrimRules): Promise<TrimPlan<Old> | undefined> => {
    const after = throughOf(table)
    if (after === OVER) return undefined
    const bounds = table === 'calls' ? rules : { ...rules, freeBefore: rules.before }
    const plan = await planTrim(rowsOf(table, rules, after), bounds, carriedOf)
    const isOurs = await queue.write(plan.due.length * ROW_BYTES, () =>
      throughOf(table) === after ? write(table, plan) : false
    )
    return isOurs ? plan : { ...plan, due: [] }
  }

  return {
    async trim(rules): Promise<Trimmed> {
      const calls = await slice('calls', rules)
      if (calls !== undefined) {
        const entries = calls.due.filter(({ entry }) => entry !== undefined).length
        return { calls: calls.due.length, entries, isOver: false }
      }
      const plan = await slice('entries', rules)
      const isOver = throughOf('entries') === OVER
      if (isOver) await queue.write(ROW_BYTES, () => write.restart())
      return { calls: 0, entries: plan?.due.length ?? 0, isOver }
    }
  }
}

type Write = ((table: Table, plan: TrimPlan<Old>) => true) & { restart(): void }

/** Deletes the due rows and carries their sums, in the running transaction. */
function prepareWrite({ db, names, usage, balances }: SqliteRetentionInit): Write {
  const deletePostings = db.prepare('DELETE FROM postings WHERE entry = ?')
  const deleteEntry = db.prepare('DELETE FROM entries WHERE seq = ?')
  const deleteCall = db.prepare('DELETE FROM calls WHERE seq = ?')
  const moveOn = db.prepare('UPDATE trims SET through = ? WHERE name = ?')
  const restart = db.prepare('UPDATE trims SET through = 0')
  const carry = db.prepare(
    'INSERT INTO carried (account, amount) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET amount = excluded.amount'
  )
  const write = (table: Table, { due, carried, through = OVER }: TrimPlan<Old>): true => {
    for (const { seq, entry, postings } of due) {
      if (entry !== undefined) {
        if (postings.length !== 2) deletePostings.run(entry)
        deleteEntry.run(entry)
      }
      if (table === 'calls') deleteCall.run(seq)
    }
    for (const [account, amount] of carried) carry.run(names.idOf(account), amount.toString())
    if (due.length > 0) {
      usage.settle()
      balances.settle()
    }
    moveOn.run(through, table)
    return true
  }
  return Object.assign(write, { restart: () => void restart.run() })
}
