import type { Kinds } from './check-options.ts'
import { atomsOf } from './price.ts'
import { SoukError } from './souk-error.ts'

export interface CallOptions {
  /** Ends the call. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * Time limit of the whole call with its retries, in milliseconds; of a stream until it opens. The ingress, the provider and the API get it
   * too. At most 120,000. Default: that of the ingress, 30 seconds.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Calls with the same key are one call: a repeat within 24 hours gets the stored response and is not charged. Such a call continues when
   * it is aborted. 1 to 255 ASCII characters.
   */
  readonly idempotencyKey?: string | undefined
  /** Maximum price in USDC, such as `'0.01'`. The key's own limit still applies. Default: the client's. */
  readonly maxPrice?: string | undefined
  /** HTTP method, for an API that forwards methods. Default POST. */
  readonly method?: string | undefined
  /** Path and query after the API's name, for an API that forwards paths: `'/cities/oslo?units=metric'`. */
  readonly path?: string | undefined
  /** Further headers, such as `Accept`. The ingress forwards those that the API's listing allows. */
  readonly headers?: HeadersInit | undefined
  /** How to read the body of the response. Default: JSON, text or bytes, by its content type. `'stream'` does not wait for the body. */
  readonly as?: 'json' | 'text' | 'bytes' | 'stream' | undefined
}

export const CALL_KINDS: Kinds<CallOptions> = {
  signal: ['object'],
  timeoutMs: ['number'],
  idempotencyKey: ['string'],
  maxPrice: ['string'],
  method: ['string'],
  path: ['string'],
  headers: ['object'],
  as: ['string']
}

/** What `fetch` gets for one call, without the members of one attempt. */
export interface CallRequest {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: BodyInit | undefined
  /** False for a stream, which can be read once. */
  readonly mayRepeat: boolean
}

export interface CallRequestInit {
  /** Address of the ingress, without a slash at the end. */
  readonly base: string
  readonly key: string | undefined
  readonly api: string
  /** `''`: the body names no operation. */
  readonly operation: string
  readonly input: unknown
  readonly options: CallOptions
  /** Default for the header `Accept`. */
  readonly accept: string | undefined
}

/** @throws SoukError `invalid_request` */
export function requestOf({ base, key, api, operation, input, options, accept }: CallRequestInit): CallRequest {
  const { path = '', as } = options
  if (as !== undefined && !READINGS.has(as)) {
    throw new SoukError('invalid_request', `"as" must be one of ${[...READINGS].join(', ')}.`)
  }
  const method = methodOf(options.method)
  const headers = headersOf(key, options)
  if (accept !== undefined && !headers.has('Accept')) headers.set('Accept', accept)
  const bodiless = method === 'GET' || method === 'HEAD'
  if (bodiless && (input !== undefined || operation !== '')) {
    throw new SoukError('invalid_request', `A ${method} has no body. Put its fields into the query of "path".`)
  }
  const { body, type } = bodiless ? {} : bodyOf(operation, input)
  if (type !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', type)
  return { url: urlOf(base, api, path), method, headers, body, mayRepeat: !(body instanceof ReadableStream) }
}

/** RFC 9110 §9.1: methods are case-sensitive, and `fetch` corrects only some of them. */
function methodOf(given = 'POST'): string {
  const method = given.toUpperCase()
  if (METHODS.has(method)) return method
  throw new SoukError('invalid_request', `The method must be one of ${[...METHODS].join(', ')}.`)
}

/** Checked before the call, because a call is paid before its response is read. */
const READINGS: ReadonlySet<string> = new Set(['json', 'text', 'bytes', 'stream'])

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

function headersOf(key: string | undefined, { headers: given, idempotencyKey, maxPrice }: CallOptions): Headers {
  if (maxPrice !== undefined) atomsOf(maxPrice)
  try {
    const headers = new Headers(given)
    if (key !== undefined) headers.set('X-Consumer-Key', key)
    // A quoted string, as the IETF draft requires.
    if (idempotencyKey !== undefined) headers.set('Idempotency-Key', quoted(idempotencyKey))
    if (maxPrice !== undefined) headers.set('Souk-Max-Price', maxPrice)
    return headers
  } catch (error) {
    if (error instanceof SoukError) throw error
    // Its text has the value, which may be the key.
    throw new SoukError('invalid_request', 'The key or a header has characters that no header can carry.')
  }
}

/** Members that `fetch` needs to send the body. Undefined members would override those of a `Request`. */
export function bodyInit({ body }: CallRequest): RequestInit {
  if (body === undefined) return {}
  return body instanceof ReadableStream ? ({ body, duplex: 'half' } as RequestInit) : { body }
}

/** Types of bodies that `fetch` takes and that are sent unchanged. */
function isRaw(input: unknown): input is BodyInit {
  return (
    typeof input === 'string' ||
    input instanceof Blob ||
    input instanceof ArrayBuffer ||
    ArrayBuffer.isView(input) ||
    input instanceof FormData ||
    input instanceof URLSearchParams ||
    input instanceof ReadableStream
  )
}

/** A Map, a Set or a generator: JSON would be an empty object, and the call would be paid. */
function isUnlisted(input: unknown): boolean {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return false
  return Symbol.iterator in input || Symbol.asyncIterator in input
}

function bodyOf(operation: string, input: unknown): { body: BodyInit; type?: string } {
  if (isRaw(input)) {
    if (operation !== '')
      throw new SoukError('invalid_request', 'A body that is no object names no operation: pass "" instead.')
    if (input instanceof ReadableStream && !sendsStreams())
      throw new SoukError('invalid_request', `This browser sends no streams. ${INSTEAD_OF_STREAM}`)
    // `fetch` sets the type of the others, with the boundary of a form.
    const isTyped =
      input instanceof FormData || input instanceof URLSearchParams || (input instanceof Blob && input.type)
    return isTyped ? { body: input } : { body: input, type: 'application/octet-stream' }
  }
  if (isUnlisted(input))
    throw new SoukError('invalid_request', 'The input is not JSON: convert it to an object or an array.')
  try {
    const body = JSON.stringify(operation === '' ? (input ?? {}) : { ...(input as object | undefined), operation })
    return { body, type: 'application/json' }
  } catch (cause) {
    throw new SoukError('invalid_request', 'The input is not JSON.', { cause })
  }
}

export const INSTEAD_OF_STREAM = 'Pass a Blob: await new Response(stream).blob().'

/** Other browsers send the text "[object ReadableStream]", and the call would be paid. */
function sendsStreams(): boolean {
  const init = { method: 'POST', body: new ReadableStream(), duplex: 'half' }
  return !new Request('https://ingress.invalid', init).headers.has('Content-Type')
}

/** The scope is the provider that the name gives, or `demo` for a bare name. */
function urlOf(base: string, api: string, path: string): string {
  if (typeof api !== 'string') throw new SoukError('invalid_request', NAMELESS)
  const at = api.lastIndexOf('@')
  const [name, scope] = at < 0 ? [api, 'demo'] : [api.slice(0, at), api.slice(at + 1)]
  const root = `${base}/api/${segment(scope)}/api/${segment(name)}`
  if (path === '') return root
  // A URL loses its dot segments when it is sent, and the key would go to another address of the ingress.
  const isBelow =
    /^[/?]/.test(path) &&
    new URL(root + path).pathname.startsWith(`${new URL(root).pathname}${path[0] === '/' ? '/' : ''}`)
  if (isBelow && !path.includes('#')) return root + path
  throw new SoukError('invalid_request', '"path" must start with / or ?, without dot segments and fragment.')
}

const NAMELESS = 'Name the API as name or name@provider.'

function segment(text: string): string {
  if (text !== '' && text !== '.' && text !== '..') return encodeURIComponent(text)
  throw new SoukError('invalid_request', NAMELESS)
}

function quoted(key: string): string {
  if (/^[ -~]{1,255}$/.test(key)) return `"${key.replaceAll(/[\\"]/g, '\\$&')}"`
  throw new SoukError('invalid_request', 'An idempotency key must have 1 to 255 ASCII characters.')
}
