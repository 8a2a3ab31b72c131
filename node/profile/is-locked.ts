import { DatabaseSync } from 'node:sqlite'

/** SQLite’s result code for a database that another process has locked. */
const SQLITE_BUSY = 5

/** Whether a process holds the lock of `lockProfile`. Commands ask this, so it loads no other code. */
export function isLocked(path: string): boolean {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    file.exec('SELECT 1 FROM sqlite_master')
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    file?.close()
  }
}

export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
