import { createCipheriv, createDecipheriv, pbkdf2, randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { scryptAsync as scryptInJavaScript } from '@noble/hashes/scrypt.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { z } from 'zod'
import { keySigner } from '../../lib/index.ts'

/** Ethereum’s key file, "Web3 Secret Storage" version 3, which geth, MetaMask and other wallets read. Writes scrypt; reads scrypt and PBKDF2. */

const hex = (bytes?: number) => z.string().regex(bytes === undefined ? /^([\da-f]{2})*$/i : hexOf(bytes))
const count = z.int().positive()

const keystoreSchema = z.object({
  version: z.literal(3),
  id: z.string().optional(),
  address: z.string().optional(),
  crypto: z.object({
    cipher: z.literal('aes-128-ctr'),
    cipherparams: z.object({ iv: hex(16) }),
    ciphertext: hex(32),
    mac: hex(32),
    kdf: z.enum(['scrypt', 'pbkdf2']),
    kdfparams: z.union([
      z.object({ n: count, r: count, p: count, dklen: z.literal(32), salt: hex() }),
      z.object({ c: count, prf: z.literal('hmac-sha256'), dklen: z.literal(32), salt: hex() })
    ])
  })
})

type Keystore = z.output<typeof keystoreSchema>
type KdfParams = Keystore['crypto']['kdfparams']

/** A key file that cannot be opened. The message is safe to show: it contains nothing of the key. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError'
  readonly code: 'passphrase_wrong' | 'keystore_invalid'

  constructor(code: KeystoreError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Cost of the key derivation: 128 MiB and half a second, also for each guess of an attacker. */
const SCRYPT_N = 2 ** 17
const SCRYPT_R = 8
/** A foreign key file may ask for more work, but not for more memory than this. */
const SCRYPT_BYTES_MAX = 512 * 1024 * 1024
const SCRYPT_P_MAX = 16
const PBKDF2_ROUNDS_MAX = 10_000_000
const KEY_BYTES = 32
const CIPHER_KEY_BYTES = 16

const scryptAsync = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt
)
const pbkdf2Async = promisify(pbkdf2)

export interface EncryptOptions {
  /** Scrypt's cost, a power of two. Default 2^17. */
  readonly n?: number
}

/** The key file's JSON for a secp256k1 private key. */
export async function encryptKeystore(key: Uint8Array, passphrase: string, { n = SCRYPT_N }: EncryptOptions = {}) {
  const [salt, iv] = [randomBytes(KEY_BYTES), randomBytes(CIPHER_KEY_BYTES)]
  const kdfparams = { dklen: KEY_BYTES, n, r: SCRYPT_R, p: 1, salt: salt.toString('hex') } as const
  const derived = await deriveKey(kdfparams, passphrase)
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, CIPHER_KEY_BYTES), iv)
  const ciphertext = Buffer.concat([cipher.update(key), cipher.final()])
  return {
    version: 3,
    id: randomUUID(),
    address: keySigner(key).address.slice(2),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams,
      mac: macOf(derived, ciphertext).toString('hex')
    }
  }
}

/**
 * The private key in a key file.
 * @throws KeystoreError
 */
export async function decryptKeystore(json: unknown, passphrase: string): Promise<Uint8Array> {
  const { crypto, address } = readKeystore(json)
  const derived = await deriveKey(crypto.kdfparams, passphrase)
  const ciphertext = Buffer.from(crypto.ciphertext, 'hex')
  if (!timingSafeEqual(macOf(derived, ciphertext), Buffer.from(crypto.mac, 'hex'))) {
    throw new KeystoreError('passphrase_wrong', 'The passphrase is wrong.')
  }
  const decipher = createDecipheriv(
    'aes-128-ctr',
    derived.subarray(0, CIPHER_KEY_BYTES),
    Buffer.from(crypto.cipherparams.iv, 'hex')
  )
  const key = Buffer.concat([decipher.update(ciphertext), decipher.final()])
  if (address !== undefined && !sameAddress(address, addressIn(key))) {
    throw new KeystoreError('keystore_invalid', 'The address in the key file does not match its key.')
  }
  return key
}

function addressIn(key: Uint8Array): string {
  try {
    return keySigner(key).address
  } catch {
    throw new KeystoreError('keystore_invalid', 'The key file contains no secp256k1 key.')
  }
}

function readKeystore(json: unknown): Keystore {
  // Old files of geth write `Crypto`.
  const given = typeof json === 'object' && json !== null && 'Crypto' in json ? { ...json, crypto: json.Crypto } : json
  const read = keystoreSchema.safeParse(given)
  if (!read.success || (read.data.crypto.kdf === 'scrypt') !== 'n' in read.data.crypto.kdfparams) {
    throw new KeystoreError('keystore_invalid', 'This is not an Ethereum key file of version 3.')
  }
  return read.data
}

async function deriveKey(params: KdfParams, passphrase: string): Promise<Buffer> {
  const salt = Buffer.from(params.salt, 'hex')
  const tooMuch = new KeystoreError('keystore_invalid', 'The key file’s derivation cost exceeds the limit.')
  if ('c' in params) {
    if (params.c > PBKDF2_ROUNDS_MAX) throw tooMuch
    return pbkdf2Async(passphrase, salt, params.c, KEY_BYTES, 'sha256')
  }
  const { n, r, p } = params
  const bytes = 128 * r * (n + p + 3)
  if (bytes > SCRYPT_BYTES_MAX || p > SCRYPT_P_MAX) throw tooMuch
  if (n < 2 || (n & (n - 1)) !== 0)
    throw new KeystoreError('keystore_invalid', 'The key file’s scrypt cost is invalid.')
  // RFC 7914 requires N < 2^(16 r), and OpenSSL enforces that. The key file format’s own test vector violates it.
  if (Math.log2(n) >= 16 * r) {
    return Buffer.from(await scryptInJavaScript(passphrase, salt, { N: n, r, p, dkLen: KEY_BYTES, maxmem: bytes }))
  }
  return scryptAsync(passphrase, salt, KEY_BYTES, { N: n, r, p, maxmem: bytes })
}

function macOf(derived: Uint8Array, ciphertext: Uint8Array): Buffer {
  return Buffer.from(keccak_256(Buffer.concat([derived.subarray(CIPHER_KEY_BYTES, KEY_BYTES), ciphertext])))
}

function sameAddress(a: string, b: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/^0x/, '')
  return plain(a) === plain(b)
}

function hexOf(bytes: number): RegExp {
  return new RegExp(`^[\\da-f]{${bytes * 2}}$`, 'i')
}
