import type { Address, Signature } from '../../interface/signer.ts'
import { addressOf } from './address.ts'
import { curve } from './secp256k1.ts'

const SIGNATURE_BYTES = 65
const V_BASE = 27
/** Half the order of the group; an s above it has a twin below. */
const S_MAX = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex')

export function signDigest(digest: Uint8Array, key: Uint8Array): Signature {
  const { compact, recovery } = curve.sign(digest, key)
  const signature = new Uint8Array(SIGNATURE_BYTES)
  signature.set(compact)
  signature[SIGNATURE_BYTES - 1] = V_BASE + recovery
  return signature
}

/**
 * Who signed a digest; undefined where the contracts would take the signature from nobody. They use OpenZeppelin's
 * `ECDSA.recover`: 65 bytes, s in the lower half, v 27 or 28. Common libraries take more, and what they take and the
 * contract does not would be service given away.
 */
export function signerOf(digest: Uint8Array, signature: Signature): Address | undefined {
  if (signature.length !== SIGNATURE_BYTES) return undefined
  const recovery = (signature[SIGNATURE_BYTES - 1] ?? 0) - V_BASE
  if (recovery !== 0 && recovery !== 1) return undefined
  if (S_MAX.compare(signature, 32, 64) < 0) return undefined
  const publicKey = curve.recover(digest, signature.subarray(0, 64), recovery)
  return publicKey && addressOf(publicKey)
}
