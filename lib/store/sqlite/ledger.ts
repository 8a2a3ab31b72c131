import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Atoms } from '../../base/money.ts'
import { formatRequestId } from '../../base/request-id.ts'
import type { BookedEntry, DocumentPut, Drawn, Ledger, Posting } from '../../interface/ledger.ts'
import type { CommitQueue } from '../commit-queue.ts'
import { checkEntry, drawnFrom } from '../ledger-entry.ts'
import { type Balances, LAST } from './balances.ts'
import { type PutDocuments, sizeOf } from './documents.ts'
import type { Names } from './names.ts'
import type { StagedCalls } from './staged-calls.ts'

/** The rows of an entry. The entry of a call has no reference, because the call's record identifies it. */
interface EntryRow {
  readonly kind: string
  readonly reference?: string
  /** Row id. */
  readonly call?: number | bigint
  readonly at: number
  readonly postings: readonly Posting[]
}

/** Writes an entry's rows and its documents in the running transaction. */
export interface Book {
  /** Returns false, and writes nothing, if an entry with this name exists already. */
  enter(entry: EntryRow, documents?: readonly DocumentPut[]): boolean
  /** Like `enter`, but only if the account has the `amount` that the entry takes from it. */
  draw(entry: EntryRow, account: string, amount: Atoms, documents: readonly DocumentPut[]): Drawn
}

export interface SqliteLedgerInit {
  readonly db: DatabaseSync
  readonly queue: CommitQueue
  readonly book: Book
  readonly balances: Balances
}

/** The size of an entry's row, its postings and their index entries. */
const ENTRY_BYTES = 256
const selectEntries = (where: string): string => `
  SELECT e.seq, e.at, k.name AS kind, e.reference, c.request_id, a.name AS account, o.name AS contra, e.amount
  FROM entries e JOIN names k ON k.id = e.kind LEFT JOIN calls c ON c.seq = e.call
  LEFT JOIN names a ON a.id = e.account LEFT JOIN names o ON o.id = e.contra
  WHERE ${where} e.seq > ? ORDER BY e.seq LIMIT ?`
/** One kind at a time, because the index of kinds has its entries in order. */
const OF_KIND = 'e.reference IS NOT NULL AND e.kind = (SELECT id FROM names WHERE name = ?) AND'
const SELECT_POSTINGS =
  'SELECT n.name AS account, p.amount FROM postings p JOIN names n ON n.id = p.account WHERE p.entry = ? ORDER BY p.line'

export function sqliteLedger({ db, queue, book, balances }: SqliteLedgerInit): Ledger {
  const selectAll = db.prepare(selectEntries(''))
  const selectOfKind = db.prepare(selectEntries(OF_KIND))
  const selectPostings = db.prepare(SELECT_POSTINGS)
  const selectCarried = db.prepare(
    `SELECT n.name, c.amount FROM names n CROSS JOIN carried c ON c.account = n.id
     WHERE n.name >= ? AND n.name < ? ORDER BY n.name`
  )
  for (const statement of [selectAll, selectOfKind, selectPostings]) statement.setReadBigInts(true)
  const postingsOf = (row: Row): Posting[] => {
    if (row['amount'] === null) return selectPostings.all(row['seq'] as bigint).map(toPosting)
    const first = toPosting(row)
    return [first, { account: row['contra'] as string, amount: -first.amount }]
  }

  return {
    async book(entry, documents = []) {
      checkEntry(entry)
      return queue.write(bytesOf(documents), () => book.enter(entry, documents))
    },
    async draw(entry, account, documents = []) {
      checkEntry(entry)
      const amount = drawnFrom(entry, account)
      return queue.write(bytesOf(documents), () => book.draw(entry, account, amount, documents))
    },
    async balance(account) {
      return balances.of(account)
    },
    async balances(prefix) {
      return balances.beginningWith(prefix)
    },
    async carried(prefix) {
      return selectCarried
        .all(prefix, prefix + LAST)
        .map(({ name, amount }) => ({ account: name as string, amount: BigInt(amount as string) }))
    },
    async entries({ after = 0, limit: asked, kinds }) {
      const limit = Math.max(0, Math.floor(asked))
      const rows =
        kinds === undefined
          ? selectAll.all(after, limit)
          : firstOf(
              [...new Set(kinds)].map((kind) => selectOfKind.all(kind, after, limit)),
              limit
            )
      return rows.map((row) => ({ ...headOf(row), postings: postingsOf(row) }))
    }
  }
}

const bytesOf = (documents: readonly DocumentPut[]): number => ENTRY_BYTES + sizeOf(documents)

export interface SqliteBookInit {
  readonly db: DatabaseSync
  readonly names: Names
  readonly balances: Balances
  /** Numbers the entries, so that those of staged calls keep their place. */
  readonly staged: Pick<StagedCalls, 'nextEntry'>
  readonly putDocuments: PutDocuments
}

export function sqliteBook({ db, names, balances, staged, putDocuments }: SqliteBookInit): Book {
  const insertEntry = db.prepare(
    `INSERT INTO entries (seq, at, kind, reference, call, account, contra, amount) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (kind, reference) WHERE reference IS NOT NULL DO NOTHING`
  )
  const insertPosting = db.prepare('INSERT INTO postings (entry, line, account, amount) VALUES (?, ?, ?, ?)')
  const selectEntry = db.prepare('SELECT 1 FROM entries WHERE kind = ? AND reference = ?')
  const insertLong = (entry: number, postings: readonly Posting[]): void => {
    const rows = postings.map(({ account, amount }) => ({ account: names.idOf(account), amount }))
    for (const [line, { account, amount }] of rows.entries()) insertPosting.run(entry, line, account, amount)
    for (const { account, amount } of rows) balances.add(account, amount)
  }
  const book: Book = {
    draw(entry, account, amount, documents) {
      if (balances.current(names.idOf(account)) + amount > 0n) {
        const known = selectEntry.get(names.idOf(entry.kind), entry.reference ?? null)
        return known === undefined ? 'short' : 'repeated'
      }
      return book.enter(entry, documents) ? 'booked' : 'repeated'
    },
    enter({ kind, reference, call, at, postings }, documents = []) {
      const [first, second] = postings
      // The common case, kept as cheap as possible.
      const isShort = postings.length === 2 && first !== undefined && second !== undefined
      const account = isShort ? names.idOf(first.account) : null
      const contra = isShort ? names.idOf(second.account) : null
      const amount = isShort ? first.amount : null
      const id = names.idOf(kind)
      const seq = staged.nextEntry()
      const { changes } = insertEntry.run(seq, at, id, reference ?? null, call ?? null, account, contra, amount)
      if (changes === 0) return false
      putDocuments(documents)
      // Last, so that a failed entry is not counted.
      if (isShort && account !== null && contra !== null) {
        balances.add(account, first.amount)
        balances.add(contra, second.amount)
      } else insertLong(seq, postings)
      return true
    }
  }
  return book
}

type Row = Record<string, SQLOutputValue>

/** The first rows of several ordered lists. */
function firstOf(lists: readonly Row[][], limit: number): Row[] {
  if (lists.length === 1) return lists[0] ?? []
  return lists
    .flat()
    .sort((a, b) => Number((a['seq'] as bigint) - (b['seq'] as bigint)))
    .slice(0, limit)
}

function toPosting(row: Row): Posting {
  return { account: row['account'] as string, amount: row['amount'] as bigint }
}

function headOf(row: Row): Omit<BookedEntry, 'postings'> {
  const { reference, request_id: requestId } = row
  return {
    seq: Number(row['seq']),
    kind: row['kind'] as string,
    reference: reference === null ? formatRequestId(requestId as Uint8Array) : (reference as string),
    at: Number(row['at'])
  }
}
