import type { Address, Signature } from '../../interface/signer.ts'
import { addressOf } from './address.ts'
import { curve } from './secp256k1.ts'

const SIGNATURE_BYTES = 65
const V_BASE = 27
/** Half of the group order. A signature with a higher s has an equivalent with a lower one. */
const S_MAX = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex')

export function signDigest(digest: Uint8Array, key: Uint8Array): Signature {
  const { compact, recovery } = curve.sign(digest, key)
  const signature = new Uint8Array(SIGNATURE_BYTES)
  signature.set(compact)
  signature[SIGNATURE_BYTES - 1] = V_BASE + recovery
  return signature
}

/**
 * The signer of a digest; undefined if the contracts would reject the signature. They use OpenZeppelin's `ECDSA.recover`: 65
 * bytes, low s, v 27 or 28. Common libraries accept more, but a call paid by a signature that the contract rejects would be free.
 */
export function signerOf(digest: Uint8Array, signature: Signature): Address | undefined {
  if (signature.length !== SIGNATURE_BYTES) return undefined
  const recovery = (signature[SIGNATURE_BYTES - 1] ?? 0) - V_BASE
  if (recovery !== 0 && recovery !== 1) return undefined
  if (S_MAX.compare(signature, 32, 64) < 0) return undefined
  const publicKey = curve.recover(digest, signature.subarray(0, 64), recovery)
  return publicKey && addressOf(publicKey)
}
