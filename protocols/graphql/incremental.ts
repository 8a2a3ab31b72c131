import { SoukError } from '../../lib/base/errors.ts'
import { Fifo } from '../../lib/base/fifo.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits/call.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import { headerOf } from '../json.ts'
import { MIXED } from './graphql-accept.ts'
import { FirstPart } from './first-part.ts'
import type { ResponseOutline } from './graphql-response.ts'

/** A response in parts (`@defer`, `@stream`; `multipart/mixed`, RFC 2046 §5.1) whose first part is read. */
export interface Incremental {
  readonly first: ResponseOutline
  /** The whole body, unchanged. */
  readonly body: AsyncIterable<Uint8Array>
}

/** The boundary between parts; undefined for another content type. */
export function boundaryIn(headers: Headers): string | undefined {
  const [type = '', ...parameters] = (headerOf(headers, 'content-type') ?? '').split(';').map((part) => part.trim())
  if (type.toLowerCase() !== MIXED) return undefined
  const boundary = parameters.map((one) => /^boundary="?([^"]+)"?$/i.exec(one)?.[1]).find((one) => one !== undefined)
  // The default of Apollo's and other servers; their clients assume it if it is missing.
  return boundary ?? '-'
}

/**
 * @param room waits for the memory of each chunk of the first part
 * @throws SoukError `response_too_large`, `upstream_invalid_response`, and the errors of the body
 */
export async function incremental(
  body: AsyncIterable<Uint8Array>,
  boundary: string,
  room: (bytes: number) => Promise<void> | undefined
): Promise<Incremental> {
  const source = body[Symbol.asyncIterator]()
  const decoder = new TextDecoder()
  const taken = new Fifo<Uint8Array>()
  const part = new FirstPart(boundary)
  let bytes = 0
  for (;;) {
    const chunk = await source.next()
    if (chunk.done === true) {
      const detail = 'The API behind this listing ended its response early.'
      throw new SoukError('upstream_invalid_response', detail, { source: 'upstream' })
    }
    const waiting = room(chunk.value.length)
    if (waiting !== undefined) await waiting
    taken.push(chunk.value)
    bytes += chunk.value.length
    const first = part.push(decoder.decode(chunk.value, { stream: true }))
    if (first !== undefined) return { first, body: following(taken, source) }
    if (bytes > RESPONSE_BYTES_MAX) {
      await source.return?.()
      throw new SoukError('response_too_large', undefined, { source: 'upstream' })
    }
  }
}

function following(taken: Fifo<Uint8Array>, source: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      const chunk = taken.shift()
      if (chunk !== undefined) return { done: false, value: chunk }
      const next = await source.next()
      return next.done === true ? { done: true, value: undefined } : next
    },
    async return() {
      taken.clear()
      await source.return?.()
      return { done: true, value: undefined }
    }
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
