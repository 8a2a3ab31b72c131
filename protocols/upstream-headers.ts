import type { IncomingHttpHeaders } from 'node:http'
import { SoukError } from '../lib/base/errors.ts'
import type { Headers } from '../lib/interface/payload.ts'

/**
 * What may go up. An allow-list, because whatever is missing from a deny-list would reach a server that trusts its node:
 * credentials of the consumer, hop-by-hop headers (RFC 9110 §7.6.1) and framing never pass. Conditional and range
 * requests do not either: a 304 would tell for free what a 200 is paid for.
 */
const UP: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'apollo-require-preflight',
  'content-type',
  'idempotency-key',
  'last-event-id',
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
  'allow',
  'cache-control',
  'content-disposition',
  'content-language',
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
 * A consumer's headers as the flat list undici takes.
 * @throws SoukError `invalid_request` for a value that cannot be sent.
 */
export function headersUp(headers: Headers): string[] {
  const chosen = new Map<string, string>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    if (!UP.has(key)) continue
    if (!SENDABLE.test(value))
      throw new SoukError('invalid_request', `The header ${key} has a value that cannot be sent.`)
    const before = chosen.get(key)
    if (before === undefined) chosen.set(key, value)
    else if (LISTS.has(key)) chosen.set(key, `${before}, ${value}`)
  }
  // Identity, so that events and large answers are not held back in a compressor; what comes coded all the same is decoded.
  const flat = ['user-agent', 'souk', 'accept-encoding', 'identity']
  for (const [name, value] of chosen) flat.push(name, value)
  return flat
}

export function headersDown(headers: IncomingHttpHeaders): Headers {
  const chosen: Array<[string, string]> = []
  for (const name of DOWN) {
    const value: string | string[] | undefined = headers[name]
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) {
      // Other bytes could not be written again by the next HTTP server on the way.
      if (PRINTABLE.test(one) && !(name === 'link' && ABSOLUTE_LINK.test(one))) chosen.push([name, one])
    }
  }
  return chosen
}
