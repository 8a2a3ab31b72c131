import { Readable } from 'node:stream'
import { Pool } from 'undici'
import { utf8 } from '../../lib/base/bytes.ts'
import { type Clock, sleep, systemClock } from '../../lib/base/clock.ts'
import { SoukError, isSoukError } from '../../lib/base/errors.ts'
import { IN_FLIGHT_PER_API_MAX } from '../../lib/base/limits/admission.ts'
import { HEADER_BYTES_MAX, UPSTREAM_TIMEOUT_MS, UPSTREAM_TIMEOUT_MS_MAX } from '../../lib/base/limits/call.ts'
import {
  TOKEN_REQUEST_MS,
  UPSTREAM_REDIRECTS_MAX,
  UPSTREAM_RETRIES_MAX,
  UPSTREAM_RETRY_MS
} from '../../lib/base/limits/upstream.ts'
import type { UpstreamConfig } from '../../lib/interface/adapter.ts'
import type { Headers, Payload } from '../../lib/interface/payload.ts'
import { sourced } from './request-body.ts'
import { type UpstreamResponse, upstreamResponse } from './response.ts'
import { type Credentials, credentialsOf } from './auth.ts'
import { type Breaker, breaker } from './breaker.ts'
import { connectorTo } from './connect.ts'
import { Exchange, type ResponseHead } from './exchange.ts'
import { RedirectedAway, failureOf, interruption } from './failure.ts'
import { extraHeaders, headersDown, headersUp, namesDown } from './headers.ts'
import { pathBelow } from './links.ts'
import { parseEndpoint, targetOf, whereOf } from './target.ts'
import { type PostForm, TokenSource, basicOf } from './token.ts'

export interface UpstreamRequest {
  /** One of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS. */
  readonly method: string
  /** Appended to the endpoint's path and query: empty, or starting with `/` or `?`. Default empty. */
  readonly path?: string
  /** Only allow-listed headers are forwarded, see `upstream-headers.ts`. */
  readonly headers: Headers
  /** `name=value` each. The node's own cookies replace those of the same name. */
  readonly cookies?: readonly string[]
  readonly body?: Payload
  readonly signal: AbortSignal
}

/** A keep-alive HTTP client for one endpoint: HTTP/2 if the server selects it over TLS, else HTTP/1.1. */
export interface Upstream {
  readonly endpoint: URL
  /**
   * Sends one request, once. It is repeated only for a redirect within the origin (GET and HEAD, 303 as GET, or 307 and 308 with a
   * buffered body), with a renewed token after a 401, and if the provider declared the API idempotent.
   * @throws SoukError `invalid_request` (path or header), `method_not_allowed`, `upstream_unreachable`, `upstream_timeout`,
   * `upstream_invalid_response`, `overloaded`, `call_interrupted` (the signal aborted without a SoukError as reason, or `close`).
   */
  request(request: UpstreamRequest): Promise<UpstreamResponse>
  /**
   * The node's credential headers as a flat list, for other kinds of connections.
   * @throws SoukError as `request`, if a token must be fetched first
   */
  credentials(signal: AbortSignal): Promise<readonly string[]>
  /** Aborts running requests. */
  close(): Promise<void>
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export interface UpstreamInit
  extends Pick<
    UpstreamConfig,
    'endpoint' | 'timeoutMs' | 'inFlightMax' | 'idempotent' | 'auth' | 'guard' | 'requestHeaders' | 'responseHeaders'
  > {
  /** The API's name in errors. Default: its host and port, which only the provider may see. */
  readonly shownAs?: string
  /** Further request headers, in lower case, which the adapter writes itself: as many as an API has. */
  readonly writtenHeaders?: readonly string[]
  readonly clock?: Clock
  /** Rejects redirects out of the endpoint's path, for APIs where consumers can influence redirects. Default false. */
  readonly confinesRedirects?: boolean
  /** False: a redirect is returned as the response. Default true. */
  readonly followsRedirects?: boolean
  /** How long the circuit stays open after many failures. Default `UPSTREAM_BREAK_MS`. */
  readonly breakMs?: number
}

/**
 * The only HTTP client for providers' APIs.
 *
 * @param init.endpoint determines scheme, host, port and base path permanently
 * @param init.timeoutMs default `UPSTREAM_TIMEOUT_MS`, at most `UPSTREAM_TIMEOUT_MS_MAX`
 * @throws SoukError `invalid_request`
 *
 * @example
 * ```ts
 * import { once } from 'node:events'
 * import { createServer } from 'node:http'
 * import type { AddressInfo } from 'node:net'
 * import { createUpstream } from 'souk/protocols'
 *
 * const api = createServer((_request, response) => response.end('pong')).listen(0, '127.0.0.1')
 * await once(api, 'listening')
 * const upstream = createUpstream({ endpoint: `http://127.0.0.1:${(api.address() as AddressInfo).port}` })
 * const response = await upstream.request({ method: 'GET', path: '/ping', headers: [], signal: AbortSignal.timeout(5_000) })
 * console.log(response.status) // 200
 * await response.discard()
 * await upstream.close()
 * api.close()
 * ```
 */
export function createUpstream(init: UpstreamInit): Upstream {
  return new HttpUpstream(init)
}

class HttpUpstream implements Upstream {
  readonly endpoint: URL
  readonly #init: UpstreamInit
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #inFlightMax: number
  readonly #where: string
  readonly #credentials: Credentials
  /** The endpoint including the secret query parameters, so that consumers can neither repeat nor replace them. */
  readonly #base: URL
  readonly #up: ReadonlySet<string>
  readonly #down: readonly string[]
  /** Names of query parameters that the node adds to each request. */
  readonly #own: ReadonlySet<string>
  readonly #tokens: ReturnType<typeof tokenSource>
  readonly #breaker: Breaker
  readonly #pool: Pool
  #inFlight = 0

  constructor(init: UpstreamInit) {
    const { timeoutMs = UPSTREAM_TIMEOUT_MS, inFlightMax = IN_FLIGHT_PER_API_MAX, clock = systemClock } = init
    const endpoint = parseEndpoint(init.endpoint)
    checkBound('time limit', timeoutMs, UPSTREAM_TIMEOUT_MS_MAX, ' milliseconds')
    checkBound('number of requests at once', inFlightMax, IN_FLIGHT_PER_API_MAX, '')
    this.#init = init
    this.#clock = clock
    this.#timeoutMs = timeoutMs
    this.#inFlightMax = inFlightMax
    this.endpoint = endpoint
    this.#where = init.shownAs ?? whereOf(endpoint)
    this.#up = new Set([...extraHeaders(init.requestHeaders), ...(init.writtenHeaders ?? [])])
    this.#down = namesDown(init.responseHeaders)
    this.#credentials = credentialsOf(init.auth, endpoint)
    this.#own = new Set([...endpoint.searchParams.keys(), ...this.#credentials.query.map(([name]) => name)])
    this.#base = new URL(endpoint)
    for (const [name, value] of this.#credentials.query) this.#base.searchParams.append(name, value)
    this.#tokens = tokenSource(init, clock)
    this.#breaker = breaker(clock, init.breakMs)
    this.#pool = new Pool(endpoint.origin, {
      connections: IN_FLIGHT_PER_API_MAX,
      // HTTP/1.1 carries one request per connection at a time, HTTP/2 a stream per request. Aborting ends the connection or the
      // stream.
      allowH2: true,
      connect: connectorTo(endpoint, init.guard, init.auth?.tls),
      maxHeaderSize: HEADER_BYTES_MAX,
      // Our own timers apply, because they run on the given clock and not while a reader is slow.
      headersTimeout: 0,
      bodyTimeout: 0
    })
  }

  async request(request: UpstreamRequest): Promise<UpstreamResponse> {
    const body = bodyOf(request.body)
    const isTaken = this.#inFlight < this.#inFlightMax
    if (isTaken) this.#inFlight++
    try {
      if (!METHODS.has(request.method)) throw new SoukError('method_not_allowed', 'This method cannot be forwarded.')
      if (!isTaken) throw tooMany()
      const { response, exchange } = await this.#breaker.run(() => this.#answerTo(request, body), request.signal)
      exchange.whenSettled(() => this.#inFlight--)
      return response
    } catch (error) {
      if (isTaken) this.#inFlight--
      if (body instanceof Readable) body.destroy()
      throw request.signal.aborted && !isSoukError(error) ? interruption(request.signal) : failureOf(error, this.#where)
    }
  }

  async credentials(signal: AbortSignal): Promise<readonly string[]> {
    return this.#headersWith(await this.#tokens?.source.token(signal))
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#tokens?.close()])
  }

  #answerTo(request: UpstreamRequest, body: Sent['body']): Promise<Answered> {
    const startedAt = this.#clock.elapsed()
    const mayRetry = this.#init.idempotent === true && !(body instanceof Readable)
    return mayRetry ? this.#persistently(request, body, startedAt) : this.#authorized(request, body, startedAt)
  }

  /** Retries if the provider declared the API idempotent, and the API did not accept the request or is busy. */
  async #persistently(request: UpstreamRequest, body: Sent['body'], startedAt: number): Promise<Answered> {
    for (let tries = 0; ; tries++) {
      const isLast = tries >= UPSTREAM_RETRIES_MAX
      try {
        const done = await this.#authorized(request, body, startedAt)
        if (isLast || !isBusy(done.response)) return done
        done.response.discard()
      } catch (error) {
        const isWorth = isSoukError(error) && error.code === 'upstream_unreachable'
        if (isLast || request.signal.aborted || !isWorth) throw error
      }
      await sleep(this.#clock, UPSTREAM_RETRY_MS * 2 ** tries, request.signal)
    }
  }

  #authorized(request: UpstreamRequest, body: Sent['body'], startedAt: number): Promise<Answered> {
    return this.#tokens === undefined
      ? this.#following(request, { body, startedAt, token: undefined })
      : this.#withToken(this.#tokens.source, request, body, startedAt)
  }

  /** Retries once with a new token after a 401. */
  async #withToken(
    tokens: TokenSource,
    request: UpstreamRequest,
    body: Sent['body'],
    startedAt: number
  ): Promise<Answered> {
    for (let isFirst = true; ; isFirst = false) {
      const token = await tokens.token(request.signal)
      const done = await this.#following(request, { body, startedAt, token })
      if (done.response.status !== 401) return done
      tokens.refused(token)
      if (!isFirst || body instanceof Readable) return done
      done.response.discard()
    }
  }

  /** Follows redirects. */
  async #following(
    { method, path = '', headers, cookies, signal }: UpstreamRequest,
    { body, startedAt, token }: { body: Sent['body']; startedAt: number; token: string | undefined }
  ): Promise<Answered> {
    let target = targetOf(this.#base, path)
    const credentials = this.#headersWith(token)
    let sent: Sent = { method, headers: headersUp(headers, { extra: this.#up, credentials, cookies }), body, signal }
    for (let redirects = 0; ; redirects++) {
      const exchange = this.#send(sent, target, startedAt)
      const head = await exchange.head
      const { confinesRedirects = false, followsRedirects = true } = this.#init
      const isFollowed = followsRedirects && REDIRECTS.has(head.status)
      if (!isFollowed) return this.#answered(exchange, head, { method, target, startedAt })
      exchange.leave()
      const { endpoint } = this
      target = redirected({
        endpoint,
        target,
        head,
        sent,
        redirects,
        query: this.#credentials.query,
        confinesRedirects
      })
      // RFC 9110 §15.4.4: the response to the request is at another address, whatever its method was.
      if (head.status === 303 && sent.method !== 'HEAD') sent = asGet(sent)
    }
  }

  #headersWith(token: string | undefined): readonly string[] {
    const { headers } = this.#credentials
    return token === undefined ? headers : [...headers, 'authorization', `Bearer ${token}`]
  }

  /** Sends one request without following redirects. */
  #send(sent: Sent, target: string, startedAt: number): Exchange {
    const timeoutMs = Math.max(0, this.#timeoutMs - (this.#clock.elapsed() - startedAt))
    const exchange = new Exchange({ clock: this.#clock, signal: sent.signal, timeoutMs, where: this.#where })
    const { method, headers, body } = sent
    if (!exchange.settled) this.#pool.dispatch({ method, path: target, headers, body }, exchange)
    return exchange
  }

  readonly #hides = (value: string): boolean =>
    this.#credentials.secrets.some((secret) => value.includes(secret)) || this.#tokens?.source.shows(value) === true

  #answered(
    exchange: Exchange,
    head: ResponseHead,
    { method, target, startedAt }: { method: string; target: string; startedAt: number }
  ): Answered {
    const headers = headersDown(head.headers, {
      names: this.#down,
      hides: this.#hides,
      belowApi: (reference) => pathBelow(reference, { endpoint: this.endpoint, target, own: this.#own })
    })
    const upstreamMs = this.#clock.elapsed() - startedAt
    return { exchange, response: upstreamResponse(exchange, head, { method, headers, upstreamMs }) }
  }
}

interface Answered {
  readonly exchange: Exchange
  readonly response: UpstreamResponse
}

function checkBound(what: string, value: number, most: number, unit: string): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return
  throw new SoukError('invalid_request', `The ${what} must be 1 to ${most}${unit}.`)
}

function tooMany(): SoukError {
  return new SoukError('overloaded', 'The API accepts no more concurrent requests. Try again later.', {
    notAccepted: true,
    retryAfterMs: 1_000
  })
}

/** A response with `Retry-After` is passed on instead of retried. */
function isBusy({ status, headers }: UpstreamResponse): boolean {
  return (status === 502 || status === 503 || status === 504) && !headers.some(([name]) => name === 'retry-after')
}

/** The token server is an upstream as well: same guard, same certificate, another origin. */
function tokenSource({ auth, guard }: UpstreamInit, clock: Clock) {
  if (auth?.oauth2 === undefined) return undefined
  const { oauth2, tls } = auth
  const basic = basicOf(oauth2)
  const server = createUpstream({
    endpoint: oauth2.tokenUrl,
    timeoutMs: TOKEN_REQUEST_MS,
    shownAs: "The API's token server",
    clock,
    auth: { ...(basic === undefined ? {} : { basic }), ...(tls === undefined ? {} : { tls }) },
    ...(guard === undefined ? {} : { guard })
  })
  const post: PostForm = (headers, form) =>
    // Not the caller's signal, because other callers wait for the same response.
    server.request({ method: 'POST', headers, body: utf8(form), signal: AbortSignal.timeout(UPSTREAM_TIMEOUT_MS_MAX) })
  return { source: new TokenSource(oauth2, post, clock), close: () => server.close() }
}

/** A request, reused for each redirect. */
interface Sent {
  readonly method: string
  readonly headers: string[]
  readonly body: Uint8Array | Readable | null
  readonly signal: AbortSignal
}

function asGet({ headers, signal }: Sent): Sent {
  const kept = pairsOf(headers).filter(([name]) => name !== 'content-type')
  return { method: 'GET', headers: kept.flat(), body: null, signal }
}

function pairsOf(flat: readonly string[]): Array<[string, string]> {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : []))
}

function bodyOf(body: Payload | undefined): Sent['body'] {
  if (body === undefined || body instanceof Uint8Array) return body ?? null
  const readable = Readable.from(sourced(body), { objectMode: false })
  // The sender gets the body's errors; this handles errors after sending has ended.
  return readable.on('error', () => undefined)
}

/** @throws SoukError `upstream_invalid_response` for a redirect that must not or cannot be followed. */
function redirected(from: {
  endpoint: URL
  target: string
  head: ResponseHead
  sent: Sent
  redirects: number
  query: Credentials['query']
  confinesRedirects: boolean
}): string {
  const { endpoint, target, head, sent, redirects } = from
  const refuse = (why: string, cause?: unknown) =>
    new SoukError('upstream_invalid_response', `The API behind this listing redirects ${why}.`, {
      source: 'upstream',
      cause
    })
  const location = head.headers.location
  const next = location === undefined ? null : URL.parse(location, endpoint.origin + target)
  if (next === null) throw refuse('without a location')
  // The address is only for the provider, so it stays in the log.
  if (next.origin !== endpoint.origin)
    throw refuse(
      'to another host, port or scheme',
      new RedirectedAway(`${next.protocol}//${next.host}${next.pathname}`)
    )
  if (redirects >= UPSTREAM_REDIRECTS_MAX) throw refuse('too many times')
  const repeatable = sent.method === 'GET' || sent.method === 'HEAD'
  const keepsMethod = head.status === 307 || head.status === 308
  if (!repeatable && !keepsMethod && head.status !== 303) throw refuse('in a way that drops the request')
  if (sent.body instanceof Readable && head.status !== 303) throw refuse('a request that cannot be repeated')
  if (from.confinesRedirects && !isBelow(endpoint.pathname, next.pathname)) throw refuse('out of its own path')
  // The API may omit the node's own parameters from the redirect's address.
  for (const [name, value] of from.query) if (!next.searchParams.has(name)) next.searchParams.append(name, value)
  return next.pathname + next.search
}

function isBelow(base: string, path: string): boolean {
  const head = base.replace(/\/$/, '')
  return path === head || path.startsWith(`${head}/`)
}
