import type { DatabaseSync } from 'node:sqlite'
import { SUMS_BEHIND_MAX } from '../../base/limits/store.ts'
import type { Balance } from '../../interface/ledger.ts'

/**
 * The balance of each account. Changed balances are cached and written now and then, with the entry up to which they are summed.
 * Most commits therefore write no page of balances. After a restart, later entries are summed again.
 */
export interface Balances {
  /** Counts a posting of the running transaction. @param account the row id of its name */
  add(account: number, amount: bigint): void
  /** True if there are enough changes to write the balances. All entries have to be in their table then. */
  readonly isDue: boolean
  /** Writes the changed balances if they are due, at the end of the running transaction. */
  write(): void
  /** Forces the running transaction to write them, because it deletes entries that a restart could not sum again. */
  settle(): void
  /** Call it after the commit. */
  keep(): void
  /** Call it after a rollback. */
  forget(): void
  of(account: string): bigint
  /** The balance of the account with this row id, including the running transaction. */
  current(account: number): bigint
  beginningWith(prefix: string): Balance[]
}

/** Sorts after every text with the same prefix. */
export const LAST = '\u{10FFFF}'
const SELECT_SINCE = `
  SELECT account, amount FROM entries WHERE seq > ?1 AND amount IS NOT NULL
  UNION ALL SELECT contra, -amount FROM entries WHERE seq > ?1 AND amount IS NOT NULL
  UNION ALL SELECT account, amount FROM postings WHERE entry > ?1`

export function sqliteBalances(db: DatabaseSync): Balances {
  const select = db.prepare('SELECT balance FROM accounts WHERE account = ?')
  const selectId = db.prepare('SELECT id FROM names WHERE name = ?')
  const selectRange = db.prepare(
    `SELECT n.id, n.name, a.balance FROM names n LEFT JOIN accounts a ON a.account = n.id
     WHERE n.name >= ? AND n.name < ? ORDER BY n.name`
  )
  const upsert = db.prepare(
    `INSERT INTO accounts (account, balance) VALUES (?, ?)
     ON CONFLICT (account) DO UPDATE SET balance = excluded.balance`
  )
  const moveOn = db.prepare(
    `UPDATE sums SET through = coalesce((SELECT max(seq) FROM entries), 0) WHERE name = 'accounts'`
  )
  /** Changes by the running transaction. */
  const added = new Map<number, bigint>()
  /** Balances that are not written yet. */
  const moved = new Map<number, bigint>()
  let behind = 0
  const written = (account: number): bigint => BigInt(String(select.get(account)?.['balance'] ?? 0))
  const current = (account: number): bigint => (moved.get(account) ?? written(account)) + (added.get(account) ?? 0n)
  const keep = (): void => {
    for (const account of added.keys()) moved.set(account, current(account))
    added.clear()
  }
  const add = (account: number, amount: bigint): void => {
    added.set(account, (added.get(account) ?? 0n) + amount)
    behind++
  }

  const selectSince = db.prepare(SELECT_SINCE)
  selectSince.setReadBigInts(true)
  const through = db.prepare(`SELECT through FROM sums WHERE name = 'accounts'`).get()?.['through'] ?? 0
  for (const { account, amount } of selectSince.all(through)) add(Number(account), amount as bigint)
  keep()

  return {
    add,
    get isDue() {
      return behind >= SUMS_BEHIND_MAX
    },
    write() {
      if (!this.isDue) return
      for (const account of new Set([...moved.keys(), ...added.keys()]))
        upsert.run(account, current(account).toString())
      moveOn.run()
      // The table has these balances now. If the commit fails, the store ends.
      moved.clear()
      added.clear()
      behind = 0
    },
    settle: () => void (behind = SUMS_BEHIND_MAX),
    keep,
    forget: () => added.clear(),
    current,
    of(account) {
      const id = selectId.get(account)?.['id']
      return id === undefined ? 0n : (moved.get(Number(id)) ?? written(Number(id)))
    },
    beginningWith(prefix) {
      const balances: Balance[] = []
      for (const { id, name, balance } of selectRange.all(prefix, prefix + LAST)) {
        const amount = moved.get(Number(id)) ?? (balance === null ? undefined : BigInt(balance as string))
        if (amount !== undefined) balances.push({ account: name as string, amount })
      }
      return balances
    }
  }
}
