import { type IncomingMessage, type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import { formatUsdc, type HeldBytes, limits, SoukError } from '../../../lib/index.ts'
import type { CallReply, CallTiming, Headers, Payload, RateLimitStatus } from '../../../lib/interface/index.ts'
import { roomIn } from '../../http/room-in.ts'
import { UNBUFFERED } from '../../http/unbuffered.ts'
import { untilRead } from '../../http/until-read.ts'
import { paymentReceipt } from './payment-auth.ts'
import { paymentResponse } from './payment-headers.ts'
import { cacheHeaders } from './cache-headers.ts'
import { deprecationHeaders } from './deprecation-headers.ts'
import { quotaHeaders, rateHeaders } from './rate-headers.ts'
import { publicUrl } from '../public-url.ts'
import { leavesMuchUnread, sendWhole, type RequestContext } from '../request-context.ts'
import { ADDRESS_HEADERS } from '../../../protocols/address-headers.ts'

/**
 * Response headers that the ingress drops. Some belong to one connection (RFC 9110 §7.6.1) or to framing, which Node sets itself. With the
 * others an untrusted API would speak for this node’s origin (cookies, CORS, transport policy, reports).
 */
const KEPT_BACK = new Set(
  (
    'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade ' +
    'content-length date server server-timing x-request-id set-cookie set-cookie2 alt-svc strict-transport-security ' +
    'clear-site-data nel report-to reporting-endpoints service-worker-allowed ' +
    // The ingress sets these itself. Rate-limit headers of an API describe the provider’s limits, not the caller’s.
    'content-security-policy content-security-policy-report-only x-content-type-options x-frame-options ' +
    'ratelimit ratelimit-policy idempotency-replayed cache-control'
  ).split(' ')
)
/** The last ones command a proxy or a cache in front of this node: which file it sends instead, or what it keeps. */
const KEPT_BACK_PATTERN =
  /^(?:souk-|access-control-|(?:x-)?payment-|x-accel-|x-sendfile|x-lighttpd-send|x-reproxy-url|surrogate-)|cdn-cache-control$/

export interface SendInit {
  /** Records the cost, once the response is known to be sendable and before any of it is sent. */
  readonly settle?: Settle
  /** Rate-limit status of the key. */
  readonly keyRate?: RateLimitStatus | undefined
  /** Memory reservation of the request. A whole response counts against it until the client has read it. */
  readonly held?: HeldBytes
}

/**
 * Makes a browser show an API’s document by its declared type, without scripts and in an opaque origin. This node’s own origin serves its
 * front page and its account API.
 */
const CONFINED = ['X-Content-Type-Options', 'nosniff', 'Content-Security-Policy', "default-src 'none'; sandbox"]

/**
 * Sends a response, whole or chunk by chunk as fast as the client reads. Resolves when the exchange is over.
 * @throws SoukError `overloaded` if a whole response exceeds the caller’s memory share; nothing is recorded then
 */
export async function sendReply(
  context: RequestContext,
  reply: CallReply,
  { settle = () => {}, keyRate, held }: SendInit = {}
): Promise<void> {
  const { req, res } = context
  const { body, status } = reply
  try {
    if (res.destroyed) return discard(body)
    checkStatus(status)
    const headers = replyHeaders(context, reply)
    // Most keys and listings have no rate limit.
    if (keyRate !== undefined || reply.rate !== undefined) headers.push(...rateHeaders(keyRate, reply.rate))
    if (reply.quota !== undefined) headers.push(...quotaHeaders(reply.quota, context.clock.now()))
    headers.unshift(...apiHeaders(context, reply, headers))
    if (reply.charged > 0n) checkHeaders(headers)
    if (isWhole(body) && isLarge(body)) held?.take(body.length)
    const settling = settle()
    if (settling !== undefined) {
      await settling
      if (res.destroyed) return discard(body)
    }
    if (req.method === 'HEAD' || status === 204 || status === 304) {
      const length = req.method === 'HEAD' ? lengthOf(reply) : undefined
      if (length !== undefined) headers.push('Content-Length', length)
      sendHead(context, status, headers).end()
      return discard(body)
    }
    if (isWhole(body)) {
      const reading = sendHeld(context, status, headers, body)
      if (reading !== undefined) await reading
      return
    }
    const length = lengthOf(reply)
    if (length === undefined) {
      headers.push(...UNBUFFERED)
    } else {
      headers.push('Content-Length', length)
      // A wrong length of an untrusted API ends the connection, so that no byte is taken for the next response.
      res.strictContentLength = true
    }
    // Send the head before the first chunk exists: an event may be minutes away.
    sendHead(context, status, headers).flushHeaders()
  } catch (error) {
    discard(body)
    // `writeHead` sets the reason of the status before it checks the headers.
    res.statusMessage = ''
    throw isHeaderError(error) ? new SoukError('upstream_invalid_response', undefined, { cause: error }) : error
  }
  await pump(context, body[Symbol.asyncIterator]())
}

/** The length that the API announced. */
function lengthOf({ headers }: CallReply): string | undefined {
  const lengths = headers.filter(([name]) => name.toLowerCase() === 'content-length').map(([, value]) => value)
  return lengths.length === 1 && /^\d{1,15}$/.test(lengths[0] ?? '') ? lengths[0] : undefined
}

/** Headers with paths below the API. */
const ADDRESSES: ReadonlySet<string> = new Set([...ADDRESS_HEADERS, 'link'])

/**
 * Replaces paths below the API with addresses of this ingress: `/items/7` with `https://…/api/demo/api/shop/items/7`. They are absolute,
 * because many clients do not resolve them.
 */
function atIngress(value: string, req: IncomingMessage): string {
  const [path = ''] = /^\/api\/[^/?#]+\/api\/[^/?#]+/.exec(req.url ?? '') ?? []
  const root = publicUrl(req) + path
  return value.startsWith('/') ? root + value : value.replaceAll(/<(?=\/(?!\/))/g, `<${root}`)
}

type Settle = () => void | Promise<void>

/** Validates headers early. Node validates them only on sending, when the cost is already recorded. */
function checkHeaders(headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) {
    const [name = '', value = ''] = [headers[i], headers[i + 1]]
    validateHeaderName(name)
    validateHeaderValue(name, value)
  }
}

function sendHead(context: RequestContext, status: number, headers: string[]): ServerResponse {
  if (leavesMuchUnread(context.req)) headers.push('Connection', 'close')
  return context.res.writeHead(status, [...context.headers, ...headers])
}

/**
 * Sends a whole response. Resolves when the client has read it and its memory is free. Undefined for a small one, whose memory is not
 * counted any longer.
 */
export function sendHeld(
  context: RequestContext,
  status: number,
  headers: readonly string[],
  body: Uint8Array
): Promise<void> | undefined {
  sendWhole(context, status, headers, body)
  return isLarge(body) ? untilRead(context.res, context.clock, body.length) : undefined
}

function isWhole(body: Payload): body is Uint8Array {
  return body instanceof Uint8Array
}

/** Smaller responses fit into the system’s socket buffers at once. */
function isLarge(body: Uint8Array): boolean {
  return body.length > limits.INLINE_BODY_BYTES_MAX
}

function checkStatus(status: number): void {
  if (Number.isInteger(status) && status >= 200 && status <= 599) return
  throw new SoukError('upstream_invalid_response', 'The API responded with an invalid HTTP status.')
}

/** A header name or value that HTTP cannot carry and the provider’s node did not reject. */
function isHeaderError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^ERR_INVALID_(?:CHAR|HTTP_TOKEN)$/.test(String(error.code))
}

/**
 * The headers of the API that are passed on. Clients reject a response with more than `HEADER_BYTES_MAX`, which is charged by then, so the
 * longest ones are left out.
 * @param own headers of this node
 */
function apiHeaders(context: RequestContext, { headers, deprecation }: CallReply, own: readonly string[]): string[] {
  const passed: string[] = []
  const perConnection = connectionOptions(headers)
  for (const [given, value] of headers) {
    const name = given.toLowerCase()
    if (KEPT_BACK.has(name) || KEPT_BACK_PATTERN.test(name) || perConnection?.has(name) === true) continue
    // The signed manifest’s deprecation replaces the API’s own.
    if (deprecation !== undefined && (name === 'deprecation' || name === 'sunset')) continue
    passed.push(name, ADDRESSES.has(name) ? atIngress(value, context.req) : value)
  }
  const room = limits.HEADER_BYTES_MAX - limits.HEADERS_OF_NODE_BYTES - bytesOf(context.headers) - bytesOf(own)
  return bytesOf(passed) <= room ? passed : shortest(passed, room)
}

/** The headers without the longest ones, within so many bytes. */
function shortest(headers: readonly string[], bytes: number): string[] {
  const pairs = Array.from({ length: headers.length / 2 }, (_, at) => headers.slice(2 * at, 2 * at + 2))
  const kept = new Set<readonly string[]>()
  let room = bytes
  for (const pair of pairs.toSorted((a, b) => bytesOf(a) - bytesOf(b))) {
    room -= bytesOf(pair)
    if (room < 0) break
    kept.add(pair)
  }
  return pairs.filter((pair) => kept.has(pair)).flat()
}

/** Names and values, each with two further bytes: `: ` or the end of a line. */
function bytesOf(headers: readonly string[]): number {
  return headers.reduce((sum, text) => sum + text.length + 2, 0)
}

function replyHeaders(context: RequestContext, reply: CallReply): string[] {
  const { status, headers, price, charged, eventPrice, owner, receipt, payment, timing, deprecation } = reply
  const all: string[] = [...CONFINED, ...cacheHeaders(headers)]
  all.push('Souk-Charged', formatUsdc(charged), 'Souk-Price', formatUsdc(price), 'Souk-Owner', owner)
  if (eventPrice !== undefined) all.push('Souk-Price-Per-Event', formatUsdc(eventPrice))
  if (status >= 400) all.push('Souk-Error-Source', isOwners(headers) ? 'owner' : 'upstream')
  if (reply.replayed === true) all.push('Idempotency-Replayed', 'true')
  if (deprecation !== undefined) all.push(...deprecationHeaders(deprecation, publicUrl(context.req)))
  if (payment !== undefined) {
    all.push(...paymentResponse(payment), ...paymentReceipt(context.req, payment, context.clock.now()))
  }
  if (receipt.length > 0) all.push('Souk-Receipt', Buffer.from(receipt).toString('base64url'))
  all.push('Server-Timing', serverTiming(timing, context.clock.elapsed() - context.startedAt))
  return all
}

/** True for an error that the provider’s node wrote in the form of its protocol, without the API. */
function isOwners(headers: Headers): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'souk-error-source' && value === 'owner')
}

/** RFC 9110 §7.6.1: `Connection` lists further hop-by-hop headers. */
function connectionOptions(headers: Headers): ReadonlySet<string> | undefined {
  const value = headers.find(([name]) => name.toLowerCase() === 'connection')?.[1]
  return value === undefined ? undefined : new Set(value.split(',').map((option) => option.trim().toLowerCase()))
}

/** W3C Server Timing, in milliseconds. `ingress` is the time that no other part accounts for. */
function serverTiming(timing: CallTiming, wholeMs: number): string {
  const { lookup, pay, net, owner, upstream } = timing
  const ingress = Math.max(0, wholeMs - lookup - pay - net - owner - upstream)
  return (
    `ingress;dur=${round(ingress)}, lookup;dur=${round(lookup)}, pay;dur=${round(pay)}, ` +
    `net;dur=${round(net)}, owner;dur=${round(owner)}, upstream;dur=${round(upstream)}`
  )
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}

async function pump(context: RequestContext, chunks: AsyncIterator<Uint8Array>): Promise<void> {
  const { res, log } = context
  const stop = () => cancel(chunks)
  const idle = watchIdle(context, () => res.destroy())
  res.once('close', stop)
  try {
    for (;;) {
      const next = await chunks.next()
      idle.touch()
      if (res.destroyed) return
      if (next.done === true) break
      if (!res.write(next.value)) await roomIn(res, context.clock)
      idle.touch()
    }
    res.off('close', stop).end()
  } catch (error) {
    res.off('close', stop)
    // Still open where the response, not the stream, broke.
    stop()
    if (!res.destroyed) log.warn('a streamed response broke', { request_id: context.requestIdText, cause: error })
    cut(context)
  } finally {
    idle.cancel()
  }
}

/** Calls `expire` after `STREAM_IDLE_MS` without data in either direction. Uses one timer for all chunks. */
function watchIdle({ clock }: RequestContext, expire: () => void): { touch(): void; cancel(): void } {
  let movedAt = clock.elapsed()
  const arm = (delayMs: number) =>
    clock.after(delayMs, () => {
      const restMs = movedAt + limits.STREAM_IDLE_MS - clock.elapsed()
      if (restMs <= 0) expire()
      else timer = arm(restMs)
    })
  let timer = arm(limits.STREAM_IDLE_MS)
  return {
    touch() {
      movedAt = clock.elapsed()
    },
    cancel: () => timer.cancel()
  }
}

/** Ends a broken response so that the client cannot take it for complete. */
function cut({ req, res }: RequestContext): void {
  // An HTTP/1.0 response ends with its connection. Only a reset shows the client that something is missing.
  if (req.httpVersionMinor === 0 && !('encrypted' in req.socket)) req.socket.resetAndDestroy()
  else res.destroy()
}

/** Cancels a stream that nobody will read. */
export function discard(body: Payload): void {
  if (!isWhole(body)) cancel(body[Symbol.asyncIterator]())
}

function cancel(chunks: AsyncIterator<Uint8Array>): void {
  chunks.return?.().catch(() => {})
}
