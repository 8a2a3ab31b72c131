import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { equalInConstantTime, sha256, SoukError, utf8 } from '../../../lib/index.ts'
import { checkTarget } from '../../http/http-server.ts'
import type { Sessions } from './sessions.ts'

export interface GuardInit {
  readonly token: string
  readonly sessions: Pick<Sessions, 'isOpen'>
  /** The listening port. Call it only after the server listens. */
  readonly port: () => number
}

/** A browser checks its session here, or signs in with a code. Neither needs a token or a session. */
const ENTRANCE = '/admin/v1/session'
/** The pages of the console. */
const PAGES = '/*'
const READING = new Set(['GET', 'HEAD'])

/**
 * Authenticates requests to the admin API: programs that can read the token's file, and signed-in browsers.
 *
 * - `Host` must match exactly. This stops DNS rebinding: an attacker's name that resolves to 127.0.0.1.
 * - `Origin`, if sent, must be this API's own. Pages of other sites are refused, and there is no CORS. A browser's write must have
 *   an `Origin`.
 * - Decisions use the matched route, never the raw path: `/%61dmin` matches as well.
 * - A bearer token (RFC 6750), compared in constant time, or a session cookie. The console's pages are public, because they
 *   contain no data.
 */
export function guard(app: FastifyInstance, init: GuardInit): void {
  const expected = sha256(utf8(init.token))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
    checkTarget(request.raw)
    checkPlace(request, init.port())
    if (isPage(request) || isEntering(request)) return
    // Comparing digests also hides the length of the token.
    if (equalInConstantTime(sha256(utf8(bearer(request))), expected)) return
    await checkSession(request, reply, init.sessions)
  })
}

/** @throws SoukError `ingress_not_allowed`, `invalid_request` */
function checkPlace({ headers, routeOptions, method, raw }: FastifyRequest, port: number): void {
  if (raw.url?.startsWith('/') !== true) {
    throw new SoukError('invalid_request', 'The admin API is no proxy. Send a path that begins with a slash.')
  }
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (!hosts.includes(headers.host ?? '')) {
    throw new SoukError('ingress_not_allowed', 'The Host header must be 127.0.0.1 or localhost, with the port.')
  }
  const { origin } = headers
  if (routeOptions.url === ENTRANCE && method === 'POST' && origin === undefined) {
    throw new SoukError(
      'ingress_not_allowed',
      'Sessions are for browsers: the Origin header is missing. Programs use the admin token.'
    )
  }
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    throw new SoukError('ingress_not_allowed', 'The admin API accepts no requests from pages of other sites.')
  }
}

/** @throws SoukError `ingress_not_allowed`, `admin_token_invalid` */
async function checkSession(
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: GuardInit['sessions']
): Promise<void> {
  const session = sessionOf(request)
  if (session === undefined || !(await sessions.isOpen(session))) {
    reply.header('www-authenticate', 'Bearer')
    throw new SoukError('admin_token_invalid')
  }
  if (!READING.has(request.method) && request.headers.origin === undefined) {
    throw new SoukError('ingress_not_allowed', 'The Origin header is missing. A write with a session cookie needs it.')
  }
}

/** Unknown paths under `/admin/` need a token too, so that a 404 does not reveal which routes exist. */
function isPage({ url, routeOptions }: FastifyRequest): boolean {
  return routeOptions.url === PAGES && !url.startsWith('/admin/')
}

function isEntering({ routeOptions, method }: FastifyRequest): boolean {
  return routeOptions.url === ENTRANCE && (method === 'GET' || method === 'POST')
}

/** Browsers share cookies between ports, so the port is in the name: one machine may run two nodes. */
export function cookieName(host: string): string {
  return `souk_${host.slice(host.lastIndexOf(':') + 1)}`
}

/** The session token in the cookie, not verified. */
export function sessionOf({ headers, host }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  const start = `${cookieName(host)}=`
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length)
}

function bearer(request: FastifyRequest): string {
  return /^Bearer ([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
}
