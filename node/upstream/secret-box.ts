import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { SoukError } from '../../lib/index.ts'

/** Encrypts texts for the store. The key is in another file, so the store alone does not reveal them. */
export interface SecretBox {
  /** @param purpose - bound to the ciphertext, which opens only for the same purpose */
  seal(text: string, purpose: string): string
  /** @throws SoukError `internal_error` for a text that was sealed with another key or for another purpose */
  open(sealed: string, purpose: string): string
}

export const SECRET_BOX_KEY_BYTES = 32

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'v1.'

export function createSecretBox(key: Uint8Array): SecretBox {
  return {
    seal(text, purpose) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return VERSION + Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(sealed, purpose) {
      try {
        if (!sealed.startsWith(VERSION)) throw new Error('of another version')
        const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
        const iv = bytes.subarray(0, IV_BYTES)
        const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
        decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
        const body = bytes.subarray(IV_BYTES + TAG_BYTES)
        return Buffer.concat([decipher.update(body), decipher.final()]).toString()
      } catch (cause) {
        const detail =
          'The credentials of this API cannot be decrypted with the key of this profile. Register the API again with --auth-file.'
        throw new SoukError('internal_error', detail, { cause })
      }
    }
  }
}
