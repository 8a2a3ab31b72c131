import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isMissing, readPrivateFile, writePrivateFile } from '../profile/private-file.ts'
import { openProfile, profileFile, type ProfileLocation } from '../profile/profile.ts'
import { SetupError } from '../setup-error.ts'

/** Sources of a passphrase. Never a flag or the environment, which other processes can read. */
export interface PassphraseSource {
  /** A file that only its owner may read. */
  readonly file?: string
  /** Asks the user without echo; absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>
  /** The passphrase is random, so nobody can guess it, however fast. */
  readonly isRandom?: boolean
}

const HINT = '--passphrase-file <file>'

/**
 * Reads the passphrase, from the file if one is named. Ignores a final line break, which editors add.
 * @throws SetupError `config_invalid`, `permissions_too_open`
 */
export async function readPassphrase(
  { file, ask }: PassphraseSource,
  question = 'Passphrase of the wallet: '
): Promise<string> {
  if (file !== undefined) return fromFile(file)
  if (ask === undefined) {
    throw new SetupError('config_invalid', 'The passphrase is missing, and there is no terminal to ask for it.', {
      hint: HINT
    })
  }
  return ask(question)
}

const PASSPHRASE_BYTES = 24

/** A random passphrase in the profile, where a node finds it. Created on first use. */
export async function generatePassphrase(profile: ProfileLocation): Promise<PassphraseSource> {
  await openProfile(profile)
  const file = profileFile(profile, 'passphrase')
  if ((await readPrivateFile(file)) === undefined) {
    await writePrivateFile(file, `${randomBytes(PASSPHRASE_BYTES).toString('base64url')}\n`)
  }
  return { file, isRandom: true }
}

/** The passphrase of a new wallet. A user types it twice. @throws SetupError */
export async function choosePassphrase(source: PassphraseSource): Promise<string> {
  const passphrase = await readPassphrase(source, 'Passphrase for the wallet: ')
  if (passphrase === '') throw new SetupError('config_invalid', 'The passphrase is empty.')
  if (source.file === undefined && (await source.ask?.('The same again: ')) !== passphrase) {
    throw new SetupError('config_invalid', 'The two passphrases differ.')
  }
  return passphrase
}

/**
 * Secret mounts of Compose, Kubernetes and systemd. Their files are often readable for a group or for all users of the container.
 * Permissions are not checked there: the service manager controls access, and the user cannot change the modes.
 */
const MOUNTS = ['/run/secrets/', '/var/run/secrets/', '/run/credentials/']

function isOfManager(path: string): boolean {
  return MOUNTS.some((mount) => resolve(path).startsWith(mount))
}

async function readMounted(path: string): Promise<Uint8Array | undefined> {
  return readFile(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw new SetupError('config_invalid', `${path} cannot be read.`, { cause: error, hint: HINT })
  })
}

async function fromFile(path: string): Promise<string> {
  const bytes = await (isOfManager(path) ? readMounted(path) : readPrivateFile(path))
  if (bytes === undefined) throw new SetupError('config_invalid', `There is no ${path}.`, { hint: HINT })
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, '')
}
