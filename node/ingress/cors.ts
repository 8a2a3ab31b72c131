import type { IncomingMessage, ServerResponse } from 'node:http'
import { SetupError } from '../setup-error.ts'
import { CALL_METHODS } from './call-routes.ts'

const REQUEST_HEADERS =
  'content-type, accept, accept-language, range, if-range, if-match, if-none-match, if-modified-since, if-unmodified-since, if-none-exist, last-event-id, prefer, x-consumer-key, idempotency-key, traceparent, souk-timeout-ms, souk-max-price, ' +
  'authorization, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, ' +
  // Common x402 clients send the last one, and a browser asks about it in its preflight.
  'payment-signature, x-graphql-event-stream-token, access-control-expose-headers'
const REPLY_HEADERS =
  'x-request-id, server-timing, etag, location, preference-applied, retry-after, ratelimit, ratelimit-policy, deprecation, sunset, link, idempotency-replayed, souk-charged, souk-price, souk-price-per-event, souk-owner, souk-receipt, souk-error-source, ' +
  'payment-required, payment-response, payment-receipt, www-authenticate'

const PREFLIGHT = [
  'access-control-allow-methods',
  CALL_METHODS.join(', '),
  'access-control-allow-headers',
  REQUEST_HEADERS,
  // Safari waits for the body of a 204 without it.
  'content-length',
  '0'
]

/**
 * Which web pages may call (the CORS protocol of the Fetch standard). Every response needs these headers, refusals too: without them a page
 * gets a network error and cannot read the problem. Credentials are never allowed.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>

  /**
   * @param origins - such as `https://app.example`; `*` for all
   * @throws SetupError `config_invalid`
   */
  constructor(origins: readonly string[]) {
    for (const origin of origins) {
      if (origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)) continue
      throw new SetupError(
        'config_invalid',
        `"${origin}" is not an origin. Write it like https://app.example, or use *.`
      )
    }
    this.#origins = new Set(origins)
  }

  allows(origin: string): boolean {
    return this.#origins.has('*') || this.#origins.has(origin)
  }

  /** Headers of every response: names and values in turn. */
  headersOf({ headers: { origin } }: Pick<IncomingMessage, 'headers'>): readonly string[] {
    if (this.#origins.size === 0) return []
    const exposed = ['access-control-expose-headers', REPLY_HEADERS]
    if (this.#origins.has('*')) return ['access-control-allow-origin', '*', ...exposed]
    if (origin === undefined || !this.allows(origin)) return ['vary', 'Origin', ...exposed]
    return ['vary', 'Origin', 'access-control-allow-origin', origin, ...exposed]
  }

  /** Responds to a browser's question whether a page may send a request. Returns false for every other request. */
  respond(req: IncomingMessage, res: ServerResponse): boolean {
    const { origin, 'access-control-request-method': asked } = req.headers
    if (this.#origins.size === 0 || req.method !== 'OPTIONS' || origin === undefined || asked === undefined)
      return false
    res.writeHead(204, [...this.headersOf(req), ...PREFLIGHT]).end()
    return true
  }
}
