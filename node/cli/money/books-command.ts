import type { BookEntryView, BooksView } from '../../admin/money/money-api.ts'
import type { AddCommand } from '../cli.ts'
import { csvLine } from '../terminal/csv.ts'
import { safeJson } from '../terminal/text.ts'
import { UsageError } from '../terminal/usage-error.ts'

interface ExportFlags {
  readonly book: string
  readonly after?: string
}

const COLUMNS = ['seq', 'time', 'kind', 'reference', 'account', 'debit', 'credit']

export const addBooks: AddCommand = (to, cli) => {
  const books = to.command('books').description('the ledger of this node')
  books
    .command('export')
    .description('print all entries, oldest first: one CSV line per posting, or with --json one JSON line per entry')
    .option('--book <book>', 'node, or accounts: the ledger of prepaid accounts in a shared database', 'node')
    .option('--after <seq>', 'only entries after this number')
    .action(async ({ book, after }: ExportFlags) => {
      const query = { book: bookOf(book), after: after === undefined ? 0 : seqOf(after) }
      const node = await cli.node()
      if (!cli.json) await cli.terminal.write(csvLine(COLUMNS))
      for (let next: number | null = query.after; next !== null; ) {
        const page: BooksView = await node.request('GET /books', { query: { ...query, after: next } })
        // The sum of expired entries comes first, as an entry without number and time.
        const carried = page.carried.map((posting) => ({
          seq: null,
          at: null,
          kind: 'carried',
          reference: '',
          postings: [posting]
        }))
        for (const entry of [...carried, ...page.entries]) {
          await cli.terminal.write(cli.json ? `${safeJson(entry)}\n` : linesOf(entry))
        }
        next = page.next
      }
    })
}

interface Row extends Omit<BookEntryView, 'seq' | 'at'> {
  readonly seq: number | null
  readonly at: number | null
}

function linesOf({ seq, at, kind, reference, postings }: Row): string {
  const time = at === null ? null : new Date(at).toISOString()
  return postings
    .map(({ account, amount }) => {
      // Two columns, debit and credit. No cell begins with a minus, which spreadsheets would run as a formula.
      const sides = amount.startsWith('-') ? ['', amount.slice(1)] : [amount, '']
      return csvLine([seq, time, kind, reference, account, ...sides])
    })
    .join('')
}

function bookOf(book: string): 'node' | 'accounts' {
  if (book === 'node' || book === 'accounts') return book
  throw new UsageError(`Unknown ledger "${book}".`, '--book node or --book accounts')
}

function seqOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`"${text}" is not an entry number.`, '--after 1200')
}
