import { limits, type StoreFault, storeFaultOf } from '../../lib/index.ts'
import { SetupError } from '../setup-error.ts'

const RESTORE = 'another profile of a backup by: souk restore <directory of the backup> --profile <new name>'

/** The fault and its fix, by kind. Waiting or restarting does not fix `profile_broken`. */
const FAULTS: Readonly<
  Record<StoreFault, readonly ['profile_broken' | 'store_failed' | 'profile_in_use', string, string]>
> = {
  busy: ['profile_in_use', 'is used by another process.', 'stop that process first'],
  damaged: ['profile_broken', 'is damaged.', RESTORE],
  newer: ['profile_broken', 'was written by a newer version of Souk.', `that version; or ${RESTORE}`],
  full: ['store_failed', 'cannot be written: the disk is full.', 'make room, then the same command again'],
  denied: [
    'profile_broken',
    'cannot be opened: this user may not read and write it.',
    'give it back to the user who runs the node'
  ],
  read_only: [
    'store_failed',
    'cannot be written: its file system is read-only.',
    'mount it for writing, then the same command again'
  ],
  failing: [
    'store_failed',
    'cannot be used: the disk gave an error.',
    `look at the disk; where the file is lost, ${RESTORE}`
  ],
  no_files: [
    'store_failed',
    'cannot be opened: this process may open no more files.',
    `ulimit -n ${2 * limits.HTTP_CONNECTIONS_MAX} or LimitNOFILE=, then the same command again`
  ]
}

/** Explains to the operator why a file of a profile cannot be used; undefined for an error that is not of the disk or of SQLite. */
export function faultAt(path: string, error: unknown): SetupError | undefined {
  const fault = storeFaultOf(error)
  if (fault === undefined) return undefined
  const [code, what, hint] = FAULTS[fault]
  return new SetupError(code, `${path} ${what}`, { hint })
}
