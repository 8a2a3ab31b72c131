import { EMPTY_BYTES } from './bytes.ts'

/**
 * Reads a whole body. Stops reading, and so cancels the sender, as soon as the body is too large.
 * @param memory counts the bytes before they are kept
 * @throws the error of `tooLarge`, and those of `memory`
 */
export async function collect(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  bytesMax: number,
  tooLarge: () => Error,
  memory?: { take(bytes: number): void }
): Promise<Uint8Array> {
  if (body instanceof Uint8Array) {
    if (body.length > bytesMax) throw tooLarge()
    return body
  }
  let whole: Uint8Array = EMPTY_BYTES
  let length = 0
  for await (const chunk of body) {
    const end = length + chunk.length
    if (end > bytesMax) throw tooLarge()
    memory?.take(chunk.length)
    if (end > whole.length) whole = grown(whole.subarray(0, length), Math.max(end, Math.min(2 * length, bytesMax)))
    // Copied, because each chunk takes 150 bytes more, and may have a single byte.
    whole.set(chunk, length)
    length = end
  }
  return whole.subarray(0, length)
}

function grown(bytes: Uint8Array, length: number): Uint8Array {
  const more = Buffer.allocUnsafe(length)
  more.set(bytes)
  return more
}
