import { setImmediate as turn } from 'node:timers/promises'
import type { Payload } from '../../lib/interface/payload.ts'

/** Reads a whole body of either form. */
export async function bytesOf(body: Payload): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body)
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export const textOf = async (body: Payload): Promise<string> => (await bytesOf(body)).toString()

/** A body as from a slow sender. */
export async function* streamOf(...chunks: ReadonlyArray<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    await turn()
    yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  }
}
