import { type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import { formatUsdc, type HeldBytes, limits, SoukError } from '../../../lib/index.ts'
import type { CallReply, CallTiming, Headers, Payload, RateLimitStatus } from '../../../lib/interface/index.ts'
import { paymentResponse } from './payment-headers.ts'
import { deprecationHeaders } from './deprecation-headers.ts'
import { quotaHeaders, rateHeaders } from './rate-headers.ts'
import { leavesMuchUnread, sendWhole, type RequestContext } from '../request-context.ts'

/**
 * Headers of a response that end here: those of one connection (RFC 9110 §7.6.1) and framing, which Node makes anew; and those
 * by which a stranger's API would speak for this node's origin (cookies, CORS, transport policy, reports).
 */
const KEPT_BACK = new Set(
  (
    'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade ' +
    'content-length date server server-timing x-request-id set-cookie set-cookie2 alt-svc strict-transport-security ' +
    'clear-site-data nel report-to reporting-endpoints service-worker-allowed ' +
    // What this node says itself; an API’s own limits are those of its provider.
    'content-security-policy content-security-policy-report-only x-content-type-options x-frame-options ' +
    'ratelimit ratelimit-policy idempotency-replayed'
  ).split(' ')
)
const KEPT_BACK_PREFIX = /^(?:souk-|access-control-|(?:x-)?payment-)/

export interface SendInit {
  /** Books what it cost, once it is sure that it can be sent and before any of it is. */
  readonly settle?: Settle
  /** What its key may still do. */
  readonly keyRate?: RateLimitStatus | undefined
  /** Of the request: a whole response counts there until its client has read it. */
  readonly held?: HeldBytes
}

/**
 * A browser shows a stranger's document as what it says it is, without scripts and in an origin of its own: this node's origin has its
 * front page and its account API.
 */
const CONFINED = ['X-Content-Type-Options', 'nosniff', 'Content-Security-Policy', "default-src 'none'; sandbox"]

/**
 * Sends a response: whole, or chunk by chunk as fast as the client reads. Resolves when there is nothing left to do.
 * @throws SoukError `overloaded` where a whole response is more than its caller may hold; nothing is booked then
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
    headers.push(...rateHeaders(keyRate, reply.rate))
    if (reply.quota !== undefined) headers.push(...quotaHeaders(reply.quota, context.clock.now()))
    if (reply.charged > 0n) checkHeaders(headers)
    if (isWhole(body) && isLarge(body)) held?.take(body.length)
    const settling = settle()
    if (settling !== undefined) {
      await settling
      if (res.destroyed) return discard(body)
    }
    if (req.method === 'HEAD' || status === 204 || status === 304) {
      sendHead(context, status, headers).end()
      return discard(body)
    }
    if (isWhole(body)) {
      sendWhole(context, status, headers, body)
      return isLarge(body) ? await untilRead(context, body.length) : undefined
    }
    // The head of a stream leaves before its first chunk exists: an event may be minutes away.
    sendHead(context, status, headers).flushHeaders()
  } catch (error) {
    discard(body)
    throw isHeaderError(error) ? new SoukError('upstream_invalid_response', undefined, { cause: error }) : error
  }
  await pump(context, body[Symbol.asyncIterator]())
}

type Settle = () => void | Promise<void>

/** Node looks at them when they are sent: too late for whoever would have paid by then. */
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

function isWhole(body: Payload): body is Uint8Array {
  return body instanceof Uint8Array
}

/** A smaller one is in the system's own buffers as soon as it is sent. */
function isLarge(body: Uint8Array): boolean {
  return body.length > limits.INLINE_BODY_BYTES_MAX
}

function checkStatus(status: number): void {
  if (Number.isInteger(status) && status >= 200 && status <= 599) return
  throw new SoukError('upstream_invalid_response', 'The API answered with a status that HTTP does not have.')
}

/** A name or value that HTTP cannot carry: the owner's node let it through. */
function isHeaderError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^ERR_INVALID_(?:CHAR|HTTP_TOKEN)$/.test(String(error.code))
}

function replyHeaders(context: RequestContext, reply: CallReply): string[] {
  const { headers, status, price, charged, eventPrice, owner, receipt, payment, timing, deprecation } = reply
  const all: string[] = [...CONFINED]
  const perConnection = connectionOptions(headers)
  for (const [given, value] of headers) {
    const name = given.toLowerCase()
    if (KEPT_BACK.has(name) || KEPT_BACK_PREFIX.test(name) || perConnection?.includes(name) === true) continue
    // The signed one counts for who calls by this listing.
    if (deprecation !== undefined && (name === 'deprecation' || name === 'sunset')) continue
    all.push(name, value)
  }
  all.push('Souk-Charged', formatUsdc(charged), 'Souk-Price', formatUsdc(price), 'Souk-Owner', owner)
  if (eventPrice !== undefined) all.push('Souk-Price-Per-Event', formatUsdc(eventPrice))
  if (status >= 400) all.push('Souk-Error-Source', 'upstream')
  if (reply.replayed === true) all.push('Idempotency-Replayed', 'true')
  if (deprecation !== undefined) all.push(...deprecationHeaders(deprecation))
  all.push(...paymentResponse(payment))
  if (receipt.length > 0) all.push('Souk-Receipt', Buffer.from(receipt).toString('base64url'))
  all.push('Server-Timing', serverTiming(timing, context.clock.elapsed() - context.startedAt))
  return all
}

/** RFC 9110 §7.6.1: `Connection` also names further headers that are for one hop only. */
function connectionOptions(headers: Headers): string[] | undefined {
  const value = headers.find(([name]) => name.toLowerCase() === 'connection')?.[1]
  return value?.split(',').map((option) => option.trim().toLowerCase())
}

/** W3C Server Timing; durations in milliseconds. What no other part accounts for was spent here. */
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
      if (!res.write(next.value)) await writable(context)
      idle.touch()
    }
    res.off('close', stop).end()
  } catch (error) {
    res.off('close', stop)
    if (!res.destroyed) log.warn('a streamed response broke', { request_id: context.requestIdText, cause: error })
    cut(context)
  } finally {
    idle.cancel()
  }
}

/** Resolves when the client has read on, or is gone. One that reads nothing for `READER_STALL_MS` is cut off. */
function writable({ res, clock }: RequestContext): Promise<void> {
  return new Promise((resolve) => {
    const stalled = clock.after(limits.READER_STALL_MS, () => res.destroy())
    const go = () => {
      stalled.cancel()
      res.off('drain', go).off('close', go)
      resolve()
    }
    res.on('drain', go).on('close', go)
  })
}

/** Resolves when a whole response was taken, or its client is gone. One that reads too slowly is cut off. */
function untilRead({ res, clock }: RequestContext, bytes: number): Promise<void> {
  if (res.writableFinished || res.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const mostMs = limits.ANSWER_READ_MS + (bytes / 2 ** 20) * limits.ANSWER_READ_MS_PER_MIB
    const late = clock.after(mostMs, () => res.destroy())
    const over = () => {
      late.cancel()
      res.off('finish', over).off('close', over)
      resolve()
    }
    res.on('finish', over).on('close', over)
  })
}

/** Calls `expire` when nothing has moved for `STREAM_IDLE_MS`, on either side. One timer, not one per chunk. */
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

/** Ends a broken answer so that it cannot be taken for a whole one. */
function cut({ req, res }: RequestContext): void {
  // An HTTP/1.0 answer ends where the connection does: only a reset tells its client that something is missing.
  if (req.httpVersionMinor === 0 && !('encrypted' in req.socket)) req.socket.resetAndDestroy()
  else res.destroy()
}

/** A stream that nobody will read is told so. */
export function discard(body: Payload): void {
  if (!isWhole(body)) cancel(body[Symbol.asyncIterator]())
}

function cancel(chunks: AsyncIterator<Uint8Array>): void {
  chunks.return?.().catch(() => {})
}
