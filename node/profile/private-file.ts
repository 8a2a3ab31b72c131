import { randomBytes } from 'node:crypto'
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { SetupError } from '../setup-error.ts'

/** Any permission of group or others. */
const OTHERS = 0o077
const DIRECTORY_MODE = 0o700
const DIRECTORY = { mode: DIRECTORY_MODE }
const FILE_MODE = 0o600
/** Windows has no such mode bits. There, the access lists of the user’s own directory protect the profile. */
const MODES_MEAN_SOMETHING = process.platform !== 'win32'

/** Creates a directory that only its owner can enter. Refuses an existing one with wider permissions. */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  const created = await makeDirectory(path)
  // The umask can only remove bits, and mkdir may create open parents. Only the directory itself matters.
  if (created !== undefined && MODES_MEAN_SOMETHING) await chmod(path, DIRECTORY_MODE)
  await checkPrivate(path)
}

/**
 * Creates a directory and its parents, if they are missing.
 * @returns the first directory that it created
 * @throws SetupError `profile_broken`, `store_failed`
 */
export async function makeDirectory(path: string): Promise<string | undefined> {
  try {
    return await makeMissing(path)
  } catch (error) {
    throw isMissing(error) ? cannotBeUsed(path, 'ENOENT', error) : await unusable(path, error)
  }
}

/** Not by `recursive`: Node.js then tries for ever where the system answers ENOENT although the parent exists, as below `/proc`. */
async function makeMissing(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, DIRECTORY)
    return path
  } catch (error) {
    if (await isDirectory(path)) return undefined
    if (!isMissing(error) || dirname(path) === path) throw error
  }
  const first = await makeMissing(dirname(path))
  // Another process may have made it since.
  await mkdir(path, DIRECTORY).catch(async (error: unknown) => {
    if (!(await isDirectory(path))) throw error
  })
  return first ?? path
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

/**
 * Refuses a file or directory that other users may read or write.
 * @throws SetupError `permissions_too_open`, `profile_broken`, `store_failed`; the system’s `ENOENT` if it does not exist.
 */
export async function checkPrivate(path: string): Promise<void> {
  const found = await stat(path).catch(async (error: unknown) => {
    throw await unusable(path, error)
  })
  if (!MODES_MEAN_SOMETHING || (found.mode & OTHERS) === 0) return
  const wanted = found.isDirectory() ? '700' : '600'
  const mode = (found.mode & 0o777).toString(8).padStart(3, '0')
  throw new SetupError('permissions_too_open', `${path} is open to other users of this machine (mode ${mode}).`, {
    hint: `chmod ${wanted} ${path}`
  })
}

/** The bytes of a private file; undefined if it does not exist. @throws SetupError `permissions_too_open`, `profile_broken`, `store_failed` */
export async function readPrivateFile(path: string): Promise<Uint8Array | undefined> {
  try {
    await checkPrivate(path)
    const file = await open(path, 'r')
    try {
      return await file.readFile()
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw await unusable(path, error)
  }
}

/**
 * Replaces a file atomically: after a crash, it has either the old or the new content.
 * @throws SetupError `store_failed`, `profile_broken`
 */
export async function writePrivateFile(path: string, content: Uint8Array | string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
  try {
    await writeNew(temporary, content)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw await unusable(path, error)
  }
  await syncDirectory(dirname(path))
}

/**
 * Writes a new file of any size. A crash may leave a part of it. Its name is durable only after `syncDirectory`.
 * @throws SetupError `store_failed`, `profile_broken`, and what `content` throws
 */
export async function createPrivateFile(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    await writeNew(path, content)
  } catch (error) {
    throw await unusable(path, error)
  }
}

async function writeNew(path: string, content: Uint8Array | string | AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', FILE_MODE)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A new name, a rename or a removal is durable only after its directory is synced. */
export async function syncDirectory(path: string): Promise<void> {
  if (!MODES_MEAN_SOMETHING) return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Turns a system error about a path into a message for the operator. */
async function unusable(path: string, error: unknown): Promise<unknown> {
  if (isMissing(error) || error instanceof SetupError || !(error instanceof Error) || !('code' in error)) return error
  // Loaded only now, because it needs the library and most commands do not.
  const { faultAt } = await import('./file-fault.ts')
  const fault = faultAt(path, error)
  if (fault?.code === 'store_failed') return fault
  const foreign = /^(?:EACCES|EPERM)$/.test(String(error.code)) ? await foreignAt(path) : undefined
  if (foreign === undefined) return cannotBeUsed(path, String(error.code), error)
  return new SetupError('profile_broken', `${path} cannot be used: ${foreign} belongs to another user.`, {
    cause: error,
    hint: `the command as that user, or to take it over: sudo chown -R ${process.getuid?.()} ${foreign}`
  })
}

function cannotBeUsed(path: string, code: string, cause: unknown): SetupError {
  return new SetupError('profile_broken', `${path} cannot be used (${code}).`, {
    cause,
    hint: 'SOUK_HOME=<a directory of your own> souk …'
  })
}

/** The file or its directory, if it belongs to another user: a command with sudo leaves such files. */
async function foreignAt(path: string): Promise<string | undefined> {
  for (const place of [path, dirname(path)]) {
    const found = await stat(place).catch(() => undefined)
    if (found !== undefined && found.uid !== process.getuid?.()) return place
  }
  return undefined
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
