import { closeSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SetupError } from '../setup-error.ts'
import { faultAt } from './file-fault.ts'
import { isBusy } from './is-locked.ts'
import { profileFile, type RunningInfo } from './profile.ts'

/** `isLocked` of other processes holds the file for less. */
const PROBE_MS = 250

export interface ProfileLock {
  release(): void
}

/**
 * Locks a profile for this process: two nodes with one identity would conflict on the network and in the ledger.
 * Node has no `flock`, and a pid file outlives a killed process. This uses SQLite’s lock on an empty database file: the kernel releases it
 * when the process ends, and reused pids do no harm.
 * @throws SetupError `profile_in_use`, `profile_broken`, `store_failed`
 */
export function lockProfile(path: string, profile: string): ProfileLock {
  let file: DatabaseSync | undefined
  try {
    // Create the file first, because SQLite would create it with the umask’s mode.
    closeSync(openSync(path, 'a', 0o600))
    file = new DatabaseSync(path, { timeout: PROBE_MS })
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    if (isBusy(error)) {
      throw new SetupError(
        'profile_in_use',
        `Another node is running on the profile "${profile}"${placeOf(path, profile)}.`,
        {
          hint: `souk --profile ${profile} status, or run a second node with souk up --profile <another name>`
        }
      )
    }
    throw faultAt(path, error) ?? error
  }
  return { release: () => file.close() }
}

/** The address of the node that holds the lock; nothing while it starts. */
function placeOf(lock: string, name: string): string {
  try {
    const running = readFileSync(profileFile({ name, directory: dirname(lock) }, 'running'), 'utf8')
    const { admin, pid } = JSON.parse(running) as RunningInfo
    return `, at ${admin} (process ${pid})`
  } catch {
    return ''
  }
}
