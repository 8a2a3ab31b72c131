import type { Atoms } from '../base/money.ts'
import type { BookedEntry } from '../interface/ledger.ts'
import type { CallRecord, Retention, TrimRules } from '../interface/store.ts'
import { isTrimmedKind, type OldRow, planTrim } from './trim-plan.ts'

/** What is deleted from, and what keeps the sums of it. */
export interface MemoryBooks {
  readonly check: () => void
  /** By what finds them, in the order of the appends. */
  readonly records: Map<string, CallRecord>
  readonly seqOf: (call: string) => number
  readonly isAnswer: (call: string) => boolean
  readonly entries: ReadonlyMap<number, BookedEntry>
  /** The entry of a call. */
  readonly entryOf: (call: string) => BookedEntry | undefined
  readonly isOfCall: (seq: number) => boolean
  readonly removeEntry: (seq: number) => void
  readonly carried: Map<string, Atoms>
}

interface Old extends OldRow {
  readonly call?: string
  readonly entry?: number
}

export function memoryRetention(books: MemoryBooks): Retention {
  const { check, records, entries, carried } = books
  const calls = (): Old[] => {
    // The newest row of each table stays, as in SQLite.
    const newest = [...entries.keys()].at(-1)
    return Array.from(records, ([call, { at, charged, response }]) => {
      const entry = books.entryOf(call)
      const isNewest = entry !== undefined && entry.seq === newest
      const isKept = isNewest || response !== undefined || books.isAnswer(call)
      const isFree = charged === 0n && entry === undefined
      const own = entry === undefined ? {} : { entry: entry.seq }
      return { seq: books.seqOf(call), at, isKept, isFree, postings: entry?.postings ?? [], call, ...own }
    })
  }
  const others = (rules: TrimRules): Old[] =>
    Array.from(entries.values(), ({ seq, at, kind, postings }) => {
      const isKept = books.isOfCall(seq) || !isTrimmedKind(kind, rules)
      return { seq, at, isKept, isFree: false, postings, entry: seq }
    })
  /** Undefined where this pass has looked at the table to its end. */
  const through = new Map<'calls' | 'entries', number | undefined>()
  const restart = () => void through.set('calls', 0).set('entries', 0)
  const slice = async (table: 'calls' | 'entries', rows: readonly Old[], rules: TrimRules): Promise<readonly Old[]> => {
    const after = through.get(table) ?? 0
    const next = rows.slice(0, -1).filter(({ seq }) => seq > after)
    const plan = await planTrim(next.slice(0, rules.limit), rules, (account) => carried.get(account) ?? 0n)
    // Another slice that was asked for meanwhile did the same work.
    if (through.get(table) !== after) return []
    through.set(table, plan.through)
    for (const { call, entry } of plan.due) {
      if (call !== undefined) records.delete(call)
      if (entry !== undefined) books.removeEntry(entry)
    }
    for (const [account, amount] of plan.carried) carried.set(account, amount)
    return plan.due
  }
  restart()
  return {
    async trim(rules) {
      check()
      if (through.get('calls') !== undefined) {
        const due = await slice('calls', calls(), rules)
        return { calls: due.length, entries: due.filter(({ entry }) => entry !== undefined).length, isOver: false }
      }
      const bounds = { ...rules, freeBefore: rules.before }
      const due = through.get('entries') === undefined ? [] : await slice('entries', others(rules), bounds)
      const isOver = through.get('entries') === undefined
      if (isOver) restart()
      return { calls: 0, entries: due.length, isOver }
    }
  }
}
