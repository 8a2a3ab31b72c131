import type { ClientBase } from 'pg'
import type { Atoms } from '../../base/money.ts'
import type { DocumentPut, Drawn, Entry } from '../../interface/ledger.ts'
import { putDocuments } from './documents.ts'
import { enterAll } from './entries.ts'
import { MustBeAlone } from './errors.ts'
import type { PostgresNames } from './names.ts'
import type { Writer } from './transaction.ts'

interface Draw {
  readonly entry: Entry
  readonly documents: readonly DocumentPut[]
  readonly account: string
  /** The amount that the entry takes from the account. */
  readonly amount: Atoms
}

/**
 * Books entries only if an account has the amount that they draw. The accounts' rows are locked before their balances are read,
 * so that the balances hold until the entry is booked, whatever other processes do.
 */
export function postgresDraws(names: PostgresNames): Writer<Draw, Drawn> {
  return {
    awaitsOutcome: true,
    async run(db, draws) {
      const known = await knownAmong(db, names, draws)
      const balances = await lockBalances(db, names, draws)
      const outcomes = draws.map((draw) => decide(draw, known, balances))
      const booked = draws.filter((_, i) => outcomes[i] === 'booked')
      const rows = booked.map(({ entry }) => ({ ...entry, call: null }))
      const isNew = await enterAll(db, names, rows)
      if (isNew.includes(false)) {
        // Another process has just booked one of them, so the decisions for the others may be wrong.
        if (draws.length > 1) throw new MustBeAlone('Another process booked an entry at the same time.')
        return ['repeated']
      }
      await putDocuments(
        db,
        booked.flatMap(({ documents }) => documents)
      )
      return outcomes
    }
  }
}

/** Decides one draw after the other, as if each were alone. */
function decide({ entry, account, amount }: Draw, known: Set<string>, balances: Map<string, Atoms>): Drawn {
  if (known.has(nameOf(entry))) return 'repeated'
  if ((balances.get(account) ?? 0n) + amount > 0n) return 'short'
  known.add(nameOf(entry))
  for (const posting of entry.postings) {
    balances.set(posting.account, (balances.get(posting.account) ?? 0n) + posting.amount)
  }
  return 'booked'
}

const nameOf = ({ kind, reference }: Pick<Entry, 'kind' | 'reference'>): string => `${kind}\0${reference}`

async function knownAmong(db: ClientBase, names: PostgresNames, draws: readonly Draw[]): Promise<Set<string>> {
  const ids = await names.idsOf(draws.map(({ entry }) => entry.kind))
  const { rows } = await db.query<{ kind: string; reference: string }>({
    name: 'known-entries',
    text: `SELECT g.kind, g.reference FROM unnest($1::text[], $2::bigint[], $3::text[]) AS g (kind, id, reference)
           JOIN entries e ON e.kind = g.id AND e.reference = g.reference`,
    values: [
      draws.map(({ entry }) => entry.kind),
      draws.map(({ entry }) => ids.get(entry.kind) ?? null),
      draws.map(({ entry }) => entry.reference)
    ]
  })
  return new Set(rows.map(nameOf))
}

/** Locks the accounts of all entries. All processes use the same order, so that no two wait for each other's rows. */
async function lockBalances(db: ClientBase, names: PostgresNames, draws: readonly Draw[]): Promise<Map<string, Atoms>> {
  const accounts = new Set(draws.flatMap(({ entry }) => entry.postings.map(({ account }) => account)))
  const ids = await names.idsOf(accounts)
  const byId = new Map(Array.from(accounts, (account) => [ids.get(account) ?? '', account]))
  const { rows } = await db.query<{ account: string; balance: string }>({
    name: 'lock-balances',
    text: 'SELECT account, balance FROM accounts WHERE account = ANY($1::bigint[]) ORDER BY account FOR UPDATE',
    values: [[...byId.keys()]]
  })
  return new Map(rows.map(({ account, balance }) => [byId.get(account) ?? '', BigInt(balance)]))
}
