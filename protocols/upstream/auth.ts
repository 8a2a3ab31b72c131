import { validateHeaderName, validateHeaderValue } from 'node:http'
import { SoukError } from '../../lib/base/errors.ts'
import { SECRET_CHARS_MIN } from '../../lib/base/limits/descriptions.ts'
import type { UpstreamAuth } from '../../lib/interface/adapter.ts'

/** Framing and hop-by-hop headers belong to the HTTP client (RFC 9110 §7.6.1). */
const NOT_STATIC =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|content-encoding|accept-encoding)$/i

/** The node's credentials for an API, in the form of a request. */
export interface Credentials {
  /** A flat list, as for undici; names are lower-case. */
  readonly headers: readonly string[]
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  /** Texts that a response may repeat and that consumers must not see. */
  readonly secrets: readonly string[]
}

/**
 * The static part of the credentials. Tokens come from `upstream-token.ts`.
 * @throws SoukError `invalid_request` with the problem, without any secret
 */
export function credentialsOf(auth: UpstreamAuth | undefined, endpoint: URL): Credentials {
  if (auth === undefined) return { headers: [], query: [], secrets: [] }
  checkAuth(auth, endpoint)
  const headers = new Map(Object.entries(auth.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  const authorization = authorizationOf(auth)
  if (authorization !== undefined) headers.set('authorization', authorization)
  const query = Object.entries(auth.query ?? {})
  const secrets = [...headers.values(), ...query.map(([, value]) => value)]
  if (auth.bearer !== undefined) secrets.push(auth.bearer)
  if (auth.basic !== undefined && auth.basic.password !== '') secrets.push(auth.basic.password)
  if (auth.usernameToken !== undefined && auth.usernameToken.password !== '') secrets.push(auth.usernameToken.password)
  secrets.push(...textsIn(auth.soapHeaders).filter(isTelling))
  return { headers: [...headers].flat(), query, secrets }
}

/** True if the secret is long enough that finding it in a text is hardly a coincidence. */
export function isTelling(secret: string): boolean {
  return secret.length >= SECRET_CHARS_MIN
}

function textsIn(json: unknown): string[] {
  if (typeof json === 'object' && json !== null) return Object.values(json).flatMap(textsIn)
  return typeof json === 'string' || typeof json === 'number' ? [String(json)] : []
}

/** RFC 7617 and RFC 6750. */
function authorizationOf({ basic, bearer }: UpstreamAuth): string | undefined {
  if (bearer !== undefined) return `Bearer ${bearer}`
  if (basic === undefined) return undefined
  return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`
}

function checkAuth(auth: UpstreamAuth, endpoint: URL): void {
  const schemes = [auth.basic, auth.bearer, auth.oauth2].filter((scheme) => scheme !== undefined)
  if (schemes.length > 1) throw refuse('An API can use only one of basic, bearer and oauth2.')
  if (auth.tls !== undefined && endpoint.protocol !== 'https:') {
    throw refuse('A client certificate needs an https: endpoint.')
  }
  if (auth.basic?.username.includes(':') === true)
    throw refuse('A user name of basic authentication must not contain a colon.')
  for (const [name, value] of Object.entries(auth.headers ?? {})) {
    const takesAuthorization = schemes.length > 0 && name.toLowerCase() === 'authorization'
    if (NOT_STATIC.test(name) || takesAuthorization || !isHeader(name, value)) {
      throw refuse(`The header "${name.slice(0, 80)}" cannot be set for an API.`)
    }
  }
  if (auth.bearer !== undefined && !isHeader('authorization', auth.bearer)) {
    throw refuse('The bearer token has characters that a header cannot contain.')
  }
  for (const name of Object.keys(auth.query ?? {})) {
    if (name === '') throw refuse('A query parameter needs a name.')
    if (endpoint.searchParams.has(name)) throw refuse(`The endpoint has the parameter "${name.slice(0, 80)}" already.`)
  }
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return value !== ''
  } catch {
    return false
  }
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
