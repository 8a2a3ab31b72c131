import type { Atoms } from '../base/money.ts'
import type { Posting } from '../interface/ledger.ts'
import type { TrimRules } from '../interface/store.ts'

/** A row that may be deleted, as all stores read it. */
export interface OldRow {
  readonly seq: number
  readonly at: number
  /** It stays, however old it is. */
  readonly isKept: boolean
  /** A call that cost nothing. */
  readonly isFree: boolean
  /** Of the entry that goes with it. */
  readonly postings: readonly Posting[]
}

export interface TrimPlan<Row extends OldRow> {
  readonly due: readonly Row[]
  /** Carried balances as they are after it, of the accounts that change. */
  readonly carried: ReadonlyMap<string, Atoms>
  /** The last row that was looked at; absent where the table was looked at to its end. */
  readonly through?: number
}

/** Decides what becomes of a slice of rows, which are in the order of `seq`. `carriedOf` gives the carried balance of an account. */
export async function planTrim<Row extends OldRow>(
  rows: readonly Row[],
  rules: TrimRules,
  carriedOf: (account: string) => Atoms | Promise<Atoms>
): Promise<TrimPlan<Row>> {
  const { before, freeBefore, now, limit } = rules
  const due: Row[] = []
  const carried = new Map<string, Atoms>()
  const refused = new Set<string>()
  for (const row of rows) {
    // Rows stand in the order of their times, but for those with a wrong time.
    if (row.at >= freeBefore && row.at <= now) return { due, carried }
    if (row.isKept || row.at >= (row.isFree ? freeBefore : before)) continue
    const after = await sumsAfter(row, rules, (account) => carried.get(account) ?? carriedOf(account), refused)
    if (after === undefined) continue
    for (const [account, total] of after) carried.set(account, total)
    due.push(row)
  }
  const last = rows.at(-1)
  return last === undefined || rows.length < limit ? { due, carried } : { due, carried, through: last.seq }
}

/** What the accounts of a row carry once it is deleted; undefined where one of them is refused. */
async function sumsAfter(
  { postings }: OldRow,
  { isDue }: TrimRules,
  carriedOf: (account: string) => Atoms | Promise<Atoms>,
  refused: Set<string>
): Promise<ReadonlyMap<string, Atoms> | undefined> {
  if (postings.some(({ account }) => refused.has(account))) return undefined
  const after = new Map<string, Atoms>()
  for (const { account, amount } of postings) {
    const total = (await carriedOf(account)) + amount
    if (!(await isDue(account, total))) {
      // One that was refused once is not asked for again: its entries are deleted in their order.
      refused.add(account)
      return undefined
    }
    after.set(account, total)
  }
  return after
}

export function isTrimmedKind(kind: string, { kinds }: TrimRules): boolean {
  return kinds.some((beginning) => kind.startsWith(beginning))
}
