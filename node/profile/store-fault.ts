import { type StoreFault, storeFaultOf } from '../../lib/index.ts'
import { SetupError } from '../setup-error.ts'
import { type ProfileLocation, profileFile } from './profile.ts'

const RESTORE = 'another profile of a backup by: souk restore <directory of the backup> --profile <new name>'

/** The fault and its fix, by kind. Waiting or restarting does not fix `profile_broken`. */
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

/** Explains a failure of the store’s file to the operator; undefined for other errors. */
export function storeFault(error: unknown, profile: ProfileLocation): SetupError | undefined {
  const fault = storeFaultOf(error)
  if (fault === undefined) return undefined
  const [code, what, hint] = FAULTS[fault]
  return new SetupError(code, `${profileFile(profile, 'store')} ${what}`, { hint })
}

/** Explains a profile file that cannot be read or written at the start; undefined for other errors. */
export function fileFault(error: unknown, profile: ProfileLocation): SetupError | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error) return storeFault(error, profile)
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined
  const fault = path === undefined ? undefined : storeFaultOf(error)
  if (fault === undefined) return undefined
  const [code, what, hint] = FAULTS[fault]
  return new SetupError(code, `${path} ${what}`, { hint })
}

/** A commit failed. Its data may or may not be durable, so the process must end. */
export function storeFailed(error: unknown, profile: ProfileLocation): SetupError {
  const words = `${profileFile(profile, 'store')} cannot be used any more.`
  return (
    storeFault(error, profile) ??
    new SetupError('store_failed', words, { hint: 'start the node again, then souk doctor' })
  )
}
