import type { BookedEntry, DocumentPut, Entry, Ledger } from '../interface/ledger.ts'
import { checkEntry, drawnFrom } from './ledger-entry.ts'

type PutAll = (documents: readonly DocumentPut[]) => void

export interface MemoryLedger {
  readonly ledger: Ledger
  /** Books what was checked, and cannot have been booked before. */
  readonly post: (entry: Entry) => void
}

export function memoryLedger(check: () => void, putAll: PutAll): MemoryLedger {
  const entries: BookedEntry[] = []
  const balances = new Map<string, bigint>()
  const known = new Set<string>()

  const post = (entry: Entry): void => {
    entries.push({ ...entry, postings: entry.postings.map((posting) => ({ ...posting })), seq: entries.length + 1 })
    for (const { account, amount } of entry.postings) balances.set(account, (balances.get(account) ?? 0n) + amount)
  }
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
      const found = Array.from(balances, ([account, amount]) => ({ account, amount }))
      return found.filter(({ account }) => account.startsWith(prefix)).sort((a, b) => byBytes(a.account, b.account))
    },
    async entries({ after = 0, limit, kinds }) {
      check()
      const isMeant = (entry: BookedEntry) =>
        kinds === undefined || (kinds.includes(entry.kind) && known.has(nameOf(entry)))
      return entries.filter((entry) => entry.seq > after && isMeant(entry)).slice(0, Math.max(0, limit))
    }
  }
  return { ledger, post }
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
