import { SetupError } from '../setup-error.ts'
import { faultAt } from './file-fault.ts'
import { type ProfileLocation, profileFile } from './profile.ts'

/** Explains a failure of the store’s file to the operator; undefined for other errors. */
export function storeFault(error: unknown, profile: ProfileLocation): SetupError | undefined {
  return faultAt(profileFile(profile, 'store'), error)
}

/** Explains a profile file that cannot be read or written at the start; undefined for other errors. */
export function fileFault(error: unknown, profile: ProfileLocation): SetupError | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error) return storeFault(error, profile)
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined
  return path === undefined ? undefined : faultAt(path, error)
}

/** A commit failed. Its data may or may not be durable, so the process must end. */
export function storeFailed(error: unknown, profile: ProfileLocation): SetupError {
  const words = `${profileFile(profile, 'store')} cannot be used any more.`
  return (
    storeFault(error, profile) ??
    new SetupError('store_failed', words, { hint: 'start the node again, then souk doctor' })
  )
}
