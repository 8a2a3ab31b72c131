import type { IncomingHttpHeaders } from 'node:http'
import { SoukError } from '../../lib/base/errors.ts'
import { isExtraHeader } from '../../lib/base/extra-header.ts'
import { EXTRA_HEADERS_MAX } from '../../lib/base/limits.ts'
import type { Headers } from '../../lib/interface/payload.ts'

/**
 * What may go up. An allow-list, because whatever is missing from a deny-list would reach a server that trusts its node:
 * credentials of the consumer, hop-by-hop headers (RFC 9110 §7.6.1) and framing never pass. Conditional requests do not
 * either: a 304 would tell for free what a 200 is paid for. A part of a file costs what a call costs.
 */
const UP: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'apollo-require-preflight',
  'content-type',
  'idempotency-key',
  'if-range',
  'last-event-id',
  'range',
  'soapaction',
  'traceparent'
])

/** Those which may be lists (RFC 9110 §5.3); of the others only the first counts. */
const LISTS: ReadonlySet<string> = new Set(['accept', 'accept-language'])

/**
 * What may come down: what describes the content, its age and the API's life. Not the framing and coding, which ended
 * here; no cookies or challenges, which are the provider's own session; no `location`, which names the provider's inner
 * address; no rate limits, which are the provider's account's and would contradict the ingress's own.
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
  'retry-after',
  'sunset'
] as const

const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/
const PRINTABLE = /^[\t\x20-\x7e]*$/
/** A link whose target has a scheme or an authority, and so would show the provider's inner address. */
const ABSOLUTE_LINK = /<\s*(?:[a-z][a-z0-9+.-]*:|\/\/|\\)/i

/**
 * Names that a provider lets through beyond the lists here, in lower case.
 * @throws SoukError `invalid_request`
 */
export function extraHeaders(names: readonly string[] = []): ReadonlySet<string> {
  if (names.length > EXTRA_HEADERS_MAX) throw new SoukError('invalid_request', 'Too many headers are let through.')
  const lower = names.map((name) => name.toLowerCase())
  const bad = lower.find((name) => !isExtraHeader(name))
  if (bad === undefined) return new Set(lower)
  throw new SoukError('invalid_request', `The header "${bad.slice(0, 64)}" cannot be let through.`)
}

/** What goes up beside the consumer's own headers. */
export interface HeadersUp {
  /** Of `extraHeaders`. */
  readonly extra: ReadonlySet<string>
  /** The node's credentials, flat. They replace what the consumer sent under the same name. */
  readonly credentials: readonly string[]
}

/**
 * A consumer's headers as the flat list undici takes.
 * @throws SoukError `invalid_request` for a value that cannot be sent.
 */
export function headersUp(headers: Headers, { extra, credentials }: HeadersUp): string[] {
  const chosen = new Map<string, string>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    if (!UP.has(key) && !extra.has(key)) continue
    if (!SENDABLE.test(value))
      throw new SoukError('invalid_request', `The header ${key} has a value that cannot be sent.`)
    const before = chosen.get(key)
    if (before === undefined) chosen.set(key, value)
    else if (LISTS.has(key)) chosen.set(key, `${before}, ${value}`)
  }
  chosen.set('user-agent', 'souk')
  // Identity, so that events and large answers are not held back in a compressor; what comes coded all the same is decoded.
  chosen.set('accept-encoding', 'identity')
  for (let at = 0; at < credentials.length; at += 2) chosen.set(credentials[at] ?? '', credentials[at + 1] ?? '')
  return [...chosen].flat()
}

/** @param hides - true for a value that shows a secret of the node's. */
export function headersDown(
  headers: IncomingHttpHeaders,
  extra: ReadonlySet<string>,
  hides: (value: string) => boolean
): Headers {
  const chosen: Array<[string, string]> = []
  for (const name of new Set([...DOWN, ...extra])) {
    const value: string | string[] | undefined = headers[name]
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) {
      // Other bytes could not be written again by the next HTTP server on the way.
      if (!PRINTABLE.test(one) || hides(one)) continue
      if (!(name === 'link' && ABSOLUTE_LINK.test(one))) chosen.push([name, one])
    }
  }
  return chosen
}
