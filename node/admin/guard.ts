import type { FastifyInstance, FastifyRequest } from 'fastify'
import { equalInConstantTime, sha256, SoukError, utf8 } from '../../lib/index.ts'

export interface GuardInit {
  readonly token: string
  /** The port listened on; known once it is. */
  readonly port: () => number
}

/**
 * Who may speak to the admin API: a program of this machine that can read the token's file.
 *
 * - Exact `Host`: a name that an attacker's DNS points to 127.0.0.1 is not one of ours (DNS rebinding).
 * - `Origin`, where a browser sends one, must be this API's own: no page of another site gets in, and there is no CORS.
 * - Bearer token (RFC 6750) on every request, compared in constant time.
 */
export function guard(app: FastifyInstance, init: GuardInit): void {
  const expected = sha256(utf8(init.token))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
    const hosts = [`127.0.0.1:${init.port()}`, `localhost:${init.port()}`]
    if (!hosts.includes(request.headers.host ?? '')) {
      throw new SoukError('ingress_not_allowed', 'The admin API is only reached as 127.0.0.1 or localhost.')
    }
    const { origin } = request.headers
    if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
      throw new SoukError('ingress_not_allowed', 'The admin API takes no requests from pages of other sites.')
    }
    // Digests are compared, so that the length of the token does not show either.
    if (!equalInConstantTime(sha256(utf8(bearer(request))), expected)) {
      reply.header('www-authenticate', 'Bearer')
      throw new SoukError('admin_token_invalid')
    }
  })
}

function bearer(request: FastifyRequest): string {
  return /^Bearer ([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
}
