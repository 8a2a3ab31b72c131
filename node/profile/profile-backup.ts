import { createReadStream } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { buffer } from 'node:stream/consumers'
import { createSqliteStore, markRestored, SoukError, storeFaultOf, systemClock } from '../../lib/index.ts'
import { SetupError } from '../setup-error.ts'
import { identityOf } from './identity.ts'
import {
  createPrivateFile,
  ensurePrivateDirectory,
  isMissing,
  readPrivateFile,
  syncDirectory,
  writePrivateFile
} from './private-file.ts'
import { lockProfile } from './profile-lock.ts'
import { faultAt } from './file-fault.ts'
import { fileFault, storeFault } from './store-fault.ts'
import { checkRestored, type ProfileFile, type ProfileLocation, profileFile } from './profile.ts'

/**
 * The files of a backup, besides the store. The admin API’s token is created anew. The identity is the last: a directory without it is
 * no complete backup.
 */
const SMALL = [
  'settings',
  'pepper',
  'upstreamKey',
  'network',
  'passphrase',
  'wallet',
  'identity'
] as const satisfies readonly ProfileFile[]
const ALL = ['store', ...SMALL] as const

/** SQLite applies these files to the store beside them, whichever store they are from. */
const LOGS = ['-wal', '-journal']
const BESIDE_STORE = [...LOGS, '-shm']
/** Fewer reads than by default. */
const READ_BYTES = 2 ** 20

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
    await copyStore(profileFile(target, 'store'))
    for (const file of SMALL) {
      const bytes = await readPrivateFile(profileFile(profile, file))
      if (bytes !== undefined) await writePrivateFile(profileFile(target, file), bytes)
    }
    return await listed(target)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw unwritten(error, target)
  }
}

/** A fault of the disk of a backup. It is no fault of this node, so the message must not be lost as an internal error. */
function unwritten(error: unknown, target: ProfileLocation): unknown {
  const fault = error instanceof SetupError ? error : faultAt(profileFile(target, 'store'), error)
  return fault?.code === 'store_failed' ? new SoukError('invalid_request', fault.message, { cause: error }) : error
}

/** Backs up a profile whose node is stopped. @throws SetupError `profile_in_use`, `profile_broken`, SoukError */
export async function backUpStopped(profile: ProfileLocation, directory: string): Promise<ProfileBackup> {
  await checkRestored(profile)
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
 * Creates a profile from a backup, after checking that the key is valid and the store undamaged. Until the profile is complete, its file
 * `restoring` keeps nodes away, and the next restore replaces everything.
 * @throws SetupError `profile_exists`, `profile_broken`, `profile_in_use`, `config_invalid`, `store_failed`
 */
export async function restoreProfile(profile: ProfileLocation, directory: string): Promise<ProfileBackup> {
  const source: ProfileLocation = { name: profile.name, directory }
  try {
    await checkBackup(source)
    await ensurePrivateDirectory(profile.directory)
    await checkNew(profile, source)
    const lock = lockProfile(profileFile(profile, 'lock'), profile.name)
    try {
      // Another restore may have finished since.
      await checkNew(profile, source)
      await fill(profile, source)
      return await listed(profile)
    } finally {
      lock.release()
    }
  } catch (error) {
    throw fileFault(error, profile) ?? error
  }
}

/** @throws SetupError `config_invalid` */
async function checkBackup(source: ProfileLocation): Promise<void> {
  if (await isBackup(source)) return
  throw new SetupError('config_invalid', `${source.directory} is not a complete backup of a profile.`, {
    hint: 'give a directory that the backup command created'
  })
}

async function isBackup(source: ProfileLocation): Promise<boolean> {
  const store = profileFile(source, 'store')
  try {
    for (const file of ['identity', 'store'] as const) if (!(await exists(profileFile(source, file)))) return false
    if (await exists(profileFile(source, 'restoring'))) return false
    // Without its log, a store may lack commits. SQLite leaves one if it is killed.
    for (const log of LOGS) if (((await sizeOf(store + log)) ?? 0) > 0) return false
    return true
  } catch (error) {
    throw unreadable(source.directory, error)
  }
}

/**
 * Refuses a profile that has anything of a node, except the part of a backup that an interrupted restore left.
 * @throws SetupError `profile_exists`
 */
async function checkNew(profile: ProfileLocation, source: ProfileLocation): Promise<void> {
  const isInterrupted = await exists(profileFile(profile, 'restoring'))
  const isTaken = isInterrupted ? await hasOtherWallet(profile, source) : await hasAny(profile)
  if (!isTaken) return
  throw new SetupError('profile_exists', `The profile "${profile.name}" exists already.`, {
    hint: `another one by --profile <name>, or move ${profile.directory} away`
  })
}

/** A new profile may have a funded wallet before it has anything else. */
async function hasAny(profile: ProfileLocation): Promise<boolean> {
  for (const path of pathsOf(profile)) if (await exists(path)) return true
  return false
}

/** Whether somebody put a wallet into the profile after the interrupted restore, which may have written a part of its own. */
async function hasOtherWallet(profile: ProfileLocation, source: ProfileLocation): Promise<boolean> {
  const found = await readPrivateFile(profileFile(profile, 'wallet'))
  if (found === undefined) return false
  const path = profileFile(source, 'wallet')
  const restored = (await exists(path)) ? await buffer(contentOf(path)) : Buffer.alloc(0)
  return !restored.subarray(0, found.length).equals(found)
}

async function fill(profile: ProfileLocation, source: ProfileLocation): Promise<void> {
  try {
    await writePrivateFile(profileFile(profile, 'restoring'), '')
    await empty(profile, source)
    for (const file of ALL) {
      const path = profileFile(source, file)
      if (await exists(path)) await createPrivateFile(profileFile(profile, file), contentOf(path))
    }
    await identityOf(profile)
    checkStore(profile)
    await markStore(profile)
  } catch (error) {
    // If this fails as well, the profile stays marked.
    await empty(profile, source)
      .then(() => finish(profile))
      .catch(() => {})
    throw error
  }
  await finish(profile)
}

/** Removes what a restore wrote, but no wallet from elsewhere: it may hold money. @throws SetupError `profile_exists` */
async function empty(profile: ProfileLocation, source: ProfileLocation): Promise<void> {
  await checkNew(profile, source)
  for (const path of pathsOf(profile)) await rm(path, { force: true })
}

/** From here, the profile is complete, or there is none. */
async function finish(profile: ProfileLocation): Promise<void> {
  await syncDirectory(profile.directory)
  await rm(profileFile(profile, 'restoring'), { force: true })
  await syncDirectory(profile.directory)
}

function pathsOf(profile: ProfileLocation): string[] {
  const store = profileFile(profile, 'store')
  return [...BESIDE_STORE.map((suffix) => store + suffix), ...ALL.map((file) => profileFile(profile, file))]
}

/** @throws SetupError `config_invalid` */
async function* contentOf(path: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Uint8Array>
  } catch (error) {
    throw unreadable(path, error)
  }
}

function unreadable(path: string, cause: unknown): SetupError {
  return new SetupError('config_invalid', `${path} cannot be read.`, {
    cause,
    hint: 'souk restore as a user who can read it, or an earlier backup'
  })
}

/** @throws SetupError `profile_broken`, and SQLite’s error if the disk fails */
function checkStore(profile: ProfileLocation): void {
  let found: unknown
  try {
    using db = new DatabaseSync(profileFile(profile, 'store'))
    // Else SQLite needs a `-shm` file, and reports a full disk as a failing one.
    db.exec('PRAGMA locking_mode = EXCLUSIVE')
    // An empty file is a valid database.
    const { user_version: version } = db.prepare('PRAGMA user_version').get() ?? {}
    found = version === 0 ? 'empty' : db.prepare('PRAGMA quick_check').get()?.['quick_check']
  } catch (error) {
    const fault = storeFaultOf(error)
    if (fault !== undefined && fault !== 'damaged') throw error
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
    const why =
      code === 'EEXIST'
        ? 'is there already: a backup needs a new directory.'
        : `cannot be made (${code}): the directory that contains it must exist, and the node must be able to write to it.`
    throw new SoukError('invalid_request', `${directory} ${why}`, {
      cause: error
    })
  }
}

async function listed(at: ProfileLocation): Promise<ProfileBackup> {
  const files: string[] = []
  let bytes = 0
  for (const file of ALL) {
    const path = profileFile(at, file)
    const size = await sizeOf(path)
    if (size === undefined) continue
    files.push(path.slice(join(at.directory, '/').length))
    bytes += size
  }
  return { directory: at.directory, files, bytes }
}

async function exists(path: string): Promise<boolean> {
  return (await sizeOf(path)) !== undefined
}

/** Bytes; undefined if the file does not exist. */
async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    (error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    }
  )
}
