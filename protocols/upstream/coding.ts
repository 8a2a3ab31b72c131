import { Readable, type Transform, pipeline } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { SoukError, isSoukError } from '../../lib/base/errors.ts'

/** Content codings (RFC 9110 §8.4.1) that an upstream may use although none was requested. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress
}

/** Servers of GraphQL over SSE send `none` to disable compressing middleware. */
const NO_CODING: ReadonlySet<string> = new Set(['', 'identity', 'none'])

export type Decode = (coded: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array, undefined>

/**
 * The decoder of a body's coding; undefined if it has none.
 * @throws SoukError `upstream_invalid_response` for an unknown coding, or several.
 */
export function decoderOf(contentEncoding: string | readonly string[] | undefined): Decode | undefined {
  // Several fields of one name are a list (RFC 9110 §5.3).
  const codings = [contentEncoding ?? ''].flat().flatMap((field) => field.split(','))
  const real = codings.map((each) => each.trim().toLowerCase()).filter((each) => !NO_CODING.has(each))
  if (real.length === 0) return undefined
  const [coding = ''] = real.length === 1 ? real : []
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
  if (create === undefined) {
    throw new SoukError('upstream_invalid_response', 'The API behind this listing used an unknown content coding.', {
      source: 'upstream'
    })
  }
  return (coded) => decode(coded, create())
}

async function* decode(coded: AsyncIterable<Uint8Array>, decoder: Transform): AsyncGenerator<Uint8Array, undefined> {
  const source = Readable.from(coded, { objectMode: false })
  // Destroys both streams as soon as either fails or the reader leaves; the loop below sees the error.
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
