import { createRequire } from 'node:module'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type * as Native from 'secp256k1'

/**
 * The curve operations that Souk needs. Digests and keys are 32 bytes; a compact signature is `r ‖ s` in 64 bytes, always with a
 * low s.
 */
export interface Curve {
  sign(digest: Uint8Array, key: Uint8Array): { readonly compact: Uint8Array; readonly recovery: number }
  /** 64 bytes `x ‖ y`; undefined if no key made this signature. Accepts a high or a low s. */
  recover(digest: Uint8Array, compact: Uint8Array, recovery: 0 | 1): Uint8Array | undefined
  /** 64 bytes `x ‖ y`; undefined if the number is not a private key. */
  publicKey(key: Uint8Array): Uint8Array | undefined
}

/** Pure JavaScript: runs on every platform, about twenty times slower. */
export const javascriptCurve: Curve = {
  sign(digest, key) {
    const signature = secp256k1.Signature.fromBytes(
      secp256k1.sign(digest, key, { prehash: false, format: 'recovered', lowS: true }),
      'recovered'
    )
    return { compact: signature.toBytes('compact'), recovery: signature.recovery ?? 0 }
  },
  recover(digest, compact, recovery) {
    try {
      const signature = secp256k1.Signature.fromBytes(compact, 'compact').addRecoveryBit(recovery)
      return signature.recoverPublicKey(digest).toBytes(false).subarray(1)
    } catch {
      return undefined
    }
  },
  publicKey(key) {
    return secp256k1.utils.isValidSecretKey(key) ? secp256k1.getPublicKey(key, false).subarray(1) : undefined
  }
}

/** Bitcoin Core's library, on platforms with a prebuilt binary; undefined on others. */
export const nativeCurve: Curve | undefined = loadNative()

export const curve: Curve = nativeCurve ?? javascriptCurve

function loadNative(): Curve | undefined {
  let native: typeof Native
  try {
    // Not the package's main entry, which falls back to a JavaScript curve that is slower and less maintained than ours.
    native = createRequire(import.meta.url)('secp256k1/bindings.js') as typeof Native
  } catch {
    return undefined
  }
  return {
    sign(digest, key) {
      const { signature, recid } = native.ecdsaSign(digest, key)
      return { compact: signature, recovery: recid }
    },
    recover(digest, compact, recovery) {
      try {
        return native.ecdsaRecover(compact, recovery, digest, false).subarray(1)
      } catch {
        return undefined
      }
    },
    publicKey(key) {
      return native.privateKeyVerify(key) ? native.publicKeyCreate(key, false).subarray(1) : undefined
    }
  }
}
