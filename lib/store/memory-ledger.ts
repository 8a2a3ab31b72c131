import type { BookedEntry, DocumentPut, Entry, Ledger } from '../interface/ledger.ts'
import { checkEntry } from './ledger-entry.ts'

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
  const ledger: Ledger = {
    async book(entry, documents = []) {
      check()
      checkEntry(entry)
      const name = `${entry.kind}\0${entry.reference}`
      if (known.has(name)) return false
      known.add(name)
      post(entry)
      putAll(documents)
      return true
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
    async entries({ after = 0, limit }) {
      check()
      return entries.filter(({ seq }) => seq > after).slice(0, Math.max(0, limit))
    }
  }
  return { ledger, post }
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
