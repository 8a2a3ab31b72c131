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
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLarge()
    memory?.take(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}
