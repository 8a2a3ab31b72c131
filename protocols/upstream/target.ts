import { SoukError } from '../../lib/base/errors.ts'
import { PATH_BYTES_MAX } from '../../lib/base/limits.ts'

const VISIBLE = /^[\x21-\x7e]*$/
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\x00-\x1f\x7f]/

const refuse = (detail: string): SoukError => new SoukError('invalid_request', detail)

/**
 * Reads the address an upstream is registered with. It alone decides scheme, host, port and the head of every path.
 *
 * @throws SoukError `invalid_request` for anything but an `http:` or `https:` URL without credentials and fragment.
 */
export function parseEndpoint(endpoint: string): URL {
  const url = URL.parse(endpoint)
  if (url === null) throw refuse('The endpoint is not a URL.')
  if (url.protocol === 'ws:' || url.protocol === 'wss:') {
    throw refuse(
      'WebSocket APIs cannot be sold here: give the http: or https: address of an API that answers requests.'
    )
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refuse('The endpoint must be an http: or https: URL.')
  if (url.username !== '' || url.password !== '') throw refuse('The endpoint must not carry a user name or password.')
  if (url.hash !== '') throw refuse('The endpoint must not carry a fragment (#).')
  return url
}

/** `host:port`, which is all that errors tell of an endpoint. */
export function whereOf(endpoint: URL): string {
  const port = endpoint.port === '' ? (endpoint.protocol === 'https:' ? '443' : '80') : endpoint.port
  return `${endpoint.hostname}:${port}`
}

/**
 * The request target for a call: the endpoint's own path and query, with the consumer's appended.
 *
 * Refused is whatever a server could take for a way out of the endpoint's path, however often it decodes: dot segments,
 * also before `;` (path parameters), empty segments, backslashes, control characters. What is not visible ASCII has to
 * come percent-encoded (RFC 3986 §2.1).
 *
 * @throws SoukError `invalid_request`
 */
export function targetOf(endpoint: URL, path: string): string {
  if (path === '') return endpoint.pathname + endpoint.search
  if (path.length > PATH_BYTES_MAX) throw refuse('The path is too long.')
  if (path[0] !== '/' && path[0] !== '?') throw refuse('A path starts with "/" or "?".')
  if (!VISIBLE.test(path) || path.includes('#') || path.includes('\\')) {
    throw refuse('The path holds a character that must be percent-encoded.')
  }
  const mark = path.indexOf('?')
  const below = mark === -1 ? path : path.slice(0, mark)
  const query = mark === -1 ? '' : path.slice(mark + 1)
  checkSegments(below)
  checkQuery(endpoint, query)

  const head = below === '' ? endpoint.pathname : endpoint.pathname.replace(/\/$/, '') + below
  const own = endpoint.search.slice(1)
  const joined = own !== '' && query !== '' ? `${own}&${query}` : own + query
  return joined === '' ? head : `${head}?${joined}`
}

function checkSegments(path: string): void {
  let text = path
  for (;;) {
    if (CONTROL.test(text) || text.includes('\\')) throw refuse('The path holds a character that is not allowed.')
    // An empty last segment is a trailing slash, which is fine.
    const segments = text.split('/').slice(1)
    for (const [index, segment] of segments.entries()) {
      const name = segment.split(';', 1)[0]
      const empty = segment === '' && index < segments.length - 1
      if (empty || name === '.' || name === '..') throw refuse('The path must not hold empty or dot segments.')
    }
    const decoded = decode(text, text === path)
    if (decoded === text) return
    text = decoded
  }
}

/** Once more decoded. Only the first time is a broken escape an error: later a plain `%` is just data. */
function decode(text: string, first: boolean): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    if (first) throw new SoukError('invalid_request', 'The path holds a broken percent-encoding.', { cause })
    return text
  }
}

/** A parameter in the endpoint's own query (an API key, a version) is the provider's: a consumer cannot repeat it. */
function checkQuery(endpoint: URL, query: string): void {
  if (endpoint.search === '' || query === '') return
  for (const name of new URLSearchParams(query).keys()) {
    if (endpoint.searchParams.has(name)) throw refuse('The query names a parameter that the provider has set.')
  }
}
