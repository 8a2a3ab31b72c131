import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checkPrivate, ensurePrivateDirectory, isMissing, readPrivateFile, writePrivateFile } from './private-file.ts'
import { SetupError } from '../setup-error.ts'

/** Location of a profile: one directory with all files of a node. */
export interface ProfileLocation {
  readonly name: string
  readonly directory: string
}

export const DEFAULT_PROFILE = 'default'

/** A command line of the node of a profile, such as `souk --profile shop status`. */
export function commandFor(profile: string, command: string): string {
  return profile === DEFAULT_PROFILE ? `souk ${command}` : `souk --profile ${profile} ${command}`
}

/** The files of a profile. Each has mode 0600, in a directory with mode 0700. */
const FILES = {
  /** The operator’s settings, and the ports that the node used last. */
  settings: 'profile.json',
  /** Addresses of the running node; removed when the node stops cleanly. */
  running: 'running.json',
  /** libp2p private key, Ed25519, in libp2p's protobuf. */
  identity: 'identity.key',
  adminToken: 'admin.token',
  /** HMAC secret for consumer keys. */
  pepper: 'pepper',
  /** Key that encrypts the credentials of upstreams. */
  upstreamKey: 'upstream.key',
  /** Ethereum key file, encrypted. */
  wallet: 'wallet.json',
  /** The wallet’s passphrase, if Souk generated it. Then a node starts without asking. */
  passphrase: 'passphrase',
  /** The definition of the network, if it is not built in. */
  network: 'network.json',
  store: 'souk.db',
  /** Exists while a restore is not complete. */
  restoring: 'restoring',
  lock: 'lock'
} as const

export type ProfileFile = keyof typeof FILES
export const PROFILE_FILES = Object.keys(FILES) as readonly ProfileFile[]

/** Addresses of a running node, for clients on this machine. */
export interface RunningInfo {
  readonly pid: number
  readonly peer: string
  readonly network: string
  /** URLs. */
  readonly admin: string
  readonly ingress?: string
  /** Multiaddrs. */
  readonly p2p: readonly string[]
}

export function profileFile(profile: ProfileLocation, file: ProfileFile): string {
  return join(profile.directory, FILES[file])
}

/** Creates the directory if missing. @throws SetupError `permissions_too_open`, `profile_broken` */
export async function openProfile(profile: ProfileLocation): Promise<void> {
  await ensurePrivateDirectory(profile.directory)
  await checkRestored(profile)
  for (const file of PROFILE_FILES) {
    try {
      await checkPrivate(profileFile(profile, file))
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
}

/**
 * Refuses a profile with only a part of a backup: it could get a new identity or wallet beside the restored store.
 * @throws SetupError `profile_broken`
 */
export async function checkRestored(profile: ProfileLocation): Promise<void> {
  if ((await readPrivateFile(profileFile(profile, 'restoring'))) === undefined) return
  const what = `The profile "${profile.name}" is incomplete: its restore was interrupted, or is still running.`
  throw new SetupError('profile_broken', what, { hint: 'souk restore <directory of the backup>' })
}

/** `profile.json` or `running.json` as parsed JSON, not validated; undefined if missing. */
export async function readProfileJson(profile: ProfileLocation, file: 'settings' | 'running'): Promise<unknown> {
  const path = profileFile(profile, file)
  const bytes = await readPrivateFile(path)
  if (bytes === undefined) return undefined
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw new SetupError('profile_broken', `${path} is not JSON.`, { cause: error, hint: `repair or delete ${path}` })
  }
}

export async function writeProfileJson(
  profile: ProfileLocation,
  file: 'settings' | 'running',
  value: object
): Promise<void> {
  await writePrivateFile(profileFile(profile, file), `${JSON.stringify(value, undefined, 2)}\n`)
}

/** The bytes of a secret. `create` generates it on first use. */
export async function secretOf(
  profile: ProfileLocation,
  file: 'identity' | 'adminToken' | 'pepper' | 'upstreamKey',
  create: () => Promise<Uint8Array> | Uint8Array
): Promise<Uint8Array> {
  const path = profileFile(profile, file)
  const known = await readPrivateFile(path)
  if (known !== undefined) {
    if (known.length > 0) return known
    throw new SetupError('profile_broken', `${path} is empty.`, {
      hint: `restore it from a backup, or delete it to get a new one`
    })
  }
  const fresh = await create()
  await writePrivateFile(path, fresh)
  return fresh
}

/** Profiles in the same home whose node started and has not reported that it stopped. */
export async function runningProfiles({ directory }: ProfileLocation): Promise<string[]> {
  const home = dirname(directory)
  const names = await readdir(home).catch(() => [])
  const running = names.map(async (name) => {
    const path = profileFile({ name, directory: join(home, name) }, 'running')
    return (await stat(path).catch(() => undefined)) === undefined ? [] : [name]
  })
  return (await Promise.all(running)).flat()
}
