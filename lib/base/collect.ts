/**
 * Reads a whole body. Stops reading, and so cancels the sender, as soon as the body is too large.
 * @throws the error of `tooLarge`
 */
export async function collect(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  bytesMax: number,
  tooLarge: () => Error
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
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}
