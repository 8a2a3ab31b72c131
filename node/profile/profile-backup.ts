import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createSqliteStore, markRestored, SoukError, systemClock } from '../../lib/index.ts'
import { SetupError } from '../setup-error.ts'
import { identityOf } from './identity.ts'
import { ensurePrivateDirectory, isMissing, readPrivateFile, writePrivateFile } from './private-file.ts'
import { lockProfile } from './profile-lock.ts'
import { faultAt } from './file-fault.ts'
import { fileFault, storeFault } from './store-fault.ts'
import { type ProfileFile, type ProfileLocation, profileFile } from './profile.ts'

/** The files of a backup, besides the store. The admin API’s token is created anew. */
const SMALL = [
  'settings',
  'identity',
  'pepper',
  'upstreamKey',
  'wallet',
  'passphrase',
  'network'
] as const satisfies readonly ProfileFile[]

/** A backup: a directory with the profile’s files under their names. */
export interface ProfileBackup {
  readonly directory: string
  /** Names of its files. */
  readonly files: readonly string[]
  readonly bytes: number
}

/**
 * Copies a profile into a new directory that only its owner can enter.
 * @param copyStore writes a consistent copy of the store into a new file
 * @throws SoukError `invalid_request` for a relative path, an existing one, or one that cannot be created or written; SetupError
 */
export async function backUpProfile(
  profile: ProfileLocation,
  directory: string,
  copyStore: (path: string) => Promise<void>
): Promise<ProfileBackup> {
  if (!isAbsolute(directory)) throw new SoukError('invalid_request', 'Give the absolute path of the directory.')
  await makeNew(directory)
  const target: ProfileLocation = { name: profile.name, directory }
  try {
    for (const file of SMALL) {
      const bytes = await readPrivateFile(profileFile(profile, file))
      if (bytes !== undefined) await writePrivateFile(profileFile(target, file), bytes)
    }
    await copyStore(profileFile(target, 'store'))
    return await listed(target)
  } catch (error) {
    // Remove a partial backup, because it would look complete.
    await rm(directory, { recursive: true, force: true })
    throw unwritten(error, target)
  }
}

/** A fault of the disk of a backup. It is no fault of this node, so the message must not be lost as an internal error. */
function unwritten(error: unknown, target: ProfileLocation): unknown {
  const fault = error instanceof SetupError ? error : faultAt(profileFile(target, 'store'), error)
  return fault?.code === 'store_failed' ? new SoukError('invalid_request', fault.message, { cause: error }) : error
}

/** Backs up a profile whose node is stopped. @throws SetupError `profile_in_use`, SoukError */
export async function backUpStopped(profile: ProfileLocation, directory: string): Promise<ProfileBackup> {
  if (!(await exists(profileFile(profile, 'identity')))) {
    throw new SetupError('config_invalid', `There is no profile "${profile.name}" in ${profile.directory}.`, {
      hint: '--profile <name>, or SOUK_HOME=<directory> souk backup …'
    })
  }
  const lock = lockProfile(profileFile(profile, 'lock'), profile.name)
  try {
    const store = createSqliteStore({ path: profileFile(profile, 'store') })
    await store.open().catch((error: unknown) => {
      throw storeFault(error, profile) ?? error
    })
    try {
      return await backUpProfile(profile, directory, (path) => store.backUp(path))
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}

/**
 * Creates a profile from a backup, after checking that the key is valid and the store undamaged.
 * @throws SetupError `profile_exists`, `profile_broken`, `config_invalid`
 */
export async function restoreProfile(profile: ProfileLocation, directory: string): Promise<ProfileBackup> {
  const source: ProfileLocation = { name: profile.name, directory }
  if (!(await exists(profileFile(source, 'identity'))) || !(await exists(profileFile(source, 'store')))) {
    throw new SetupError('config_invalid', `${directory} is not a backup of a profile.`, {
      hint: 'give a directory that souk backup created'
    })
  }
  // A new profile may have a funded wallet before it has anything else.
  for (const file of [...SMALL, 'store'] as const) {
    if (!(await exists(profileFile(profile, file)))) continue
    throw new SetupError('profile_exists', `The profile "${profile.name}" exists already.`, {
      hint: `another one by --profile <name>, or move ${profile.directory} away`
    })
  }
  await ensurePrivateDirectory(profile.directory)
  const lock = lockProfile(profileFile(profile, 'lock'), profile.name)
  const made: string[] = []
  try {
    for (const file of [...SMALL, 'store'] as const) {
      if (!(await exists(profileFile(source, file)))) continue
      made.push(profileFile(profile, file))
      await writePrivateFile(profileFile(profile, file), await readFile(profileFile(source, file)))
    }
    await identityOf(profile)
    checkStore(profileFile(profile, 'store'))
    await markStore(profile)
    return await listed(profile)
  } catch (error) {
    for (const path of made) await rm(path, { force: true })
    throw fileFault(error, profile) ?? error
  } finally {
    lock.release()
  }
}

/** @throws SetupError `profile_broken` */
function checkStore(path: string): void {
  let found: unknown
  try {
    using db = new DatabaseSync(path)
    found = db.prepare('PRAGMA quick_check').get()?.['quick_check']
  } catch (error) {
    found = error
  }
  if (found === 'ok') return
  throw new SetupError('profile_broken', 'The store in the backup is damaged.', { hint: 'an earlier backup' })
}

/** Marks the store as restored, because its ledger may lack recent calls. @throws SetupError as `storeFault` */
async function markStore(profile: ProfileLocation): Promise<void> {
  const store = createSqliteStore({ path: profileFile(profile, 'store') })
  try {
    await store.open()
    await markRestored(store.documents, systemClock)
  } catch (error) {
    throw storeFault(error, profile) ?? error
  } finally {
    await store.close()
  }
}

async function makeNew(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const why = code === 'EEXIST' ? 'is there already' : `cannot be made (${code})`
    throw new SoukError('invalid_request', `${directory} ${why}: a backup needs a new directory.`, {
      cause: error
    })
  }
}

async function listed(at: ProfileLocation): Promise<ProfileBackup> {
  const files: string[] = []
  let bytes = 0
  for (const file of [...SMALL, 'store'] as const) {
    const path = profileFile(at, file)
    if (!(await exists(path))) continue
    files.push(path.slice(join(at.directory, '/').length))
    bytes += (await stat(path)).size
  }
  return { directory: at.directory, files, bytes }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    }
  )
}
