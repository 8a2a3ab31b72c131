import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import type { ICryptoInterface } from '@chainsafe/libp2p-noise'
import { asCrypto, defaultCrypto } from '@chainsafe/libp2p-noise/crypto'

const CIPHER = 'chacha20-poly1305'
const TAG_BYTES = 16
const OPTIONS = { authTagLength: TAG_BYTES }
/** Up to this size, noise's WebAssembly is faster than creating an OpenSSL cipher. */
const SMALL_BYTES = 512

/**
 * Noise's default cryptography with cached key objects. With raw bytes, Node creates a key object per message, which
 * costs more than encrypting a batch of calls. `noise({ crypto: noiseCrypto() })`
 */
export function noiseCrypto(): ICryptoInterface {
  const keys = new WeakMap<Uint8Array, KeyObject>()
  const keyOf = (bytes: Uint8Array): KeyObject => {
    const known = keys.get(bytes)
    if (known !== undefined) return known
    const key = createSecretKey(bytes)
    keys.set(bytes, key)
    return key
  }

  return {
    ...defaultCrypto,
    chaCha20Poly1305Encrypt(plaintext, nonce, ad, k) {
      const { byteLength } = plaintext
      if (byteLength <= SMALL_BYTES) return asCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, k)
      const cipher = createCipheriv(CIPHER, keyOf(k), nonce, OPTIONS)
      cipher.setAAD(ad, { plaintextLength: byteLength })
      const parts = plaintext instanceof Uint8Array ? [plaintext] : [...plaintext]
      const sealed = parts.map((part) => cipher.update(part))
      cipher.final()
      return Buffer.concat([...sealed, cipher.getAuthTag()], byteLength + TAG_BYTES)
    },
    chaCha20Poly1305Decrypt(ciphertext, nonce, ad, k, dst) {
      const { byteLength } = ciphertext
      if (byteLength <= SMALL_BYTES) return asCrypto.chaCha20Poly1305Decrypt(ciphertext, nonce, ad, k, dst)
      const textBytes = byteLength - TAG_BYTES
      const decipher = createDecipheriv(CIPHER, keyOf(k), nonce, OPTIONS)
      decipher.setAAD(ad, { plaintextLength: textBytes })
      decipher.setAuthTag(ciphertext.subarray(textBytes))
      const text = decipher.update(ciphertext.subarray(0, textBytes))
      // Throws for a wrong tag.
      decipher.final()
      return text
    }
  }
}
