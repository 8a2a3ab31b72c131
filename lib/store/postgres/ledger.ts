import { formatRequestId } from '../../base/request-id.ts'
import type { BookedEntry, DocumentPut, Entry, Ledger, Posting } from '../../interface/ledger.ts'
import { checkEntry, drawnFrom } from '../ledger-entry.ts'
import { postgresDraws } from './draws.ts'
import { putDocuments, sizeOf } from './documents.ts'
import { enterAll } from './entries.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresQueue } from './queue.ts'
import type { Writer } from './transaction.ts'
import type { PostgresReads } from './reads.ts'

const ENTRY_BYTES = 256
/** Sorts after every text with the same prefix. */
const LAST = '\u{10FFFF}'

export function postgresLedger(reads: PostgresReads, queue: PostgresQueue, names: PostgresNames): Ledger {
  const bookings: Writer<{ entry: Entry; documents: readonly DocumentPut[] }, boolean> = {
    awaitsOutcome: true,
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
  const draws = postgresDraws(names)
  return {
    async book(entry, documents = []) {
      checkEntry(entry)
      return queue.write(bookings, { entry, documents }, bytesOf(documents))
    },
    async draw(entry, account, documents = []) {
      checkEntry(entry)
      return queue.write(draws, { entry, documents, account, amount: drawnFrom(entry, account) }, bytesOf(documents))
    },
    async balance(account) {
      const { rows } = await reads.query<{ balance: string }>(
        'SELECT balance FROM accounts WHERE account = (SELECT id FROM names WHERE name = $1)',
        [account]
      )
      return BigInt(rows[0]?.balance ?? 0)
    },
    async balances(prefix) {
      const { rows } = await reads.query<{ name: string; balance: string }>(
        `SELECT n.name, a.balance FROM names n JOIN accounts a ON a.account = n.id
         WHERE n.name >= $1 AND n.name < $2 ORDER BY n.name`,
        [prefix, prefix + LAST]
      )
      return rows.map(({ name, balance }) => ({ account: name, amount: BigInt(balance) }))
    },
    async carried(prefix) {
      const { rows } = await reads.query<{ name: string; amount: string }>(
        `SELECT n.name, c.amount FROM names n JOIN carried c ON c.account = n.id
         WHERE n.name >= $1 AND n.name < $2 ORDER BY n.name`,
        [prefix, prefix + LAST]
      )
      return rows.map(({ name, amount }) => ({ account: name, amount: BigInt(amount) }))
    },
    async entries({ after = 0, limit, kinds }) {
      const page = [after, Math.max(0, Math.floor(limit))]
      const { rows } = await (kinds === undefined
        ? reads.query<SelectedPosting>(SELECT_ALL, page)
        : reads.query<SelectedPosting>(SELECT_OF_KINDS, [...page, kinds]))
      return toEntries(rows)
    }
  }
}

const bytesOf = (documents: readonly DocumentPut[]): number => ENTRY_BYTES + sizeOf(documents)

interface SelectedPosting {
  seq: string
  at: string
  kind: string
  reference: string | null
  request_id: Buffer | null
  account: string
  amount: string
}

const PAGE = 'SELECT * FROM entries WHERE seq > $1 ORDER BY seq LIMIT $2'
/** One kind at a time, because the index of kinds has its entries in order. */
const PAGE_OF_KINDS = `
  SELECT e.* FROM names k CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE kind = k.id AND reference IS NOT NULL AND seq > $1 ORDER BY seq LIMIT $2
  ) AS e WHERE k.name = ANY($3::text[]) ORDER BY e.seq LIMIT $2`
const selectPostings = (page: string): string => `
  WITH page AS (${page}), lines AS (
    SELECT seq, 0 AS line, account, amount FROM page WHERE amount IS NOT NULL
    UNION ALL SELECT seq, 1, contra, -amount FROM page WHERE amount IS NOT NULL
    UNION ALL SELECT p.seq, l.line, l.account, l.amount FROM page p JOIN postings l ON l.entry = p.seq
  )
  SELECT p.seq, p.at, k.name AS kind, p.reference, c.request_id, n.name AS account, l.amount
  FROM page p JOIN lines l ON l.seq = p.seq JOIN names k ON k.id = p.kind JOIN names n ON n.id = l.account
  LEFT JOIN calls c ON c.seq = p.call
  ORDER BY p.seq, l.line`

const SELECT_ALL = selectPostings(PAGE)
const SELECT_OF_KINDS = selectPostings(PAGE_OF_KINDS)

/** The rows of one entry are adjacent. */
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
