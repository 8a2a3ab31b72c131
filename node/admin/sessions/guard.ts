import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { equalInConstantTime, sha256, SoukError, utf8 } from '../../../lib/index.ts'
import { checkTarget } from '../../http/http-server.ts'
import type { Sessions } from './sessions.ts'

export interface GuardInit {
  readonly token: string
  readonly sessions: Pick<Sessions, 'isOpen'>
  /** The port listened on; known once it is. */
  readonly port: () => number
}

/** Where a browser asks whether it is in, and gives a code to get in: it has neither token nor session yet. */
const ENTRANCE = '/admin/v1/session'
/** The pages of the console. */
const PAGES = '/*'
const READING = new Set(['GET', 'HEAD'])

/**
 * Who may speak to the admin API: a program of this machine that can read the token's file, and a browser that was let in.
 *
 * - Exact `Host`: a name that an attacker's DNS points to 127.0.0.1 is not one of ours (DNS rebinding).
 * - `Origin`, where a browser sends one, must be this API's own: no page of another site gets in, and there is no CORS. A browser's
 *   write must have one.
 * - What is asked for is the route that was found, never the address as it was written: `/%61dmin` leads there as well.
 * - Bearer token (RFC 6750), compared in constant time, or the cookie of a session. The console's own pages are open: they
 *   hold nothing.
 */
export function guard(app: FastifyInstance, init: GuardInit): void {
  const expected = sha256(utf8(init.token))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
    checkTarget(request.raw)
    checkPlace(request, init.port())
    if (isPage(request) || isEntering(request)) return
    // Digests are compared, so that the length of the token does not show either.
    if (equalInConstantTime(sha256(utf8(bearer(request))), expected)) return
    await checkSession(request, reply, init.sessions)
  })
}

/** @throws SoukError `ingress_not_allowed`, `invalid_request` */
function checkPlace({ headers, routeOptions, method, raw }: FastifyRequest, port: number): void {
  if (raw.url?.startsWith('/') !== true) {
    throw new SoukError('invalid_request', 'The admin API is no proxy: a request target begins with a slash.')
  }
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (!hosts.includes(headers.host ?? '')) {
    throw new SoukError('ingress_not_allowed', 'The admin API is only reached as 127.0.0.1 or localhost.')
  }
  const { origin } = headers
  if (routeOptions.url === ENTRANCE && method === 'POST' && origin === undefined) {
    throw new SoukError('ingress_not_allowed', 'Sessions are for browsers, which say where a request comes from.')
  }
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    throw new SoukError('ingress_not_allowed', 'The admin API takes no requests from pages of other sites.')
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
    throw new SoukError('ingress_not_allowed', 'A request that changes something has to say where it comes from.')
  }
}

/** Nobody is told without a token which routes there are. */
function isPage({ url, routeOptions }: FastifyRequest): boolean {
  return routeOptions.url === PAGES && !url.startsWith('/admin/')
}

function isEntering({ routeOptions, method }: FastifyRequest): boolean {
  return routeOptions.url === ENTRANCE && (method === 'GET' || method === 'POST')
}

/** Cookies know no ports: two nodes of one machine would take each other's. */
export function cookieName(host: string): string {
  return `souk_${host.slice(host.lastIndexOf(':') + 1)}`
}

/** The session that a browser says it has. */
export function sessionOf({ headers, host }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  const start = `${cookieName(host)}=`
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length)
}

function bearer(request: FastifyRequest): string {
  return /^Bearer ([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
}
