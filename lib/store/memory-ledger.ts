import type { BookedEntry, DocumentPut, Entry, Ledger } from '../interface/ledger.ts'
import { checkEntry, drawnFrom } from './ledger-entry.ts'

type PutAll = (documents: readonly DocumentPut[]) => void

export interface MemoryLedger {
  readonly ledger: Ledger
  /** Books what was checked, and cannot have been booked before; returns its number. */
  readonly post: (entry: Entry) => number
  readonly entries: ReadonlyMap<number, BookedEntry>
  /** For age. The event stays booked no more. */
  readonly remove: (seq: number) => void
  readonly carried: Map<string, bigint>
}

export function memoryLedger(check: () => void, putAll: PutAll): MemoryLedger {
  const entries = new Map<number, BookedEntry>()
  const carried = new Map<string, bigint>()
  const balances = new Map<string, bigint>()
  const known = new Set<string>()
  let seq = 0

  const post = (entry: Entry): number => {
    seq++
    entries.set(seq, { ...entry, postings: entry.postings.map((posting) => ({ ...posting })), seq })
    for (const { account, amount } of entry.postings) balances.set(account, (balances.get(account) ?? 0n) + amount)
    return seq
  }
  const startingWith = (amounts: ReadonlyMap<string, bigint>, prefix: string) =>
    Array.from(amounts, ([account, amount]) => ({ account, amount }))
      .filter(({ account }) => account.startsWith(prefix))
      .sort((a, b) => byBytes(a.account, b.account))
  const nameOf = ({ kind, reference }: Entry): string => `${kind}\0${reference}`
  const enter = (entry: Entry, documents: readonly DocumentPut[]): boolean => {
    if (known.has(nameOf(entry))) return false
    known.add(nameOf(entry))
    post(entry)
    putAll(documents)
    return true
  }
  const ledger: Ledger = {
    async book(entry, documents = []) {
      check()
      checkEntry(entry)
      return enter(entry, documents)
    },
    async draw(entry, account, documents = []) {
      check()
      checkEntry(entry)
      const isShort = (balances.get(account) ?? 0n) + drawnFrom(entry, account) > 0n
      if (isShort && !known.has(nameOf(entry))) return 'short'
      return enter(entry, documents) ? 'booked' : 'repeated'
    },
    async balance(account) {
      check()
      return balances.get(account) ?? 0n
    },
    async balances(prefix) {
      check()
      return startingWith(balances, prefix)
    },
    async carried(prefix) {
      check()
      return startingWith(carried, prefix)
    },
    async entries({ after = 0, limit, kinds }) {
      check()
      const isMeant = (entry: BookedEntry) =>
        kinds === undefined || (kinds.includes(entry.kind) && known.has(nameOf(entry)))
      const wanted = [...entries.values()].filter((entry) => entry.seq > after && isMeant(entry))
      return wanted.slice(0, Math.max(0, limit))
    }
  }
  const remove = (which: number): void => {
    const entry = entries.get(which)
    if (entry === undefined) return
    entries.delete(which)
    known.delete(nameOf(entry))
  }
  return { ledger, post, entries, remove, carried }
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
