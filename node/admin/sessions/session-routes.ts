import { z } from 'zod'
import { limits, SoukError } from '../../../lib/index.ts'
import { list } from '../../http/schemas.ts'
import { sessionInputSchema, sessionViewSchema, setupCodeViewSchema } from '../api.ts'
import { cookieName, sessionOf } from './guard.ts'
import { route } from '../route.ts'
import { browserViewSchema } from '../node/settings-api.ts'

/** Routes to sign browsers in and out. */
export const sessionRoutes = [
  route({
    method: 'POST',
    path: '/setup-codes',
    summary: 'Makes a code that signs in one browser, once.',
    response: setupCodeViewSchema,
    status: 201,
    handler({ sessions }) {
      const { code, expiresAt } = sessions.newCode()
      return { code, expires_at: expiresAt }
    }
  }),
  route({
    method: 'GET',
    path: '/session',
    summary: 'Whether this browser is signed in. Needs no token.',
    response: sessionViewSchema,
    async handler({ sessions, status }, { request }) {
      const token = sessionOf(request)
      const { profile } = status()
      return { entered: token !== undefined && (await sessions.isOpen(token)), profile }
    }
  }),
  route({
    method: 'POST',
    path: '/session',
    summary: 'Signs this browser in by a code, and sets the session cookie. Needs no token.',
    body: sessionInputSchema,
    // An unauthenticated browser sends no more than a code.
    bodyBytesMax: limits.SESSION_BODY_BYTES_MAX,
    async handler({ sessions }, { body, request, reply }) {
      const token = await sessions.open(body.code)
      reply.header('set-cookie', cookie(request.host, token, limits.CONSOLE_SESSION_MS / 1000))
    }
  }),
  route({
    method: 'DELETE',
    path: '/session',
    summary: 'Signs this browser out.',
    async handler({ sessions }, { request, reply }) {
      const token = sessionOf(request)
      if (token !== undefined) await sessions.close(token)
      reply.header('set-cookie', cookie(request.host, '', 0))
    }
  }),
  route({
    method: 'GET',
    path: '/sessions',
    summary: 'Signed-in browsers.',
    response: z.object({ sessions: list(browserViewSchema) }),
    async handler({ sessions }, { request }) {
      const open = await sessions.list(sessionOf(request))
      return {
        sessions: open.map(({ id, since, expiresAt, isOwn }) => ({ id, since, expires_at: expiresAt, current: isOwn }))
      }
    }
  }),
  route({
    method: 'DELETE',
    path: '/sessions/:id',
    summary: 'Signs a browser out.',
    async handler({ sessions }, { params }) {
      if (!(await sessions.closeById(params.id))) {
        throw new SoukError('invalid_request', `There is no signed-in browser ${params.id.slice(0, 80)}.`)
      }
    }
  })
] as const

/** RFC 6265bis. Not `Secure`: the console is plain HTTP on this machine. */
function cookie(host: string, value: string, maxAgeSeconds: number): string {
  return `${cookieName(host)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`
}
