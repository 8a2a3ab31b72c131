import { Readable, type Transform, pipeline } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress
} from 'node:zlib'
import { SoukError, isSoukError } from '../../lib/base/errors.ts'

/** RFC 9659: decoders need a window of 8 MB, and may refuse a larger one. */
const ZSTD_WINDOW_LOG_MAX = 23
/** RFC 1950 §2.2: the lower four bits of the first byte of a zlib stream. */
const ZLIB_METHOD_BITS = 0x0f
const ZLIB_METHOD = 8

/** Content codings (RFC 9110 §8.4.1) that an upstream may use although none was requested. Each gets the first byte of the body. */
const DECODERS: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: inflate,
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } })
}

/** RFC 9110 §8.4.1.2: "Some non-conformant implementations send the "deflate" compressed data without the zlib wrapper." */
function inflate(first: number): Transform {
  return (first & ZLIB_METHOD_BITS) === ZLIB_METHOD ? createInflate() : createInflateRaw()
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
  return (coded) => decode(coded, create)
}

async function* decode(
  coded: AsyncIterable<Uint8Array>,
  create: (first: number) => Transform
): AsyncGenerator<Uint8Array, undefined> {
  const chunks = coded[Symbol.asyncIterator]()
  try {
    const first = await firstOf(chunks)
    // An empty body has no coding: some servers announce one for it.
    if (first === undefined) return
    const source = Readable.from(followedBy(first, chunks), { objectMode: false })
    const decoder = create(first[0] ?? 0)
    // Destroys both streams as soon as either fails or the reader leaves; the loop below sees the error.
    pipeline(source, decoder, () => undefined)
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

/** The first chunk with content; undefined if there is none. */
async function firstOf(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  for (;;) {
    const next = await chunks.next()
    if (next.done === true) return undefined
    if (next.value.length > 0) return next.value
  }
}

async function* followedBy(first: Uint8Array, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value
  } finally {
    await chunks.return?.()
  }
}
