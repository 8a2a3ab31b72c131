import type { IncomingMessage } from 'node:http'
import { isProviderId, limits, parseApiRef, parseUsdc, SoukError } from '../../../lib/index.ts'
import type { ApiRef } from '../../../lib/interface/index.ts'
import type { CallDraft } from '../../call-draft.ts'

/** Request headers that are always forwarded to the provider. The key and all other headers stay here. */
const TRAVELLING = [
  'content-type',
  'accept',
  'accept-language',
  'range',
  'if-range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-none-exist',
  'last-event-id',
  'prefer'
] as const
const IS_TRAVELLING: ReadonlySet<string> = new Set(TRAVELLING)
/** RFC 3986: a URI is ASCII without spaces; RFC 9112 §3.2: a request target has no fragment. */
const NOT_A_TARGET = /[^!-~]|#/
/** W3C Trace Context §3.2: ignore an invalid one. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/
/** RFC 9651 §3.3.3 */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/
const VISIBLE_ASCII = /^[ -~]+$/
const JSON_TYPE = /^application\/json[\t ]*(?:;.*)?$/i
const FORM_TYPE = /^multipart\/form-data[\t ]*;/i
const CHARSET = /;[\t ]*charset[\t ]*=[\t ]*"?([^";\t ]*)/i

/**
 * The API that a path names. The scope `demo` means that the name alone selects the API. Any other scope is a provider id: aliases and
 * domains were resolved before.
 * @throws SoukError `invalid_request`, `api_not_found` (unknown scope)
 */
export function readRef(scope: string, name: string): ApiRef {
  const ref = parseApiRef(name)
  if (scope === 'demo') return ref
  if (!isProviderId(scope)) {
    const shown = scope.slice(0, 80)
    throw new SoukError(
      'api_not_found',
      `Unknown scope "${shown}". Use "demo", the id of a provider, or a domain that names one.`,
      {
        members: { reason: 'unknown_scope' }
      }
    )
  }
  if (ref.provider !== undefined && ref.provider !== scope) {
    throw new SoukError('invalid_request', 'The path names two different providers.')
  }
  return { name: ref.name, provider: scope }
}

/**
 * Reads the call from the request line and the headers. The body is read later.
 * @throws SoukError `invalid_request`, `request_too_large`, `unsupported_media_type`
 */
export function readCall(req: IncomingMessage, api: ApiRef): CallDraft {
  const { method = 'POST', url = '', headers } = req
  if (NOT_A_TARGET.test(url))
    throw new SoukError('invalid_request', 'The URL has characters that must be percent-encoded.')
  const call: CallDraft = { api, body: undefined, method, path: subPath(url) }
  if (isPlain(call) && !isForm(headers['content-type'])) checkJsonType(headers['content-type'])
  const travelling: [string, string][] = []
  for (const header of TRAVELLING) {
    const value = single(headers[header])
    if (value !== undefined) travelling.push([header, value])
  }
  call.headers = travelling
  // The library picks the headers that the listing asks for and may receive.
  const offered: [string, string][] = []
  for (const header in headers) {
    const value = headers[header]
    if (typeof value === 'string' && !IS_TRAVELLING.has(header)) offered.push([header, value])
  }
  call.offeredHeaders = offered
  readOptions(call, headers)
  return call
}

/** A plain call of the service specification (section 4): a POST without a sub-path. */
export function isPlain(call: CallDraft): boolean {
  return call.method === 'POST' && call.path?.startsWith('/') !== true
}

export function isJsonType(contentType: string | undefined): boolean {
  return contentType === 'application/json' || (contentType !== undefined && JSON_TYPE.test(contentType))
}

/** A GraphQL request with file uploads. Providers whose API takes no files refuse it. */
function isForm(contentType: string | undefined): boolean {
  return contentType !== undefined && FORM_TYPE.test(contentType)
}

function checkJsonType(contentType: string | undefined): void {
  if (!isJsonType(contentType)) {
    throw new SoukError(
      'unsupported_media_type',
      'A call must be JSON. Send the header Content-Type: application/json.'
    )
  }
  const charset = CHARSET.exec(contentType ?? '')?.[1]?.toLowerCase()
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new SoukError('unsupported_media_type', 'JSON must be encoded as UTF-8 (RFC 8259).')
  }
}

/** The part of the request target after the API’s name, unchanged. */
function subPath(target: string): string {
  // Clients send the absolute form to proxies: `http://host/path` (RFC 9112 §3.2.2).
  const start = target.startsWith('/') ? 0 : target.indexOf('/', target.indexOf('//') + 2)
  let at = start
  // The route matched, so it starts with /api/<scope>/api/<name>.
  for (let slash = 0; slash < 3; slash++) at = target.indexOf('/', at + 1)
  at++
  while (at < target.length && target[at] !== '/' && target[at] !== '?') at++
  if (target.length - at > limits.PATH_BYTES_MAX) {
    throw new SoukError(
      'request_too_large',
      `Sub-path and query together may have at most ${limits.PATH_BYTES_MAX} bytes.`
    )
  }
  return target.slice(at)
}

/** @throws SoukError `invalid_request` */
export function readOptions(call: CallDraft, headers: IncomingMessage['headers']): void {
  const traceparent = single(headers['traceparent'])
  if (traceparent !== undefined && TRACEPARENT.test(traceparent)) call.traceparent = traceparent
  const idempotencyKey = single(headers['idempotency-key'])
  if (idempotencyKey !== undefined) call.idempotencyKey = readIdempotencyKey(idempotencyKey)
  const timeout = single(headers['souk-timeout-ms'])
  if (timeout !== undefined) call.timeoutMs = readTimeout(timeout)
  const maxPrice = single(headers['souk-max-price'])
  if (maxPrice !== undefined) {
    parseUsdc(maxPrice)
    call.maxPrice = maxPrice
  }
}

/** Node joins repeated headers into one string, except `set-cookie`. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

/**
 * Accepts a quoted string (RFC 9651), as the IETF draft requires, or a bare one, as most clients send it. Both name the same key.
 * @throws SoukError `invalid_request`
 */
function readIdempotencyKey(header: string): string {
  const isQuoted = header.startsWith('"')
  const key = isQuoted ? QUOTED.exec(header)?.[1]?.replaceAll(/\\(.)/g, '$1') : header
  if (key === undefined || key.length > limits.IDEMPOTENCY_KEY_CHARS_MAX || !VISIBLE_ASCII.test(key)) {
    throw new SoukError(
      'invalid_request',
      `An Idempotency-Key must have 1 to ${limits.IDEMPOTENCY_KEY_CHARS_MAX} ASCII characters, bare or as a quoted string.`
    )
  }
  return key
}

function readTimeout(text: string): number {
  const timeoutMs = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (timeoutMs < limits.DEADLINE_MS_MIN || timeoutMs > limits.UPSTREAM_TIMEOUT_MS_MAX) {
    const range = `${limits.DEADLINE_MS_MIN} to ${limits.UPSTREAM_TIMEOUT_MS_MAX}`
    throw new SoukError('invalid_request', `Souk-Timeout-Ms must be a whole number of milliseconds, ${range}.`)
  }
  return timeoutMs
}
