import { type StoreFault, storeFaultOf } from '../../lib/index.ts'
import { SetupError } from '../setup-error.ts'
import { type ProfileLocation, profileFile } from './profile.ts'

const RESTORE = 'another profile of a backup by: souk restore <directory of the backup> --profile <new name>'

/** What happened to the file, and what to do. No wait and no restart mends what is `profile_broken`. */
const FAULTS: Readonly<
  Record<StoreFault, readonly ['profile_broken' | 'store_failed' | 'profile_in_use', string, string]>
> = {
  busy: ['profile_in_use', 'is used by another process.', 'stop that process first'],
  damaged: ['profile_broken', 'is damaged.', RESTORE],
  newer: ['profile_broken', 'was written by a newer version of Souk.', `that version; or ${RESTORE}`],
  full: ['store_failed', 'cannot be written: the disk is full.', 'make room, then start the node again'],
  denied: [
    'profile_broken',
    'cannot be opened: this user may not read and write it.',
    'give it back to the user who runs the node'
  ],
  read_only: [
    'store_failed',
    'cannot be written: its file system is read-only.',
    'mount it for writing, then start the node again'
  ],
  failing: [
    'store_failed',
    'cannot be used: the disk gave an error.',
    `look at the disk; where the file is lost, ${RESTORE}`
  ]
}

/** The store's failure in words for its operator; undefined where it was none of its file. */
export function storeFault(error: unknown, profile: ProfileLocation): SetupError | undefined {
  const fault = storeFaultOf(error)
  if (fault === undefined) return undefined
  const [code, what, hint] = FAULTS[fault]
  return new SetupError(code, `${profileFile(profile, 'store')} ${what}`, { hint })
}

/** A file of the profile that cannot be read or written at the start; undefined for any other error. */
export function fileFault(error: unknown, profile: ProfileLocation): SetupError | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error) return storeFault(error, profile)
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined
  const fault = path === undefined ? undefined : storeFaultOf(error)
  if (fault === undefined) return undefined
  const [code, what, hint] = FAULTS[fault]
  return new SetupError(code, `${path} ${what}`, { hint })
}

/** A commit failed: what it held may have survived or not, so the process has to end. */
export function storeFailed(error: unknown, profile: ProfileLocation): SetupError {
  const words = `${profileFile(profile, 'store')} cannot be used any more.`
  return (
    storeFault(error, profile) ??
    new SetupError('store_failed', words, { hint: 'start the node again, then souk doctor' })
  )
}
