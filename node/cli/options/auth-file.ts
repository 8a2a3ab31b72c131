import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { RegisterInput } from '../../admin/api.ts'
import { UsageError } from '../terminal/usage-error.ts'
import { readTextFile } from './text-file.ts'

type Auth = Exclude<RegisterInput['auth'], undefined>

/** Mask of all permissions for group and others. */
const OTHERS = 0o077
/** PEM texts that may be in separate files. Their paths are relative to the auth file. */
const TLS_FILES = ['cert', 'key', 'ca'] as const

/**
 * Reads `--auth-file`: the JSON that the admin API accepts as `auth`. Also reads `cert_file`, `key_file` and `ca_file` in `tls`.
 * The file contains secrets, so other users must not be able to read it.
 *
 * @throws UsageError, without the contents of the file
 */
export async function readAuthFile(path: string): Promise<Auth> {
  const auth = parsed(await readSecret(path), path)
  if (typeof auth !== 'object' || auth === null || Array.isArray(auth)) throw notSo(path)
  const { tls } = auth as { tls?: unknown }
  if (typeof tls !== 'object' || tls === null) return auth
  const read: Record<string, unknown> = { ...tls }
  for (const name of TLS_FILES) {
    const file = read[`${name}_file`]
    if (typeof file !== 'string') continue
    delete read[`${name}_file`]
    const at = resolve(dirname(path), file)
    read[name] = name === 'key' ? await readSecret(at) : await readTextFile(at)
  }
  return { ...auth, tls: read }
}

/** Reads a file that other users must not be able to read. @throws UsageError */
export async function readSecret(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory() === true) throw new UsageError(`${path} is a directory. Give a file.`)
  // Windows has no permission bits.
  if (found !== undefined && process.platform !== 'win32' && (found.mode & OTHERS) !== 0) {
    throw new UsageError(`${path} is open to other users of this machine. Run: chmod 600 ${path}`)
  }
  return readTextFile(path)
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message is not used, because it quotes the file.
    throw notSo(path)
  }
}

function notSo(path: string): UsageError {
  return new UsageError(`${path} is not a JSON object such as {"bearer": "…"} or {"headers": {"x-api-key": "…"}}.`)
}
