import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import type { ICryptoInterface } from '@chainsafe/libp2p-noise'
import { asCrypto, defaultCrypto } from '@chainsafe/libp2p-noise/crypto'
import { NOISE_TAG_BYTES, NOISE_TEXT_BYTES_MAX } from '../base/limits/link.ts'

const CIPHER = 'chacha20-poly1305'
const OPTIONS = { authTagLength: NOISE_TAG_BYTES }
/**
 * Up to this size, noise's WebAssembly is faster than creating an OpenSSL cipher: a single call with a body of 1 KiB. In a loop,
 * WebAssembly is slower from 512 bytes on. But a node with few calls runs this code from a cold cache, and OpenSSL runs far more of it.
 */
export const SMALL_MESSAGE_BYTES = 1_536

type Bytes = Parameters<ICryptoInterface['chaCha20Poly1305Encrypt']>[0]

/**
 * Noise's default cryptography with fewer copies and cached key objects. With raw bytes, Node creates a key object per
 * message, which costs more than encrypting a batch of calls. `noise({ crypto: noiseCrypto() })`
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
  const scratch = Buffer.allocUnsafeSlow(NOISE_TEXT_BYTES_MAX)
  /** One `update` of all parts: each allocates a buffer, and a peer may send a message in very small parts. */
  const joined = (bytes: Bytes): Uint8Array => {
    if (bytes instanceof Uint8Array) return bytes
    let at = 0
    for (const part of bytes) {
      if (part.length === bytes.byteLength) return part
      scratch.set(part, at)
      at += part.length
    }
    return scratch.subarray(0, at)
  }

  return {
    ...defaultCrypto,
    chaCha20Poly1305Encrypt(plaintext, nonce, ad, k) {
      const { byteLength } = plaintext
      if (byteLength <= SMALL_MESSAGE_BYTES) return asCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, k)
      const cipher = createCipheriv(CIPHER, keyOf(k), nonce, OPTIONS)
      cipher.setAAD(ad, { plaintextLength: byteLength })
      const sealed = cipher.update(joined(plaintext))
      cipher.final()
      const tag = cipher.getAuthTag()
      if (plaintext instanceof Uint8Array) return Buffer.concat([sealed, tag])
      // A list of the version that noise uses.
      const message = plaintext.sublist(0, 0)
      message.append(sealed, tag)
      return message
    },
    chaCha20Poly1305Decrypt(ciphertext, nonce, ad, k, dst) {
      const { byteLength } = ciphertext
      if (byteLength <= SMALL_MESSAGE_BYTES) return asCrypto.chaCha20Poly1305Decrypt(ciphertext, nonce, ad, k, dst)
      const textBytes = byteLength - NOISE_TAG_BYTES
      const decipher = createDecipheriv(CIPHER, keyOf(k), nonce, OPTIONS)
      decipher.setAAD(ad, { plaintextLength: textBytes })
      decipher.setAuthTag(ciphertext.subarray(textBytes))
      const isWhole = ciphertext instanceof Uint8Array
      const text = decipher.update(
        isWhole ? ciphertext.subarray(0, textBytes) : joined(ciphertext.sublist(0, textBytes))
      )
      // Throws for a wrong tag.
      decipher.final()
      return text
    }
  }
}
