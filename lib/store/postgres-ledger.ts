import type { ClientBase, Pool } from 'pg'
import { formatRequestId } from '../base/request-id.ts'
import type { BookedEntry, DocumentPut, Entry, Ledger, Posting } from '../interface/ledger.ts'
import { checkEntry } from './ledger-entry.ts'
import { putDocuments } from './postgres-documents.ts'
import type { PostgresNames } from './postgres-names.ts'
import type { PostgresQueue, Writer } from './postgres-queue.ts'

/** An entry as its rows are: one of a call has no reference, its call's record names it. */
export interface EntryRow {
  readonly kind: string
  readonly reference: string | null
  /** Row id. */
  readonly call: string | null
  readonly at: number
  readonly postings: readonly Posting[]
}

const ENTRY_BYTES = 256
/** Sorts behind whatever begins with what stands before it. */
const LAST = '\u{10FFFF}'

/** Writes entries and moves balances within the running transaction; tells of each whether it was new. */
export async function enterAll(db: ClientBase, names: PostgresNames, entries: readonly EntryRow[]): Promise<boolean[]> {
  if (entries.length === 0) return []
  const ids = await names.idsOf(
    entries.flatMap(({ kind, postings }) => [kind, ...postings.map(({ account }) => account)])
  )
  const id = (name: string): string | null => ids.get(name) ?? null
  const short = entries.map(({ postings }) => (postings.length === 2 ? postings : undefined))
  const { rows } = await db.query<{ n: string; seq: string }>({
    name: 'enter',
    text: `WITH given AS (
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
             WITH ORDINALITY AS g (at, kind, reference, call, account, contra, amount, n)
           ), written AS (
             INSERT INTO entries (at, kind, reference, call, account, contra, amount)
             SELECT at, kind, reference, call, account, contra, amount FROM given ORDER BY n
             ON CONFLICT (kind, reference) WHERE reference IS NOT NULL DO NOTHING
             RETURNING seq, kind, reference, call
           )
           SELECT min(g.n) AS n, w.seq FROM written w JOIN given g
             ON w.call = g.call OR (w.kind = g.kind AND w.reference = g.reference)
           GROUP BY w.seq`,
    values: [
      entries.map(({ at }) => at),
      entries.map(({ kind }) => id(kind)),
      entries.map(({ reference }) => reference),
      entries.map(({ call }) => call),
      short.map((postings) => postings?.[0] && id(postings[0].account)),
      short.map((postings) => postings?.[1] && id(postings[1].account)),
      short.map((postings) => postings?.[0]?.amount)
    ]
  })
  const seqs = new Map(rows.map(({ n, seq }) => [Number(n) - 1, seq]))
  const written = entries.flatMap(({ postings }, i) => {
    const entry = seqs.get(i)
    return entry === undefined
      ? []
      : postings.map((posting, line) => ({ ...posting, entry, line, count: postings.length }))
  })
  await insertLong(
    db,
    written.filter(({ count }) => count !== 2),
    id
  )
  await moveBalances(db, written, id)
  return entries.map((_, i) => seqs.has(i))
}

type IdOf = (name: string) => string | null

async function insertLong(
  db: ClientBase,
  rows: ReadonlyArray<Posting & { entry: string; line: number }>,
  id: IdOf
): Promise<void> {
  if (rows.length === 0) return
  await db.query(
    `INSERT INTO postings (entry, line, account, amount)
     SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::bigint[])`,
    [
      rows.map(({ entry }) => entry),
      rows.map(({ line }) => line),
      rows.map(({ account }) => id(account)),
      rows.map(({ amount }) => amount)
    ]
  )
}

async function moveBalances(db: ClientBase, postings: readonly Posting[], id: IdOf): Promise<void> {
  const sums = new Map<string, bigint>()
  for (const { account, amount } of postings) sums.set(account, (sums.get(account) ?? 0n) + amount)
  if (sums.size === 0) return
  // By row id, so that two processes never wait for each other's rows.
  await db.query({
    name: 'move-balances',
    text: `INSERT INTO accounts (account, balance)
           SELECT account, balance FROM unnest($1::bigint[], $2::numeric[]) AS g (account, balance) ORDER BY account
           ON CONFLICT (account) DO UPDATE SET balance = accounts.balance + excluded.balance`,
    values: [[...sums.keys()].map(id), [...sums.values()]]
  })
}

export function postgresLedger(pool: Pool, queue: PostgresQueue, names: PostgresNames): Ledger {
  const bookings: Writer<{ entry: Entry; documents: readonly DocumentPut[] }, boolean> = {
    async run(db, items) {
      const isNew = await enterAll(
        db,
        names,
        items.map(({ entry }) => ({ ...entry, call: null }))
      )
      await putDocuments(
        db,
        items.flatMap(({ documents }, i) => (isNew[i] === true ? documents : []))
      )
      return isNew
    }
  }
  return {
    async book(entry, documents = []) {
      checkEntry(entry)
      const bytes = documents.reduce((sum, { value }) => sum + value.length, ENTRY_BYTES)
      return queue.write(bookings, { entry, documents }, bytes)
    },
    async balance(account) {
      const { rows } = await pool.query<{ balance: string }>(
        'SELECT balance FROM accounts WHERE account = (SELECT id FROM names WHERE name = $1)',
        [account]
      )
      return BigInt(rows[0]?.balance ?? 0)
    },
    async balances(prefix) {
      const { rows } = await pool.query<{ name: string; balance: string }>(
        `SELECT n.name, a.balance FROM names n JOIN accounts a ON a.account = n.id
         WHERE n.name >= $1 AND n.name < $2 ORDER BY n.name`,
        [prefix, prefix + LAST]
      )
      return rows.map(({ name, balance }) => ({ account: name, amount: BigInt(balance) }))
    },
    async entries({ after = 0, limit }) {
      const { rows } = await pool.query<SelectedPosting>(SELECT_POSTINGS, [after, Math.max(0, Math.floor(limit))])
      return toEntries(rows)
    }
  }
}

interface SelectedPosting {
  seq: string
  at: string
  kind: string
  reference: string | null
  request_id: Buffer | null
  account: string
  amount: string
}

const SELECT_POSTINGS = `
  WITH page AS (SELECT * FROM entries WHERE seq > $1 ORDER BY seq LIMIT $2), lines AS (
    SELECT seq, 0 AS line, account, amount FROM page WHERE amount IS NOT NULL
    UNION ALL SELECT seq, 1, contra, -amount FROM page WHERE amount IS NOT NULL
    UNION ALL SELECT p.seq, l.line, l.account, l.amount FROM page p JOIN postings l ON l.entry = p.seq
  )
  SELECT p.seq, p.at, k.name AS kind, p.reference, c.request_id, n.name AS account, l.amount
  FROM page p JOIN lines l ON l.seq = p.seq JOIN names k ON k.id = p.kind JOIN names n ON n.id = l.account
  LEFT JOIN calls c ON c.seq = p.call
  ORDER BY p.seq, l.line`

/** Rows of one entry stand together. */
function toEntries(rows: readonly SelectedPosting[]): BookedEntry[] {
  const entries: Array<BookedEntry & { postings: Posting[] }> = []
  for (const { seq, at, kind, reference, request_id, account, amount } of rows) {
    if (entries.at(-1)?.seq !== Number(seq)) {
      const name = reference ?? (request_id === null ? '' : formatRequestId(request_id))
      entries.push({ seq: Number(seq), kind, reference: name, at: Number(at), postings: [] })
    }
    entries.at(-1)?.postings.push({ account, amount: BigInt(amount) })
  }
  return entries
}
