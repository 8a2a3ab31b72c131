import { pipe } from 'it-pipe'
import { text, utf8 } from '../../lib/base/bytes.ts'
import { systemClock } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { isExtraHeader } from '../../lib/base/extra-header.ts'
import { checkJson } from '../../lib/base/json-text.ts'
import { INLINE_BODY_BYTES_MAX } from '../../lib/base/limits/link.ts'
import { SSE_COLLECT_MS_MAX, SSE_EVENTS_MAX } from '../../lib/base/limits/upstream.ts'
import { formatRequestId } from '../../lib/base/request-id.ts'
import {
  type Adapter,
  type AdapterReply,
  type AdapterRequest,
  type ApiDescription,
  UPSTREAM_METHODS,
  type UpstreamConfig,
  type UpstreamMethod
} from '../../lib/interface/adapter.ts'
import type { Headers, Payload } from '../../lib/interface/payload.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { exactly, isObject } from '../exact-json.ts'
import { checkJsonBody, headerOf, isJsonType, wholeBody } from '../json.ts'
import { REQUEST_ID_HEADER } from '../upstream/headers.ts'
import { wholeIfSmall } from '../upstream/request-body.ts'
import type { UpstreamResponse } from '../upstream/response.ts'
import { originOf, targetOf } from '../upstream/target.ts'
import { type Upstream, type UpstreamRequest, createUpstream } from '../upstream/upstream.ts'
import { type CollectBounds, collectEvents, isEventStream, withHeartbeat } from './event-stream.ts'
import { FollowedOpenapi } from './openapi/followed-openapi.ts'
import { explicitCall, isExplicit } from './explicit-call.ts'
import { type MappedCall, OpenapiCalls } from './openapi/openapi-call.ts'
import { textCall } from './openapi/text-call.ts'
import type { RestApi } from './openapi/rest-api.ts'
import { queryOf } from './query.ts'
import { SSE_FRAMES, singleEvents } from './single-events.ts'
import { readSnapshot } from './snapshot.ts'
import { undescribed } from './undescribed.ts'

/** Methods whose fields become the query (RFC 9110 §9.3: their content has no meaning). */
const BY_QUERY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE'])
const METHODS: readonly string[] = UPSTREAM_METHODS
/** Headers that a 304 responds to (RFC 9110 §15.4.5). */
const CONDITIONS: ReadonlySet<string> = new Set(['if-none-match', 'if-modified-since'])

interface Imported {
  /** Reads the current snapshot of the OpenAPI document, if it has an address. */
  readonly read?: (() => Promise<string>) | undefined
  /** The description of the API by its document. Default: made of the snapshot. */
  readonly description?: ApiDescription | undefined
}

/** Creates the adapter of a REST API. @throws SoukError `invalid_request` for an invalid registration */
export function restAdapter(config: UpstreamConfig, snapshot: string, imported: Imported = {}): Adapter {
  return new RestAdapter(config, snapshot, imported)
}

interface Sent extends UpstreamRequest {
  readonly needsRequestId?: true | undefined
  /** Base address, where it differs from the endpoint. */
  readonly server?: string
}

class RestAdapter implements Adapter {
  readonly protocol = 'REST'
  readonly #snapshot: string
  readonly #unchecked: readonly string[]
  readonly #config: UpstreamConfig
  readonly #method: UpstreamMethod
  readonly #upstream: Upstream
  /** Of operations that the document places elsewhere, by base address. */
  readonly #others = new Map<string, Upstream>()
  readonly #upstreamAt: (endpoint: string) => Upstream
  readonly #openapi: FollowedOpenapi
  #description: ApiDescription | undefined

  constructor(config: UpstreamConfig, written: string, { read, description }: Imported) {
    const snapshot = readSnapshot(written)
    const { method = 'POST', collect } = config
    if (!METHODS.includes(method)) throw refuse(`The method must be one of ${METHODS.join(', ')}.`)
    if (collect !== undefined) checkBounds(collect)
    this.#config = config
    this.#description = description
    this.#method = method
    this.#unchecked = snapshot?.unchecked ?? []
    this.#snapshot = written
    const calls = snapshot === undefined ? undefined : new OpenapiCalls(snapshot.api)
    const followed = { snapshot: written, clock: systemClock, ...(read === undefined ? {} : { read }) }
    this.#openapi = new FollowedOpenapi(followed, calls)
    const writtenHeaders = snapshot === undefined ? [] : headersOf(snapshot.api)
    this.#upstreamAt = (endpoint) =>
      createUpstream({ ...config, endpoint, writtenHeaders, shownAs: 'The API', confinesRedirects: true })
    this.#upstream = this.#upstreamAt(config.endpoint)
    if (config.healthPath !== undefined) targetOf(this.#upstream.endpoint, config.healthPath)
  }

  /** A document's description is made in the process that reads documents: it may take long, and much memory. */
  get description(): ApiDescription | Promise<ApiDescription> {
    const { requestHeaders = [] } = this.#config
    const known = this.#snapshot === '' ? undescribed(this.#config) : this.#description
    // Not kept, because it may be large and is read once.
    this.#description = undefined
    return known !== undefined
      ? passing(known, requestHeaders)
      : descriptionWorker.run('describeSnapshot', this.#snapshot).then((each) => passing(each, requestHeaders))
  }

  get warnings(): readonly string[] {
    return [...new Set([...this.#unchecked, ...this.#openapi.warnings])]
  }

  /** An `EventSource` can only GET: its query has the fields of the call. */
  takes(method: string, path: string, headers: Headers): boolean {
    return method === 'GET' && !path.startsWith('/') && wantsEvents(headers)
  }

  async call(request: AdapterRequest, signal: AbortSignal): Promise<AdapterReply> {
    const { method, path, headers, body } = request
    const isSource = this.#openapi.isKnown && this.takes(method, path, headers)
    const sent = isSource
      ? this.#sent(await this.#openapi.map(textCall(path), signal), accepting(headers), signal)
      : method === 'POST' && path === ''
        ? await this.#plain(body instanceof Uint8Array ? body : await wholeBody(request), headers, signal)
        : await forwarded(request, signal)
    const response = await this.#serving(sent.server).request(identified(sent, request))
    return this.#reply(response, sent, wantsEvents(headers), request.perEvent)
  }

  async probe(signal: AbortSignal): Promise<void> {
    const { healthPath: path } = this.#config
    if (path === undefined) return
    const response = await this.#upstream.request({ method: 'GET', path, headers: [['accept', '*/*']], signal })
    response.discard()
    if (response.status >= 200 && response.status < 300) return
    throw new SoukError('upstream_unreachable', `The API responds to the health check with ${response.status}.`, {
      source: 'upstream'
    })
  }

  follow(onUpdate: (snapshot: string) => void, looks: boolean): void {
    this.#openapi.onChange = onUpdate
    if (looks) void this.#openapi.refresh()
  }

  close(): Promise<void> {
    this.#openapi.onChange = undefined
    return Promise.all([this.#upstream, ...this.#others.values()].map((one) => one.close())).then(() => undefined)
  }

  /** The upstream of an operation. Its origin is the endpoint's, or confirmed by the provider. */
  #serving(server: string | undefined): Upstream {
    if (server === undefined) return this.#upstream
    const { origin } = new URL(server)
    const isConfirmed =
      origin === this.#upstream.endpoint.origin || this.#config.servers?.some((one) => originOf(one) === origin)
    if (isConfirmed !== true) throw refuse('The operation is served at an address that the provider did not confirm.')
    const known = this.#others.get(server)
    if (known !== undefined) return known
    const opened = this.#upstreamAt(server)
    this.#others.set(server, opened)
    return opened
  }

  /**
   * Maps one JSON document to a request. It is checked here, because the consumer pays for the upstream's response. The first
   * matching form applies.
   */
  #plain(bytes: Uint8Array, asked: Headers, signal: AbortSignal): Sent | Promise<Sent> {
    checkJsonBody(bytes, headerOf(asked, 'content-type'))
    const headers = accepting(asked.filter((header) => header[0] !== 'content-type' && !isAnything(header)))
    const mapped = this.#mapped(bytes, signal)
    if (mapped !== undefined) return mapped.then((call) => this.#sent(call, headers, signal))
    const method = this.#method
    if (BY_QUERY.has(method)) return { method, path: queryOf(exactly(text(bytes))), headers, signal }
    return { method, headers: [...headers, ['content-type', 'application/json']], body: bytes, signal }
  }

  #sent(mapped: MappedCall | undefined, headers: Headers, signal: AbortSignal): Sent {
    if (mapped === undefined) throw refuse('The operation is not known.')
    const { method, path, body, server, cookies, needsRequestId } = mapped
    const own = body === undefined ? mapped.headers : [...mapped.headers, ['content-type', body.type] as const]
    // Headers of the call itself override those of its HTTP request.
    const all = [...own, ...headers.filter(([name]) => !own.some(([other]) => other === name))]
    return {
      method,
      path,
      headers: all,
      signal,
      needsRequestId,
      ...(server === undefined ? {} : { server }),
      ...(cookies === undefined ? {} : { cookies }),
      ...(body === undefined ? {} : { body: body.bytes })
    }
  }

  /** Maps by the document, or by the call's own request; undefined if the body is sent unchanged. */
  #mapped(bytes: Uint8Array, signal: AbortSignal): Promise<MappedCall | undefined> | undefined {
    const openapi = this.#openapi
    const { explicit = false } = this.#config
    if (!openapi.isKnown && !explicit) return undefined
    const call = exactly(text(bytes))
    if (isObject(call) && openapi.isKnown && Object.hasOwn(call, 'operation')) return openapi.map(call, signal)
    if (isObject(call) && explicit && isExplicit(call)) return Promise.resolve(explicitCall(call))
    if (!openapi.isKnown) return undefined
    if (!isObject(call)) throw refuse('The body must be a JSON object: {"operation": "…", …fields}.')
    return openapi.map(call, signal)
  }

  /**
   * Not async, because a small body usually arrives with its head.
   * @throws SoukError
   */
  #reply(
    response: UpstreamResponse,
    { method, headers: asked }: Sent,
    wantsEvents: boolean,
    perEvent = false
  ): AdapterReply | Promise<AdapterReply> {
    const { status, headers, upstreamMs } = response
    // A 304 tells a consumer that its copy is current, which is what it asked for.
    const isCurrent = status === 304 && asked.some(([name]) => CONDITIONS.has(name))
    const success = isCurrent || (status >= 200 && status < 300)
    const isEvents = success && method !== 'HEAD' && isEventStream(headerOf(headers, 'content-type'))
    const { collect } = this.#config
    if (isEvents && collect !== undefined && !wantsEvents) return collectedReply(response, collect)
    if (isEvents && perEvent) {
      const body = pipe(response.body, singleEvents, withHeartbeat)
      return { status, headers, body, success, upstreamMs, events: SSE_FRAMES }
    }
    if (isEvents) return { status, headers, body: withHeartbeat(response.body), success, upstreamMs }
    const reply = (body: Payload): AdapterReply => {
      return { status, headers: withLength(headers, response, method, body), body, success, upstreamMs }
    }
    const body = bodyOf(response, method)
    return body instanceof Promise ? body.then(reply) : reply(body)
  }
}

/** The first events of a stream, as one JSON document. */
async function collectedReply(response: UpstreamResponse, bounds: CollectBounds): Promise<AdapterReply> {
  const { status, headers, upstreamMs } = response
  const collected = await collectEvents(response.body, bounds)
  const own = headers.filter(([name]) => name !== 'content-type')
  const body = utf8(JSON.stringify(collected))
  return { status, headers: [...own, ['content-type', 'application/json']], body, success: true, upstreamMs }
}

/** A call that is sent again has the same id, so the API can tell it from another one. */
function identified(sent: Sent, { requestId }: AdapterRequest): Sent {
  if (sent.needsRequestId !== true || requestId === undefined) return sent
  return { ...sent, headers: [...sent.headers, [REQUEST_ID_HEADER, formatRequestId(requestId)]] }
}

/** Adds the length of a body that is not held whole, and of the one that a HEAD asks about. */
function withLength(headers: Headers, { contentLength }: UpstreamResponse, method: string, body: Payload): Headers {
  const isKnown = contentLength !== undefined && (method === 'HEAD' || !(body instanceof Uint8Array))
  return isKnown ? [...headers, ['content-length', String(contentLength)]] : headers
}

function wantsEvents(headers: Headers): boolean {
  return (headerOf(headers, 'accept') ?? '').split(',').some((type) => isEventStream(type))
}

/** Adds the headers that the provider allows, so that consumer nodes forward them. */
function passing(description: ApiDescription, names: readonly string[]): ApiDescription {
  const requestHeaders = [...new Set(names.map((name) => name.toLowerCase()))]
  return names.length === 0 ? description : { ...description, requestHeaders }
}

function checkBounds({ maxEvents, maxMs }: CollectBounds): void {
  const isBound = (value: number, most: number) => Number.isInteger(value) && value >= 1 && value <= most
  if (isBound(maxEvents, SSE_EVENTS_MAX) && isBound(maxMs, SSE_COLLECT_MS_MAX)) return
  throw refuse(
    `The limits of collected events have to be 1 to ${SSE_EVENTS_MAX} events and 1 to ${SSE_COLLECT_MS_MAX} ms.`
  )
}

function headersOf({ operations }: RestApi): string[] {
  const all = operations.flatMap(({ parameters }) => parameters.filter((one) => one.in === 'header'))
  return all.map(({ name }) => name.toLowerCase()).filter(isExtraHeader)
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}

/** Forwards another method or a sub-path unchanged. Such calls reach an adapter only if the listing allows them. */
async function forwarded(request: AdapterRequest, signal: AbortSignal): Promise<Sent> {
  const { method, path, headers, body: given } = request
  const isJson = isJsonType(headerOf(headers, 'content-type'))
  if (isJson && given instanceof Uint8Array && given.length > 0) checkJson(given)
  const body = await wholeIfSmall(request)
  const isBodiless = (method === 'GET' || method === 'HEAD') && body instanceof Uint8Array && body.length === 0
  if (!isBodiless) return { method, path, headers: accepting(headers), body, signal }
  return { method, path, headers: accepting(headers.filter(([name]) => name !== 'content-type')), signal }
}

/** JSON, or what an operation without JSON has: strict servers respond to `application/json` alone with 406. */
const ACCEPTED = 'application/json, */*;q=0.5'

function accepting(headers: Headers): Headers {
  return headerOf(headers, 'accept') === undefined ? [...headers, ['accept', ACCEPTED]] : headers
}

/** HTTP clients write a wildcard if their caller asks for nothing, and some APIs respond to it with XML. */
function isAnything([name, value]: Headers[number]): boolean {
  return name === 'accept' && value.trim() === '*/*'
}

/**
 * Buffers small, complete bodies, so that they are sent inline and can be repeated. Streams events, large bodies and bodies
 * without a length. A JSON document without a length is buffered, because a part of it is useless.
 */
function bodyOf(response: UpstreamResponse, method: string): Payload | Promise<Payload> {
  const { contentLength } = response
  const isSmall = contentLength !== undefined && contentLength <= INLINE_BODY_BYTES_MAX
  const isJson = contentLength === undefined && isJsonType(headerOf(response.headers, 'content-type'))
  const hasNone = method === 'HEAD' || response.status === 204 || response.status === 304
  return isSmall || isJson || hasNone ? response.payload(INLINE_BODY_BYTES_MAX, isJson) : response.body
}
