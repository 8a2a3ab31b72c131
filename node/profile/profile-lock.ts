import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { SetupError } from '../setup-error.ts'

/** SQLite's result code for "somebody else holds it". */
const SQLITE_BUSY = 5

export interface ProfileLock {
  release(): void
}

/**
 * Holds a profile for this process alone: two nodes with one identity would answer for each other and write one ledger.
 *
 * Node has no `flock`, and a pid file outlives a killed process. So the lock is SQLite's own, on an empty database file:
 * the kernel drops it with the process, however it ends, and a pid that was given away again cannot confuse it.
 *
 * @throws SetupError `profile_in_use`
 */
export function lockProfile(path: string, profile: string): ProfileLock {
  // SQLite would make it with the umask's mode.
  closeSync(openSync(path, 'a', 0o600))
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      throw new SetupError('profile_in_use', `Another node is running on the profile "${profile}".`, {
        hint: `souk --profile ${profile} status, or run a second node with souk up --profile <another name>`,
        cause: error
      })
    }
    throw error
  }
  return { release: () => file.close() }
}
