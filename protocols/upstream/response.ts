import type { IncomingHttpHeaders } from 'node:http'
import { EMPTY_BYTES } from '../../lib/base/bytes.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { Fifo } from '../../lib/base/fifo.ts'
import { INLINE_BODY_BYTES_MAX } from '../../lib/base/limits/link.ts'
import { VALUE_SILENCE_MS } from '../../lib/base/limits/upstream.ts'
import type { CallMemory } from '../../lib/interface/adapter.ts'
import type { Headers, Payload } from '../../lib/interface/payload.ts'
import { soon, startingWith } from '../pending-read.ts'
import { ValueLines } from '../value-lines.ts'
import { decoderOf } from './coding.ts'
import type { Exchange, ResponseHead } from './exchange.ts'

/** A response. Its body must be read by one of `body`, `bytes`, `pieces` and `payload`, or discarded. */
export interface UpstreamResponse {
  readonly status: number
  /** Only the allow-listed headers. */
  readonly headers: Headers
  /** From sending to the response head, including redirects, in milliseconds. */
  readonly upstreamMs: number
  /** The announced length of the body; undefined if not announced, or if the body is compressed. */
  readonly contentLength: number | undefined
  /**
   * The body as it arrives, decoded. The time limit ends with the head; after that only silence is limited (`STREAM_IDLE_MS`).
   * Throws the errors of `request`, `upstream_timeout`, and `upstream_invalid_response` if it cannot be decoded.
   */
  readonly body: AsyncIterable<Uint8Array>
  /**
   * The whole body, within the time limit of the request.
   * @param memory counts a body above `INLINE_BODY_BYTES_MAX`. Where the body waits for it, the time limit ends
   * @throws SoukError `response_too_large` past `bytesMax` decoded bytes, and the errors of `body`.
   */
  bytes(bytesMax: number, memory?: CallMemory): Promise<Uint8Array>
  /** Like `bytes`, but in the received pieces, for callers that forward them unjoined. */
  pieces(bytesMax: number, memory?: CallMemory): Promise<readonly Uint8Array[]>
  /**
   * The whole body if it has at most `inlineBytesMax` decoded bytes, within the time limit; else a stream.
   * @param mayBeLines also a stream if JSON values come line by line: more follows the first, or silence of `VALUE_SILENCE_MS`
   */
  payload(inlineBytesMax: number, mayBeLines?: boolean): Payload | Promise<Payload>
  /** Abandons the body and closes its connection. */
  discard(): void
}

type Chunks = AsyncIterator<Uint8Array, undefined>

/** @param headers the head's headers that may be passed on */
export function upstreamResponse(
  exchange: Exchange,
  head: ResponseHead,
  { method, headers, upstreamMs }: { method: string; headers: Headers; upstreamMs: number }
): UpstreamResponse {
  const coding = hasContent(head, method) ? head.headers['content-encoding'] : undefined
  const decode = refusing(exchange, () => decoderOf(coding))
  return new ExchangedResponse(exchange, head, decode, headers, upstreamMs)
}

class ExchangedResponse implements UpstreamResponse {
  readonly status: number
  readonly headers: Headers
  readonly upstreamMs: number
  readonly contentLength: number | undefined
  readonly #exchange: Exchange
  readonly #decode: ReturnType<typeof decoderOf>

  constructor(
    exchange: Exchange,
    head: ResponseHead,
    decode: ReturnType<typeof decoderOf>,
    headers: Headers,
    upstreamMs: number
  ) {
    this.status = head.status
    this.headers = headers
    this.upstreamMs = upstreamMs
    this.contentLength = decode === undefined ? announcedLength(head.headers) : undefined
    this.#exchange = exchange
    this.#decode = decode
  }

  get body(): AsyncIterable<Uint8Array> {
    return {
      [Symbol.asyncIterator]: () => {
        this.#exchange.unhurry()
        return leavable(this.#exchange, this.#open())
      }
    }
  }

  async bytes(bytesMax: number, memory?: CallMemory): Promise<Uint8Array> {
    return joined(await this.pieces(bytesMax, memory))
  }

  async pieces(bytesMax: number, memory?: CallMemory): Promise<readonly Uint8Array[]> {
    const { chunks, rest } = await (memory === undefined ? this.#collect(bytesMax) : this.#counted(bytesMax, memory))
    if (rest === undefined) return chunks
    this.#exchange.leave()
    await rest.return?.()
    throw new SoukError('response_too_large', undefined, { source: 'upstream' })
  }

  payload(inlineBytesMax: number, mayBeLines = false): Payload | Promise<Payload> {
    // A body that has ended with its head, as most do, is read without a promise.
    const isThere = this.#decode === undefined && this.#exchange.settled
    const collected =
      mayBeLines && !isThere
        ? takeDocument(this.#open(), inlineBytesMax, this.#exchange.clock)
        : this.#collect(inlineBytesMax)
    return collected instanceof Promise ? collected.then((all) => this.#payload(all)) : this.#payload(collected)
  }

  discard(): void {
    this.#exchange.leave()
  }

  #payload({ chunks, rest }: Collected): Payload {
    if (rest === undefined) return joined(chunks)
    this.#exchange.unhurry()
    return { [Symbol.asyncIterator]: () => leavable(this.#exchange, rest, chunks) }
  }

  #open(): Chunks {
    const raw = this.#exchange.body()
    return this.#decode === undefined ? raw : this.#decode(raw)
  }

  /** Reads a long body only as far as there is memory for it. */
  async #counted(bytesMax: number, memory: CallMemory): Promise<Collected> {
    const { chunks, rest } = await this.#collect(Math.min(bytesMax, INLINE_BODY_BYTES_MAX))
    if (rest === undefined) return { chunks, rest }
    const room = (bytes: number) => {
      const waiting = memory.wait(bytes, this.#exchange.signal)
      if (waiting !== undefined) this.#exchange.unhurry()
      return waiting
    }
    const bytes = lengthOf(chunks)
    await room(bytes)
    const more = await take(rest, bytesMax - bytes, room)
    return { chunks: [...chunks, ...more.chunks], rest: more.rest }
  }

  /** A body without a coding is not read before it is whole: each read would wait for a promise. */
  #collect(bytesMax: number): Collected | Promise<Collected> {
    if (this.#decode !== undefined) return take(this.#open(), bytesMax)
    const whole = this.#exchange.whole(bytesMax)
    return whole instanceof Promise ? whole.then((chunks) => this.#rest(chunks)) : this.#rest(whole)
  }

  #rest(chunks: readonly Uint8Array[] | undefined): Collected {
    return chunks === undefined ? { chunks: [], rest: this.#exchange.body() } : { chunks, rest: undefined }
  }
}

/** The beginning of a body, and the rest of it, if it is longer. */
interface Collected {
  readonly chunks: readonly Uint8Array[]
  readonly rest: Chunks | undefined
}

/**
 * Reads until the end, or until more than `bytesMax` bytes.
 * @param room waits for the memory of each chunk
 */
async function take(
  source: Chunks,
  bytesMax: number,
  room?: (bytes: number) => Promise<void> | undefined
): Promise<Collected> {
  const chunks: Uint8Array[] = []
  let total = 0
  while (total <= bytesMax) {
    const { done, value } = await source.next()
    if (done === true) return { chunks, rest: undefined }
    total += value.byteLength
    const waiting = room?.(value.byteLength)
    if (waiting !== undefined) await waiting
    chunks.push(value)
  }
  return { chunks, rest: source }
}

/** Like `take`, but only until the body shows to be a sequence of JSON values, which may have no end. */
async function takeDocument(source: Chunks, bytesMax: number, clock: Clock): Promise<Collected> {
  const lines = new ValueLines()
  const chunks: Uint8Array[] = []
  let total = 0
  while (total <= bytesMax && lines.found < 2) {
    const reading = source.next()
    const isOne = lines.found === 1
    const next = isOne ? await soon(reading, VALUE_SILENCE_MS, clock) : await reading
    if (next === undefined) return { chunks, rest: startingWith(reading, source) }
    if (next.done === true) return { chunks, rest: undefined }
    total += next.value.byteLength
    chunks.push(next.value)
    lines.push(next.value)
  }
  return { chunks, rest: source }
}

/** `first`, then the rest of `source`. `return` works even while a read is pending; a generator would wait for it. */
function leavable(exchange: Exchange, source: Chunks, chunks: readonly Uint8Array[] = []): Chunks {
  const first = new Fifo(chunks)
  return {
    async next() {
      const chunk = first.shift()
      if (chunk !== undefined) return { done: false, value: chunk }
      const { done, value } = await source.next()
      return done === true ? { done, value: undefined } : { done: false, value }
    },
    async return() {
      first.clear()
      exchange.leave()
      await source.return?.()
      return { done: true, value: undefined }
    }
  }
}

/** Runs `read`. If it throws, releases the exchange, because the body will not be read. */
function refusing<T>(exchange: Exchange, read: () => T): T {
  try {
    return read()
  } catch (error) {
    exchange.leave()
    throw error
  }
}

/** A response to HEAD describes a body that it does not have; 204 and 304 have none (RFC 9110 §6.4.1). */
function hasContent(head: ResponseHead, method: string): boolean {
  return method !== 'HEAD' && head.status !== 204 && head.status !== 304
}

function announcedLength(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['content-length']
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

const lengthOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, each) => sum + each.byteLength, 0)

export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length <= 1) return chunks[0] ?? EMPTY_BYTES
  return Buffer.concat(chunks)
}
