import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { Pool } from 'undici'
import { EMPTY_BYTES } from '../lib/base/bytes.ts'
import { type Clock, systemClock } from '../lib/base/clock.ts'
import { SoukError, isSoukError } from '../lib/base/errors.ts'
import {
  HEADER_BYTES_MAX,
  IN_FLIGHT_PER_API_MAX,
  UPSTREAM_CONNECT_MS,
  UPSTREAM_REDIRECTS_MAX,
  UPSTREAM_TIMEOUT_MS,
  UPSTREAM_TIMEOUT_MS_MAX
} from '../lib/base/limits.ts'
import type { Headers, Payload } from '../lib/interface/payload.ts'
import { decoderOf } from './upstream-coding.ts'
import { Exchange, type ResponseHead } from './upstream-exchange.ts'
import { RedirectedAway, failureOf } from './upstream-failure.ts'
import { headersDown, headersUp } from './upstream-headers.ts'
import { parseEndpoint, targetOf, whereOf } from './upstream-target.ts'

export interface UpstreamRequest {
  /** One of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS. */
  readonly method: string
  /** Appended to the endpoint's path and query: empty, or starting with `/` or `?`. Default empty. */
  readonly path?: string
  /** Only those of a short list go up: see `upstream-headers.ts`. */
  readonly headers: Headers
  readonly body?: Payload
  readonly signal: AbortSignal
}

/** An answer whose body must be read by one of `body`, `bytes` and `payload`, or discarded. */
export interface UpstreamResponse {
  readonly status: number
  /** Only those of a short list come down. */
  readonly headers: Headers
  /** From sending to the response head, redirects included, in milliseconds. */
  readonly upstreamMs: number
  /** Length of the body as announced; undefined when it was not, or when the body came compressed. */
  readonly contentLength: number | undefined
  /**
   * The body as it arrives, decoded, pulled. The time limit ends with the head; silence is limited by `STREAM_IDLE_MS`.
   * Throws what `request` throws, `upstream_timeout`, and `upstream_invalid_response` when it cannot be decoded.
   */
  readonly body: AsyncIterable<Uint8Array>
  /**
   * The body whole, within the time limit of the request.
   * @throws SoukError `response_too_large` past `bytesMax` decoded bytes, and as `body`.
   */
  bytes(bytesMax: number): Promise<Uint8Array>
  /** The body whole when it has at most `inlineBytesMax` decoded bytes, within the time limit; else as a stream. */
  payload(inlineBytesMax: number): Promise<Payload>
  /** Gives the body up and the connection with it. */
  discard(): void
}

/** Keep-alive HTTP/1.1 to one endpoint. */
export interface Upstream {
  readonly endpoint: URL
  /**
   * Sends one request, once: nothing is repeated but a redirect's own target (same origin; GET and HEAD, or 307 and 308
   * with a body that is held whole).
   * @throws SoukError `invalid_request` (path or header), `method_not_allowed`, `upstream_unreachable`, `upstream_timeout`,
   *   `upstream_invalid_response`, `call_interrupted` (the signal aborted without a SoukError as reason, or `close`).
   */
  request(request: UpstreamRequest): Promise<UpstreamResponse>
  /** Ends what is running. */
  close(): Promise<void>
}

type Chunks = AsyncIterator<Uint8Array, undefined>

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export interface UpstreamInit {
  readonly endpoint: string
  readonly timeoutMs?: number
  /** What errors call it. Default: its host and port, which is for the provider to read and for no consumer. */
  readonly shownAs?: string
  readonly clock?: Clock
}

/**
 * The one HTTP client through which adapters reach a provider's API.
 *
 * @param init.endpoint - fixes scheme, host, port and the head of the path for good.
 * @param init.timeoutMs - default `UPSTREAM_TIMEOUT_MS`, at most `UPSTREAM_TIMEOUT_MS_MAX`.
 * @throws SoukError `invalid_request`
 */
export function createUpstream(init: UpstreamInit): Upstream {
  const { timeoutMs = UPSTREAM_TIMEOUT_MS, clock = systemClock } = init
  const endpoint = parseEndpoint(init.endpoint)
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > UPSTREAM_TIMEOUT_MS_MAX) {
    throw new SoukError('invalid_request', `The time limit must be 1 to ${UPSTREAM_TIMEOUT_MS_MAX} milliseconds.`)
  }
  const where = init.shownAs ?? whereOf(endpoint)
  const pool = new Pool(endpoint.origin, {
    connections: IN_FLIGHT_PER_API_MAX,
    pipelining: 1,
    // One request per connection: giving one up destroys its socket, which is how the upstream hears of it.
    allowH2: false,
    connect: { timeout: UPSTREAM_CONNECT_MS },
    maxHeaderSize: HEADER_BYTES_MAX,
    // Our own timers decide: they run on the clock that was given, and not while a reader is slow.
    headersTimeout: 0,
    bodyTimeout: 0
  })

  /** One request without following redirects. */
  async function send(sent: Sent, target: string, remainingMs: number) {
    const exchange = new Exchange({ clock, signal: sent.signal, timeoutMs: remainingMs, where })
    if (!exchange.settled) {
      pool.dispatch({ method: sent.method, path: target, headers: sent.headers, body: sent.body }, exchange)
    }
    return { exchange, head: await exchange.head }
  }

  async function run(request: UpstreamRequest, body: Sent['body']): Promise<UpstreamResponse> {
    const { method, signal } = request
    if (!METHODS.has(method)) throw new SoukError('method_not_allowed', 'This method cannot be forwarded.')
    let target = targetOf(endpoint, request.path ?? '')
    const sent: Sent = { method, headers: headersUp(request.headers), body, signal }
    const startedAt = clock.elapsed()
    for (let redirects = 0; ; redirects++) {
      const remainingMs = Math.max(0, timeoutMs - (clock.elapsed() - startedAt))
      const { exchange, head } = await send(sent, target, remainingMs)
      if (!REDIRECTS.has(head.status)) return answer(exchange, head, method, clock.elapsed() - startedAt)
      exchange.leave()
      target = redirected({ endpoint, target, head, sent, redirects })
    }
  }

  return {
    endpoint,
    async request(request) {
      const body = bodyOf(request.body)
      try {
        return await run(request, body)
      } catch (error) {
        if (body instanceof Readable) body.destroy()
        throw failureOf(error, where)
      }
    },
    close: () => pool.destroy()
  }
}

/** A request as every one of its redirects gets it. */
interface Sent {
  readonly method: string
  readonly headers: string[]
  readonly body: Uint8Array | Readable | null
  readonly signal: AbortSignal
}

function bodyOf(body: Payload | undefined): Sent['body'] {
  if (body === undefined || body instanceof Uint8Array) return body ?? null
  const readable = Readable.from(sourced(body), { objectMode: false })
  // Who sends it hears of its errors; this is for those that come when nobody sends it any more.
  return readable.on('error', () => undefined)
}

/**
 * A body that breaks off is its sender's fault, and must not pass for the upstream's. No generator: one that never started
 * would not tell its source that nobody wants it.
 */
function sourced(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = body[Symbol.asyncIterator]()
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          return await source.next()
        } catch (error) {
          throw isSoukError(error) ? error : new SoukError('call_interrupted', undefined, { cause: error })
        }
      },
      async return() {
        await source.return?.()
        return { done: true, value: undefined }
      }
    })
  }
}

/** @throws SoukError `upstream_invalid_response` for a redirect that must not or cannot be followed. */
function redirected(from: {
  endpoint: URL
  target: string
  head: ResponseHead
  sent: Sent
  redirects: number
}): string {
  const { endpoint, target, head, sent, redirects } = from
  const refuse = (why: string, cause?: unknown) =>
    new SoukError('upstream_invalid_response', `The API behind this listing redirects ${why}.`, {
      source: 'upstream',
      cause
    })
  const location = head.headers.location
  const next = location === undefined ? null : URL.parse(location, endpoint.origin + target)
  if (next === null) throw refuse('without saying where to')
  // The address itself is the provider's business: it stays in the log.
  if (next.origin !== endpoint.origin) throw refuse('to another host, port or scheme', new RedirectedAway(next.href))
  if (redirects >= UPSTREAM_REDIRECTS_MAX) throw refuse('too many times')
  const repeatable = sent.method === 'GET' || sent.method === 'HEAD'
  const keepsMethod = head.status === 307 || head.status === 308
  if (!repeatable && !keepsMethod) throw refuse('in a way that drops the request')
  if (sent.body instanceof Readable) throw refuse('a request that cannot be sent again')
  return next.pathname + next.search
}

function answer(exchange: Exchange, head: ResponseHead, method: string, upstreamMs: number): UpstreamResponse {
  const coding = hasContent(head, method) ? head.headers['content-encoding'] : undefined
  const decode = refusing(exchange, () => decoderOf(coding))
  const open = (): Chunks => {
    const raw = exchange.body()
    return decode === undefined ? raw : decode(raw)
  }
  return {
    status: head.status,
    headers: headersDown(head.headers),
    upstreamMs,
    contentLength: decode === undefined ? lengthOf(head.headers) : undefined,
    body: {
      [Symbol.asyncIterator]() {
        exchange.unhurry()
        return leavable(exchange, open())
      }
    },
    async bytes(bytesMax) {
      const source = open()
      const { chunks, whole } = await take(source, bytesMax)
      if (whole) return joined(chunks)
      await source.return?.()
      throw new SoukError('response_too_large', undefined, { source: 'upstream' })
    },
    async payload(inlineBytesMax) {
      const source = open()
      const { chunks, whole } = await take(source, inlineBytesMax)
      if (whole) return joined(chunks)
      exchange.unhurry()
      return { [Symbol.asyncIterator]: () => leavable(exchange, source, chunks) }
    },
    discard: () => exchange.leave()
  }
}

/** Reads until the end, or until there are more than `bytesMax` bytes. */
async function take(source: Chunks, bytesMax: number): Promise<{ chunks: Uint8Array[]; whole: boolean }> {
  const chunks: Uint8Array[] = []
  let total = 0
  while (total <= bytesMax) {
    const { done, value } = await source.next()
    if (done === true) return { chunks, whole: true }
    total += value.byteLength
    chunks.push(value)
  }
  return { chunks, whole: false }
}

/** `first`, then the rest of `source`. Leaving works also while a read is pending, which a generator would make wait. */
function leavable(exchange: Exchange, source: Chunks, first: Uint8Array[] = []): Chunks {
  return {
    async next() {
      const chunk = first.shift()
      if (chunk !== undefined) return { done: false, value: chunk }
      const { done, value } = await source.next()
      return done === true ? { done, value: undefined } : { done: false, value }
    },
    async return() {
      first.length = 0
      exchange.leave()
      await source.return?.()
      return { done: true, value: undefined }
    }
  }
}

/** Runs `read`; when it throws, nobody will read the body any more. */
function refusing<T>(exchange: Exchange, read: () => T): T {
  try {
    return read()
  } catch (error) {
    exchange.leave()
    throw error
  }
}

/** A response to HEAD describes a body it does not have; 204 and 304 have none (RFC 9110 §6.4.1). */
function hasContent(head: ResponseHead, method: string): boolean {
  return method !== 'HEAD' && head.status !== 204 && head.status !== 304
}

function lengthOf(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['content-length']
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length <= 1) return chunks[0] ?? EMPTY_BYTES
  return Buffer.concat(chunks)
}
