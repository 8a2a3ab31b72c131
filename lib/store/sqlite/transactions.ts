import type { Transactions } from '../commit-queue.ts'
import { faultOf } from './errors.ts'
import type { SqliteDatabase } from './file.ts'

/** Hooks around the writes of a transaction. */
export interface TransactionHooks {
  beforeCommit(): void
  afterCommit(): void
  afterRollback(): void
  /** Called when one write was rolled back and the transaction continues. */
  afterSavepointRollback(): void
}

export function sqliteTransactions({ db, sync }: SqliteDatabase, hooks: TransactionHooks): Transactions {
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
    sync,
    isFatal: (error) => faultOf(error) !== undefined,
    get active() {
      return db.isTransaction
    }
  }
}
