import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { type Address, type Signer } from '../../lib/interface/index.ts'
import { isSoukError, keySigner, parseAddress } from '../../lib/index.ts'
import { readPrivateFile, writePrivateFile } from '../profile/private-file.ts'
import { type ProfileLocation, profileFile } from '../profile/profile.ts'
import { SetupError } from '../setup-error.ts'
import { decryptKeystore, encryptKeystore, KeystoreError, type EncryptOptions } from './keystore.ts'

/**
 * The account that a node pays from and sends transactions with, in a key file of its profile. The file names the one network that the
 * wallet belongs to. A key for both play and real money would make it easy to spend real money by mistake.
 */
export interface WalletInfo {
  readonly address: Address
  readonly network: string
}

const KEY_BYTES = 32
/** Our own member of the key file; other wallets ignore it. */
const MEMBER = 'souk'

/** @throws SetupError `wallet_exists` */
export async function createWallet(
  profile: ProfileLocation,
  network: string,
  passphrase: string,
  options?: EncryptOptions
): Promise<WalletInfo> {
  return writeWallet(profile, network, freshKey(), passphrase, options)
}

/**
 * Imports a key from another wallet’s key file, or from 64 hex digits, and encrypts it anew.
 * @throws SetupError `wallet_exists`, `wallet_broken`, `passphrase_wrong`
 */
export async function importWallet(
  profile: ProfileLocation,
  network: string,
  given: { readonly content: string; readonly passphrase: string; readonly oldPassphrase?: string },
  options?: EncryptOptions
): Promise<WalletInfo> {
  const key = await keyIn(given.content.trim(), given.oldPassphrase ?? given.passphrase, 'the key file')
  return writeWallet(profile, network, key, given.passphrase, options)
}

/** Information about a wallet that needs no passphrase; undefined if there is no wallet. @throws SetupError `wallet_broken` */
export async function walletInfo(profile: ProfileLocation): Promise<WalletInfo | undefined> {
  const bytes = await readPrivateFile(profileFile(profile, 'wallet'))
  if (bytes === undefined) return undefined
  const file = parseJson(text(bytes)) as { address?: unknown; [MEMBER]?: { network?: unknown } } | undefined
  const network = file?.[MEMBER]?.network
  if (typeof file?.address !== 'string' || typeof network !== 'string') throw broken(profile)
  try {
    const plain = file.address.replace(/^0x/, '')
    return { address: parseAddress(`0x${plain}`), network }
  } catch (error) {
    if (isSoukError(error)) throw broken(profile)
    throw error
  }
}

/**
 * Unlocks the wallet.
 * @throws SetupError `wallet_missing`, `wallet_broken`, `passphrase_wrong`, and `config_invalid` if it belongs to another network
 */
export async function openWallet(profile: ProfileLocation, network: string, passphrase: string): Promise<Signer> {
  const info = await walletInfo(profile)
  const bytes = await readPrivateFile(profileFile(profile, 'wallet'))
  if (info === undefined || bytes === undefined) {
    throw new SetupError('wallet_missing', 'This profile has no wallet.', { hint: 'souk wallet create' })
  }
  if (info.network !== network) {
    throw new SetupError('config_invalid', `The wallet of this profile belongs to the network ${info.network}.`, {
      hint: `use a separate profile for ${network}`
    })
  }
  return keySigner(await keyIn(text(bytes), passphrase, `the wallet ${profileFile(profile, 'wallet')}`))
}

/** Checks that a wallet can be created, before the user chooses a passphrase. @throws SetupError `wallet_exists` */
export async function checkNoWallet(profile: ProfileLocation): Promise<void> {
  if ((await readPrivateFile(profileFile(profile, 'wallet'))) === undefined) return
  const what = 'This profile has a wallet already. A wallet is never replaced, because its key may hold money.'
  throw new SetupError('wallet_exists', what, { hint: 'use another profile, or move the key file away by hand' })
}

/** Copies the encrypted key file to a new file. @throws SetupError `wallet_missing` */
export async function backUpWallet(profile: ProfileLocation, destination: string): Promise<void> {
  const bytes = await readPrivateFile(profileFile(profile, 'wallet'))
  if (bytes === undefined) {
    throw new SetupError('wallet_missing', 'This profile has no wallet.', { hint: 'souk wallet create' })
  }
  const file = await openNew(destination)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function openNew(path: string) {
  try {
    return await open(path, 'wx', 0o600)
  } catch (cause) {
    const isThere = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    const what = isThere ? `${path} is there already.` : `${path} cannot be written.`
    throw new SetupError('config_invalid', what, { cause, hint: `name a new file in ${dirname(path)} or elsewhere` })
  }
}

async function writeWallet(
  profile: ProfileLocation,
  network: string,
  key: Uint8Array,
  passphrase: string,
  options: EncryptOptions | undefined
): Promise<WalletInfo> {
  await checkNoWallet(profile)
  const keystore = { ...(await encryptKeystore(key, passphrase, options)), [MEMBER]: { network } }
  await writePrivateFile(profileFile(profile, 'wallet'), `${JSON.stringify(keystore, undefined, 2)}\n`)
  return { address: keySigner(key).address, network }
}

/** Whether the content is an unencrypted key. */
export function isBareKey(content: string): boolean {
  return BARE_KEY.test(content.trim())
}

const BARE_KEY = /^(?:0x)?([\da-f]{64})$/i

/** @param file - named in the error about a wrong passphrase */
async function keyIn(content: string, passphrase: string, file: string): Promise<Uint8Array> {
  const bare = BARE_KEY.exec(content)?.[1]
  if (bare !== undefined) return soundKey(Buffer.from(bare, 'hex'))
  try {
    return soundKey(await decryptKeystore(parseJson(content), passphrase))
  } catch (error) {
    if (!(error instanceof KeystoreError)) throw error
    if (error.code !== 'passphrase_wrong') throw new SetupError('wallet_broken', error.message)
    throw new SetupError('passphrase_wrong', `The passphrase does not open ${file}.`, {
      hint: 'the passphrase that was chosen when this file was made'
    })
  }
}

function soundKey(key: Uint8Array): Uint8Array {
  if (isKey(key)) return key
  throw new SetupError('wallet_broken', 'This is not a secp256k1 private key.')
}

function freshKey(): Uint8Array {
  for (;;) {
    const key = randomBytes(KEY_BYTES)
    if (isKey(key)) return key
  }
}

function isKey(key: Uint8Array): boolean {
  try {
    return keySigner(key).address.length > 0
  } catch {
    return false
  }
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

function broken(profile: ProfileLocation): SetupError {
  const path = profileFile(profile, 'wallet')
  return new SetupError('wallet_broken', `${path} is not the key file of a wallet.`, {
    hint: 'restore it from a backup'
  })
}
