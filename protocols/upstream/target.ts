import { SoukError } from '../../lib/base/errors.ts'
import { PATH_BYTES_MAX } from '../../lib/base/limits/call.ts'
import { PATH_DECODINGS_MAX } from '../../lib/base/limits/upstream.ts'

const VISIBLE = /^[\x21-\x7e]*$/
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\x00-\x1f\x7f]/

const refuse = (detail: string): SoukError => new SoukError('invalid_request', detail)

/**
 * Parses an upstream's registered address. It alone determines scheme, host, port and the base path.
 *
 * @throws SoukError `invalid_request` unless it is an `http:` or `https:` URL without credentials and fragment.
 */
export function parseEndpoint(endpoint: string): URL {
  const url = URL.parse(endpoint)
  if (url === null) throw refuse('The endpoint is not a URL.')
  if (url.protocol === 'ws:' || url.protocol === 'wss:') {
    throw refuse(
      'WebSocket APIs are not supported. Use the http: or https: address of an API that responds to requests.'
    )
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refuse('The endpoint must be an http: or https: URL.')
  if (url.username !== '' || url.password !== '') {
    throw refuse('The endpoint must not contain a user name or password. Give them as `basic` in --auth-file.')
  }
  if (url.hash !== '') throw refuse('The endpoint must not contain a fragment (#).')
  return url
}

/** An origin as a provider writes it. @throws SoukError `invalid_request` */
export function originOf(text: string): string {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin
  throw refuse(
    `"${text.slice(0, 200)}" is not an origin. Give only scheme, host and port, like https://files.example.org.`
  )
}

/** `host:port`, the only part of an endpoint that errors show. */
export function whereOf(endpoint: URL): string {
  const port = endpoint.port === '' ? (endpoint.protocol === 'https:' ? '443' : '80') : endpoint.port
  return `${endpoint.hostname}:${port}`
}

/**
 * The request target of a call: the endpoint's own path and query, followed by the consumer's.
 *
 * Rejects anything that a server could take as a way out of the endpoint's path, however often it decodes: dot segments (also
 * before `;`, path parameters), empty segments that are not encoded, backslashes and control characters. Characters other than visible ASCII must be
 * percent-encoded (RFC 3986 §2.1).
 *
 * @throws SoukError `invalid_request`
 */
export function targetOf(endpoint: URL, path: string): string {
  if (path === '') return endpoint.pathname + endpoint.search
  if (path.length > PATH_BYTES_MAX) throw refuse(`Path and query have more than ${PATH_BYTES_MAX} bytes.`)
  if (path[0] !== '/' && path[0] !== '?') throw refuse('A path must start with "/" or "?".')
  if (!VISIBLE.test(path) || path.includes('#') || path.includes('\\')) {
    throw refuse('The path contains a character that must be percent-encoded.')
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
  for (let decodings = 0; decodings <= PATH_DECODINGS_MAX; decodings++) {
    if (CONTROL.test(text) || text.includes('\\')) throw refuse('The path contains a character that is not allowed.')
    // An empty last segment is a trailing slash, which is allowed.
    const segments = text.split('/').slice(1)
    for (const [index, segment] of segments.entries()) {
      const name = segment.split(';', 1)[0]
      // Encoded slashes keep a URL in its segment. A server that decodes them goes no level up, but takes two at the start for a host.
      const empty = segment === '' && index < segments.length - 1 && (text === path || index === 0)
      if (empty || name === '.' || name === '..') throw refuse('The path must not contain empty or dot segments.')
    }
    const decoded = decode(text, text === path)
    if (decoded === text) return
    text = decoded
  }
  throw refuse(`The path is percent-encoded more than ${PATH_DECODINGS_MAX} times over.`)
}

/** Decodes once more. A broken escape is an error only the first time; later a plain `%` is data. */
function decode(text: string, first: boolean): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    if (first) throw new SoukError('invalid_request', 'The path contains a broken percent-encoding.', { cause })
    return text
  }
}

/**
 * A parameter in the endpoint's own query, such as an API key or a version, belongs to the provider. A consumer cannot repeat it.
 */
function checkQuery(endpoint: URL, query: string): void {
  if (endpoint.search === '' || query === '') return
  for (const name of new URLSearchParams(query).keys()) {
    if (endpoint.searchParams.has(name))
      throw refuse('The query contains a parameter that the provider has set. Remove it.')
  }
}
