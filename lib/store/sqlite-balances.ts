import type { DatabaseSync } from 'node:sqlite'
import type { Balance } from '../interface/ledger.ts'

/** The balance of each account. Moved once a transaction, so that a busy account costs one write for all its entries. */
export interface Balances {
  /** Counts a posting that the running transaction holds. `account` is the row id of its name. */
  add(account: number, amount: bigint): void
  /** Writes what was counted; part of the same transaction. */
  write(): void
  /** For after a rollback. */
  forget(): void
  of(account: string): bigint
  /** Of the account with this row id, as the running transaction leaves it so far. */
  current(account: number): bigint
  beginningWith(prefix: string): Balance[]
}

/** Sorts behind whatever begins with what stands before it. */
const LAST = '\u{10FFFF}'

export function sqliteBalances(db: DatabaseSync): Balances {
  const select = db.prepare('SELECT balance FROM accounts WHERE account = ?')
  const selectByName = db.prepare('SELECT balance FROM accounts WHERE account = (SELECT id FROM names WHERE name = ?)')
  const selectRange = db.prepare(
    `SELECT n.name, a.balance FROM names n JOIN accounts a ON a.account = n.id
     WHERE n.name >= ? AND n.name < ? ORDER BY n.name`
  )
  const upsert = db.prepare(
    `INSERT INTO accounts (account, balance) VALUES (?, ?)
     ON CONFLICT (account) DO UPDATE SET balance = excluded.balance`
  )
  const added = new Map<number, bigint>()
  const current = (account: number): bigint =>
    BigInt(String(select.get(account)?.['balance'] ?? 0)) + (added.get(account) ?? 0n)

  return {
    add: (account, amount) => void added.set(account, (added.get(account) ?? 0n) + amount),
    write() {
      for (const account of added.keys()) upsert.run(account, current(account).toString())
      added.clear()
    },
    forget: () => added.clear(),
    current,
    of: (account) => BigInt(String(selectByName.get(account)?.['balance'] ?? 0)),
    beginningWith: (prefix) =>
      selectRange
        .all(prefix, prefix + LAST)
        .map((row) => ({ account: row['name'] as string, amount: BigInt(row['balance'] as string) }))
  }
}
