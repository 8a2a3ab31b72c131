import { hash, timingSafeEqual } from 'node:crypto'

export const EMPTY_BYTES = new Uint8Array(0)

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const utf8 = (text: string): Uint8Array => encoder.encode(text)
export const text = (bytes: Uint8Array): string => decoder.decode(bytes)

/** By way of a text: a hash that Node returns as bytes has a buffer outside the heap, which takes two thirds more CPU time. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const digest = hash('sha256', bytes, 'binary')
  const made = new Uint8Array(digest.length)
  for (let at = 0; at < made.length; at++) made[at] = digest.charCodeAt(at)
  return made
}

/** Node's native decoder. Its types do not declare it. */
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, from: number, to: number) => string
}

/** Bytes as the key of a map: one character each. */
export const latin1 = (bytes: Uint8Array): string => latin1Slice.call(bytes, 0, bytes.length)

/** Frees a buffer that nothing reads again. V8 would free it much later, and collects its whole heap after about 64 MB of such buffers. */
export function freeBuffer(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Compares contents in constant time. A length difference returns early. */
export function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
