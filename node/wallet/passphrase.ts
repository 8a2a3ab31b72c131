import { readPrivateFile } from '../profile/private-file.ts'
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

async function fromFile(path: string): Promise<string> {
  const bytes = await readPrivateFile(path)
  if (bytes === undefined) throw new SetupError('config_invalid', `There is no ${path}.`, { hint: HINT })
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, '')
}
