import { SoukError } from '../../base/errors.ts'
import type { Signer } from '../../interface/signer.ts'
import { addressOf } from './address.ts'
import { curve } from './secp256k1.ts'
import { signDigest } from './signature.ts'

const KEY_BYTES = 32

/**
 * A signer that holds its key in this process.
 * @throws SoukError `invalid_request` if the bytes are not a secp256k1 private key
 *
 * @example
 * ```ts
 * import { keySigner } from 'souk'
 *
 * const key = new Uint8Array(32).fill(7) // A secret in practice.
 * console.log(keySigner(key).address) // 0x4a62316623ad457f02cdc5d997ded67a383ec569
 * ```
 */
export function keySigner(key: Uint8Array): Signer {
  const publicKey = key.length === KEY_BYTES ? curve.publicKey(key) : undefined
  if (publicKey === undefined) throw new SoukError('invalid_request', 'The key is not a secp256k1 private key.')
  const secret = Uint8Array.from(key)
  return {
    address: addressOf(publicKey),
    sign: async (digest) => signDigest(digest, secret)
  }
}
