import type { Atoms } from '../base/money.ts'
import type { Posting } from '../interface/ledger.ts'
import type { TrimRules } from '../interface/store.ts'

/** A row that may be deleted, in the form common to all stores. */
export interface OldRow {
  readonly seq: number
  readonly at: number
  /** True if it is kept at any age. */
  readonly isKept: boolean
  /** True for a call without a charge. */
  readonly isFree: boolean
  /** The postings of its entry. */
  readonly postings: readonly Posting[]
}

export interface TrimPlan<Row extends OldRow> {
  readonly due: readonly Row[]
  /** The new carried balances of the accounts that change. */
  readonly carried: ReadonlyMap<string, Atoms>
  /** The last examined row; absent if the end of the table was reached. */
  readonly through?: number
}

/**
 * Decides which of these rows are deleted. Rows must be in the order of `seq`. @param carriedOf the carried balance of an account
 */
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
    // Rows are in the order of time, except for those with a wrong time.
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

/** The carried balances of a row's accounts after its deletion; undefined if one of them rejects it. */
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
      // An account that rejected once is not asked again, because its entries are deleted in order.
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
