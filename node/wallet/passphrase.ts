import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isMissing, readPrivateFile } from '../profile/private-file.ts'
import { SetupError } from '../setup-error.ts'

/** Where a passphrase may come from. Never from a flag or the environment: other processes can read both. */
export interface PassphraseSource {
  /** A file that only its owner may read. */
  readonly file?: string
  /** Asks whoever sits there, without showing what is typed; absent where nobody does. */
  readonly ask?: (question: string) => Promise<string>
}

const HINT = '--passphrase-file <file>'

/**
 * The passphrase, from the file where one is named. A line end at its end, which editors add, is not part of it.
 * @throws SetupError `config_invalid`, `permissions_too_open`
 */
export async function readPassphrase(
  { file, ask }: PassphraseSource,
  question = 'Passphrase of the wallet: '
): Promise<string> {
  if (file !== undefined) return fromFile(file)
  if (ask === undefined) {
    throw new SetupError('config_invalid', 'Nobody is here to be asked for the passphrase.', { hint: HINT })
  }
  return ask(question)
}

/** The passphrase of a new wallet: typed twice where it is typed. @throws SetupError */
export async function choosePassphrase(source: PassphraseSource): Promise<string> {
  const passphrase = await readPassphrase(source, 'Passphrase for the wallet: ')
  if (passphrase === '') throw new SetupError('config_invalid', 'The passphrase is empty.')
  if (source.file === undefined && (await source.ask?.('The same again: ')) !== passphrase) {
    throw new SetupError('config_invalid', 'The two passphrases differ.')
  }
  return passphrase
}

/**
 * Where Compose, Kubernetes and systemd put secrets: a mount for one service alone, whose files are often open to a group, or to
 * everybody inside. Who gets there is the manager's business, and its owner could not change their modes.
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
