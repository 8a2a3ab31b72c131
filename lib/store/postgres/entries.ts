import type { ClientBase } from 'pg'
import type { Posting } from '../../interface/ledger.ts'
import type { PostgresNames } from './names.ts'

/** The rows of an entry. The entry of a call has no reference, because the call's record identifies it. */
export interface EntryRow {
  readonly kind: string
  readonly reference: string | null
  /** Row id. */
  readonly call: string | null
  readonly at: number
  readonly postings: readonly Posting[]
}

/** Writes entries and updates balances in the running transaction. Returns for each entry whether it was new. */
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
