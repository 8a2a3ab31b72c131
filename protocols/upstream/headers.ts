import type { IncomingHttpHeaders } from 'node:http'
import { SoukError } from '../../lib/base/errors.ts'
import { isExtraHeader } from '../../lib/base/extra-header.ts'
import { EXTRA_HEADERS_MAX } from '../../lib/base/limits/upstream.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import { ADDRESS_HEADERS } from '../address-headers.ts'
import { linksBelow } from './links.ts'

/** Many APIs require an id of each request in this header. The ingress uses it too, so a consumer's is not forwarded. */
export const REQUEST_ID_HEADER = 'x-request-id'

/**
 * Request headers that are forwarded to the API. An allow-list, because a gap in a deny-list would expose a server that trusts
 * its node. The consumer's credentials, hop-by-hop headers (RFC 9110 §7.6.1) and framing are never forwarded. A part of a file and
 * a 304 cost as much as a call, because they reveal what a 200 is paid for.
 */
const UP: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'apollo-require-preflight',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-exist',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-event-id',
  'prefer',
  'range',
  'soapaction',
  'traceparent',
  REQUEST_ID_HEADER
])

/** Headers that may be lists (RFC 9110 §5.3); of the others only the first value counts. */
const LISTS: ReadonlySet<string> = new Set(['accept', 'accept-language', 'prefer'])

/**
 * Response headers that are passed on: they describe the content, its age and the API's lifetime. Others are dropped: framing and
 * coding, which end here; cookies and challenges, which belong to the provider's session; rate limits, which are of the provider's
 * account and contradict the ingress's. `link` and addresses are passed on where they lead to the API, as paths below it.
 */
const DOWN = [
  'accept-ranges',
  'allow',
  'cache-control',
  'content-disposition',
  'content-language',
  'content-range',
  'content-type',
  'deprecation',
  'etag',
  'expires',
  'last-modified',
  'link',
  'preference-applied',
  'retry-after',
  'sunset',
  'vary',
  ...ADDRESS_HEADERS
]

const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/
const PRINTABLE = /^[\t\x20-\x7e]*$/

/**
 * The additional header names that a provider allows, in lower case.
 * @throws SoukError `invalid_request`
 */
export function extraHeaders(names: readonly string[] = []): ReadonlySet<string> {
  if (names.length > EXTRA_HEADERS_MAX) throw new SoukError('invalid_request', 'Too many headers are listed.')
  const lower = names.map((name) => name.toLowerCase())
  const bad = lower.find((name) => !isExtraHeader(name))
  if (bad === undefined) return new Set(lower)
  throw new SoukError('invalid_request', `The header "${bad.slice(0, 64)}" cannot be forwarded.`)
}

/** Additions to the consumer's headers. */
export interface HeadersUp {
  /** The result of `extraHeaders`. */
  readonly extra: ReadonlySet<string>
  /** The node's credentials, as a flat list. They replace the consumer's headers with the same names. */
  readonly credentials: readonly string[]
  /** `name=value` each; those of the credentials replace others of the same name. */
  readonly cookies?: readonly string[] | undefined
}

/**
 * The consumer's headers as a flat list for undici.
 * @throws SoukError `invalid_request` for an invalid value.
 */
export function headersUp(headers: Headers, { extra, credentials, cookies = [] }: HeadersUp): string[] {
  // A flat list, because allowed names are few.
  const chosen: string[] = []
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    if (!UP.has(key) && !extra.has(key)) continue
    if (!SENDABLE.test(value))
      throw new SoukError('invalid_request', `The header ${key} has a value that cannot be sent.`)
    const at = placeOf(key, chosen)
    if (at === chosen.length) chosen.push(key, value)
    else if (LISTS.has(key)) chosen[at + 1] = `${chosen[at + 1]}, ${value}`
  }
  set('user-agent', 'souk', chosen)
  // Identity, so that a compressor does not delay events and large responses. A coded response is decoded anyway.
  set('accept-encoding', 'identity', chosen)
  for (let at = 0; at < credentials.length; at += 2) set(credentials[at] ?? '', credentials[at + 1] ?? '', chosen)
  if (cookies.length > 0) set('cookie', withCookies(chosen[placeOf('cookie', chosen) + 1], cookies), chosen)
  return chosen
}

/** The place of a name in a flat list, or the end of the list. */
function placeOf(name: string, flat: readonly string[]): number {
  for (let at = 0; at < flat.length; at += 2) if (flat[at] === name) return at
  return flat.length
}

function set(name: string, value: string, flat: string[]): void {
  const at = placeOf(name, flat)
  flat[at] = name
  flat[at + 1] = value
}

function withCookies(own: string | undefined, given: readonly string[]): string {
  const nameOf = (cookie: string) => (cookie.split('=', 1)[0] ?? '').trim()
  const owned = own === undefined ? [] : own.split(';').map((cookie) => cookie.trim())
  const names = new Set(owned.map(nameOf))
  return [...owned, ...given.filter((cookie) => !names.has(nameOf(cookie)))].join('; ')
}

/**
 * The names of response headers that are passed on, in lower case.
 * @param extra the provider's own
 * @throws SoukError `invalid_request`
 */
export function namesDown(extra?: readonly string[]): readonly string[] {
  return [...new Set([...DOWN, ...extraHeaders(extra)])]
}

export interface HeadersDown {
  /** The result of `namesDown`. */
  readonly names: readonly string[]
  /** True for a value that shows a secret of the node. */
  readonly hides: (value: string) => boolean
  /** A reference as a path below the API; undefined if it leads elsewhere. */
  readonly belowApi: (reference: string) => string | undefined
}

export function headersDown(headers: IncomingHttpHeaders, { names, hides, belowApi }: HeadersDown): Headers {
  const chosen: Array<[string, string]> = []
  for (const name of names) {
    const value: string | string[] | undefined = headers[name]
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) {
      const passed = name === 'link' ? linksBelow(one, belowApi) : ADDRESS_HEADERS.has(name) ? belowApi(one) : one
      // The next HTTP server could not write other bytes again.
      if (passed === undefined || !PRINTABLE.test(passed) || hides(passed)) continue
      chosen.push([name, passed])
    }
  }
  return chosen
}
