import type { IncomingMessage, ServerResponse } from 'node:http'
import { SetupError } from '../setup-error.ts'
import { CALL_METHODS } from './call-routes.ts'

/** Which headers a request may have is for the API to say, and its clients send many of their own. Browsers want this one by its name. */
const REQUEST_HEADERS = '*, authorization'
/** How long a browser keeps the answer to its question. */
const ANSWER_SECONDS = '3600'

const PREFLIGHT = [
  'access-control-allow-methods',
  CALL_METHODS.join(', '),
  'access-control-allow-headers',
  REQUEST_HEADERS,
  'access-control-max-age',
  ANSWER_SECONDS,
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
    const exposed = ['access-control-expose-headers', '*']
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
