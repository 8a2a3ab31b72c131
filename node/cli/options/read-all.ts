/** Reads a text stream to its end. */
export async function readAll(input: AsyncIterable<Uint8Array | string>): Promise<string> {
  return (await readBytes(input)).toString('utf8')
}

/** Reads a stream to its end. */
export async function readBytes(input: AsyncIterable<Uint8Array | string>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of input) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  return Buffer.concat(chunks)
}
