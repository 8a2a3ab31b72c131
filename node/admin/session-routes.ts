import type { FastifyInstance } from 'fastify'
import { limits, SoukError } from '../../lib/index.ts'
import type { AdminInit } from './admin-init.ts'
import { sessionInputSchema, type SessionView, type SetupCodeView } from './api.ts'
import { cookieName, sessionOf } from './guard.ts'
import { parse } from './problems.ts'
import type { BrowserView } from './settings-api.ts'

/** How a browser gets into the console, and out of it. */
export function sessionRoutes(app: FastifyInstance, { sessions }: AdminInit): void {
  app.post('/setup-codes', async (_request, reply): Promise<SetupCodeView> => {
    const { code, expiresAt } = sessions.newCode()
    reply.code(201)
    return { code, expires_at: expiresAt }
  })

  app.get('/session', async (request): Promise<SessionView> => {
    const token = sessionOf(request)
    return { entered: token !== undefined && (await sessions.isOpen(token)) }
  })

  // Before a browser is let in, it sends no more than a code.
  app.post('/session', { bodyLimit: limits.SESSION_BODY_BYTES_MAX }, async (request, reply) => {
    const token = await sessions.open(parse(sessionInputSchema, request.body).code)
    return reply
      .code(204)
      .header('set-cookie', cookie(request.host, token, limits.CONSOLE_SESSION_MS / 1000))
      .send()
  })

  app.get('/sessions', async (request): Promise<{ sessions: readonly BrowserView[] }> => {
    const open = await sessions.list(sessionOf(request))
    const views = open.map(({ id, since, expiresAt, isOwn }) => ({ id, since, expires_at: expiresAt, current: isOwn }))
    return { sessions: views }
  })

  app.delete<{ Params: { id: string } }>('/sessions/:id', async ({ params }, reply) => {
    if (!(await sessions.closeById(params.id))) {
      throw new SoukError('operation_not_found', 'No browser of this id is let in.')
    }
    return reply.code(204).send()
  })

  app.delete('/session', async (request, reply) => {
    const token = sessionOf(request)
    if (token !== undefined) await sessions.close(token)
    return reply
      .code(204)
      .header('set-cookie', cookie(request.host, '', 0))
      .send()
  })
}

/** RFC 6265bis. Not `Secure`: the console is plain HTTP on this machine. */
function cookie(host: string, value: string, maxAgeSeconds: number): string {
  return `${cookieName(host)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`
}
