import { freeBuffer } from '../base/bytes.ts'
import { SMALL_MESSAGE_BYTES } from './noise-crypto.ts'

/** A message, or its text, in parts. */
type Parts = Iterable<Uint8Array> & { readonly byteLength: number }

/** The methods of an encrypted connection for one message. */
interface Encrypting {
  encrypt(text: Parts): Parts
  decrypt(message: Parts): Parts
}

/** Freeing a smaller buffer costs more than leaving it to V8. */
export const FREED_BYTES_MIN = 16 * 1024
/** Noise, section 3: a message starts with its length in two bytes. */
const LENGTH_BYTES = 2

/** Returns the task to run once these bytes are written. Undefined if there is none. */
export type OnWritten = (bytes: Uint8Array) => (() => void) | undefined

/**
 * Makes an encrypted connection free the buffers of large messages as soon as they are decrypted, or written. Other
 * connections are unchanged. Nothing else may read the bytes of the connection below.
 */
export function freedMessages(connection: object): OnWritten {
  if (!isEncrypting(connection)) return () => undefined
  const encrypt = connection.encrypt.bind(connection)
  const decrypt = connection.decrypt.bind(connection)
  const sealed = new WeakSet<ArrayBufferLike>()
  const received = new ReceivedBuffers()
  connection.encrypt = (text) => {
    const message = encrypt(text)
    if (message.byteLength < FREED_BYTES_MIN) return message
    for (const { buffer, length } of message) {
      if (length >= FREED_BYTES_MIN && length === buffer.byteLength) sealed.add(buffer)
    }
    return message
  }
  connection.decrypt = (message) => {
    const text = decrypt(message)
    received.onDecrypted(message, text)
    return text
  }
  return ({ buffer }) => (sealed.delete(buffer) ? () => freeBuffer(buffer) : undefined)
}

/**
 * Frees each buffer of the socket that holds nothing but large messages, with the last of them. The text of a small
 * message stays in the buffer that it arrived in.
 */
class ReceivedBuffers {
  /** The newest buffer, while it holds nothing else. */
  #buffer: ArrayBufferLike | undefined
  /** End of the message bytes that were seen in it. */
  #end = 0

  onDecrypted(message: Parts, text: Parts): void {
    if (message.byteLength <= SMALL_MESSAGE_BYTES) this.#buffer = undefined
    else for (const part of message) this.#onPart(part, !sharesBuffer(text, part.buffer))
  }

  #onPart({ buffer, byteOffset, byteLength }: Uint8Array, isCopy: boolean): void {
    const start = this.#buffer === buffer ? this.#end : 0
    const isNext = byteOffset >= start && byteOffset <= start + LENGTH_BYTES
    this.#buffer = isCopy && isNext ? buffer : undefined
    this.#end = byteOffset + byteLength
    if (this.#buffer !== undefined && this.#end === buffer.byteLength && this.#end >= FREED_BYTES_MIN)
      freeBuffer(buffer)
  }
}

function sharesBuffer(parts: Parts, buffer: ArrayBufferLike): boolean {
  for (const part of parts instanceof Uint8Array ? [parts] : parts) if (part.buffer === buffer) return true
  return false
}

function isEncrypting(connection: object): connection is Encrypting {
  return (
    'encrypt' in connection &&
    typeof connection.encrypt === 'function' &&
    'decrypt' in connection &&
    typeof connection.decrypt === 'function'
  )
}
