import type { Ed25519PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey, peerIdFromString } from '@libp2p/peer-id'
import { limits, utf8 } from '../../lib/index.ts'
import { SetupError } from '../setup-error.ts'
import { canonicalJson } from './canonical-json.ts'
import { chainProblem } from './chain-rules.ts'
import { type NetworkFile, networkFileSchema } from './network-file-schema.ts'
import { invalidText } from '../../protocols/invalid-text.ts'

/** Contexts of the signatures, so that a signature of one kind is none of another. */
const FILE_DOMAIN = '/souk/network-file/1.0.0'
const HANDOVER_DOMAIN = '/souk/network-handover/1.0.0'

/** The signed part of a network file, without what `signNetworkFile` adds. */
export type NetworkTerms = Omit<NetworkFile, 'format' | 'signer' | 'signature'>

/**
 * Reads a network file and checks everything that needs no network: form, rules of its chain, and all signatures.
 * @throws SetupError `network_invalid`
 */
export async function readNetworkFile(content: string): Promise<NetworkFile> {
  if (Buffer.byteLength(content) > limits.NETWORK_FILE_BYTES_MAX) {
    throw refused(`is larger than ${limits.NETWORK_FILE_BYTES_MAX} bytes`)
  }
  const parsed = networkFileSchema.safeParse(parseJson(content), { error: invalidText })
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw refused(`is not valid: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong form'}`)
  }
  const file = parsed.data
  const problem = chainProblem(file.chain)
  if (problem !== undefined) throw refused(`is not valid: ${problem}`)
  await checkSignatures(file)
  return file
}

/** Signs a revision of a network file. @throws SetupError `network_invalid` if this key may not */
export async function signNetworkFile(terms: NetworkTerms, key: Ed25519PrivateKey): Promise<NetworkFile> {
  const signer = peerIdFromPrivateKey(key).toString()
  const unsigned = { format: 'souk-network/1' as const, ...terms, signer }
  const signature = await key.sign(signed(FILE_DOMAIN, unsigned))
  return readNetworkFile(JSON.stringify({ ...unsigned, signature: Buffer.from(signature).toString('base64url') }))
}

/**
 * The proof that the last key of a network lets another key sign as well.
 * @throws SetupError `config_invalid` if that key is one of the network already: no key gets the network back
 */
export async function signHandover(
  { name, founder, handovers }: Pick<NetworkTerms, 'name' | 'founder' | 'handovers'>,
  to: string,
  key: Ed25519PrivateKey
): Promise<NetworkFile['handovers'][number]> {
  if (keysOf({ founder, handovers }).includes(to)) {
    throw new SetupError('config_invalid', `${to} is or was the key of this network: name a new key.`)
  }
  const from = handovers.at(-1)?.to ?? founder
  const signature = await key.sign(signed(HANDOVER_DOMAIN, { name, founder, from, to }))
  return { to, signature: Buffer.from(signature).toString('base64url') }
}

/** The text of a network file, for a disk or a web server. */
export function formatNetworkFile(file: NetworkFile): string {
  return `${JSON.stringify(file, undefined, 2)}\n`
}

/** The keys that may sign a network, the founder’s first, each named by the one before. */
export function keysOf({ founder, handovers }: Pick<NetworkFile, 'founder' | 'handovers'>): string[] {
  return [founder, ...handovers.map(({ to }) => to)]
}

/**
 * Whether a file may replace the one that a profile has.
 * @returns false if it is the same file
 * @throws SetupError `network_invalid`
 */
export function isNewer(file: NetworkFile, pinned: NetworkFile): boolean {
  if (file.founder !== pinned.founder || file.name !== pinned.name) {
    throw refused(`is of another network: its founder is ${file.founder}, not ${pinned.founder}`)
  }
  if (file.revision < pinned.revision) {
    throw refused(`has revision ${file.revision}, older than the ${pinned.revision} that this profile has`)
  }
  if (file.revision === pinned.revision) {
    if (canonicalJson(file) === canonicalJson(pinned)) return false
    throw refused(`differs from the one that this profile has, under the same revision ${file.revision}`)
  }
  const keys = keysOf(file)
  const known = keysOf(pinned)
  // A key that handed over the network signs no longer, once a profile knows of its successor’s files.
  const isLater = keys.indexOf(file.signer) >= known.indexOf(pinned.signer)
  if (!isLater || known.some((key, index) => keys[index] !== key)) {
    throw refused(`is signed by ${file.signer}, which the key of this network did not name`)
  }
  if (canonicalJson({ ...file.chain, rpc: '' }) !== canonicalJson({ ...pinned.chain, rpc: '' })) {
    throw refused('names another chain, other contracts or another treasury. Those never change: it is a new network')
  }
  return true
}

async function checkSignatures(file: NetworkFile): Promise<void> {
  const { name, founder, handovers, signature, ...rest } = file
  let from = founder
  for (const { to, signature: proof } of handovers) {
    if (!(await isSigned(from, signed(HANDOVER_DOMAIN, { name, founder, from, to }), proof))) {
      throw refused(`names ${to} as its next key, but ${from} did not sign that`)
    }
    from = to
  }
  if (!keysOf(file).includes(file.signer)) throw refused(`is signed by ${file.signer}, not by its founder`)
  const content = signed(FILE_DOMAIN, { name, founder, handovers, ...rest })
  if (!(await isSigned(file.signer, content, signature))) throw refused('has been changed: its signature is wrong')
}

async function isSigned(id: string, content: Uint8Array, signature: string): Promise<boolean> {
  const { publicKey } = peerIdFromString(id)
  return (await publicKey?.verify(content, Buffer.from(signature, 'base64url'))) ?? false
}

function signed(domain: string, value: object): Uint8Array {
  return utf8(`${domain}\n${canonicalJson(value)}`)
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw new SetupError('network_invalid', 'The network file is not JSON.', { cause })
  }
}

function refused(why: string): SetupError {
  return new SetupError('network_invalid', `The network file ${why}.`)
}
