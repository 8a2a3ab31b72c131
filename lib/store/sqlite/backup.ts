import { closeSync, openSync, rmSync } from 'node:fs'
import { backup, type DatabaseSync } from 'node:sqlite'
import { SoukError } from '../../base/errors.ts'
import { BACKUP_STEP_PAGES, BACKUP_TRIES_MAX } from '../../base/limits/store.ts'

/**
 * Copies an open database to a new file with mode 0600, by SQLite's online backup. The copy is a consistent state on disk;
 * commits continue meanwhile.
 * @throws SoukError `invalid_request` if the file exists already, `internal_error` if it cannot be written
 */
export async function backUp(db: DatabaseSync, path: string): Promise<void> {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new SoukError('invalid_request', 'The backup file exists already. Choose another name.')
    }
    throw unwritten(error)
  }
  try {
    await copy(db, path)
  } catch (error) {
    rmSync(path, { force: true })
    throw unwritten(error)
  }
}

async function copy(db: DatabaseSync, path: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await backup(db, path, { rate: BACKUP_STEP_PAGES })
      return
    } catch (error) {
      if (!metTransaction(error) || tries === BACKUP_TRIES_MAX) throw error
    }
  }
}

/** Node.js repeats a step that meets a transaction, except the first one: that ends the backup with an error whose code says success. */
function metTransaction(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 0
}

function unwritten(cause: unknown): SoukError {
  return new SoukError('internal_error', 'The backup of the store cannot be written.', { cause })
}
