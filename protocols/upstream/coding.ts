import { Readable, type Transform, pipeline } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { SoukError, isSoukError } from '../../lib/base/errors.ts'

/** Content codings (RFC 9110 §8.4.1) an upstream may use although it was asked for none. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress
}

export type Decode = (coded: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array, undefined>

/**
 * What takes a body's coding off, or undefined when there is none.
 * @throws SoukError `upstream_invalid_response` for a coding that is not known, or several at once.
 */
export function decoderOf(contentEncoding: string | undefined): Decode | undefined {
  const coding = contentEncoding?.trim().toLowerCase() ?? ''
  // Servers of GraphQL over SSE write `none`, to keep compressing middleware away.
  if (coding === '' || coding === 'identity' || coding === 'none') return undefined
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
  if (create === undefined) {
    throw new SoukError(
      'upstream_invalid_response',
      'The API behind this listing used a content coding that is not known.',
      {
        source: 'upstream'
      }
    )
  }
  return (coded) => decode(coded, create())
}

async function* decode(coded: AsyncIterable<Uint8Array>, decoder: Transform): AsyncGenerator<Uint8Array, undefined> {
  const source = Readable.from(coded, { objectMode: false })
  // Destroys both as soon as either fails or the reader leaves; the error is seen by the loop below.
  pipeline(source, decoder, () => undefined)
  try {
    for await (const chunk of decoder) yield chunk as Uint8Array
  } catch (error) {
    if (isSoukError(error)) throw error
    throw new SoukError(
      'upstream_invalid_response',
      'The API behind this listing sent a body that cannot be decoded.',
      {
        cause: error,
        source: 'upstream'
      }
    )
  }
}
