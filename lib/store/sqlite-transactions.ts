import { fdatasync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Transactions } from './commit-queue.ts'
import { faultOf } from './sqlite-errors.ts'

/** What belongs to a transaction beside its writes. */
export interface TransactionHooks {
  beforeCommit(): void
  afterCommit(): void
  afterRollback(): void
  /** One write was taken back, the transaction goes on. */
  afterSavepointRollback(): void
}

/** `wal`: descriptor of the write-ahead log. What was committed is in it, and durable once it is synced. */
export function sqliteTransactions(db: DatabaseSync, wal: number, hooks: TransactionHooks): Transactions {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  return {
    begin: () => void begin.run(),
    commit() {
      hooks.beforeCommit()
      commit.run()
      hooks.afterCommit()
    },
    rollback() {
      // A full or failing disk makes SQLite roll back by itself.
      if (db.isTransaction) db.exec('ROLLBACK')
      hooks.afterRollback()
    },
    isolate(write) {
      db.exec('SAVEPOINT entry')
      try {
        write()
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK TO entry; RELEASE entry')
        hooks.afterSavepointRollback()
        throw error
      }
      db.exec('RELEASE entry')
    },
    sync: (done) => fdatasync(wal, done),
    isFatal: (error) => faultOf(error) !== undefined,
    get active() {
      return db.isTransaction
    }
  }
}
