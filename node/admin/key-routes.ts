import type { FastifyInstance } from 'fastify'
import { formatUsdc, parseUsdc } from '../../lib/index.ts'
import type { KeyInfo } from '../keys/keys.ts'
import { type IssuedKeyView, issueKeySchema, type KeyView } from './api.ts'
import { present } from './present.ts'
import { parse } from './problems.ts'
import type { AdminInit } from './admin-init.ts'

/** Consumer keys of this node's ingress. */
export function keyRoutes(app: FastifyInstance, { keys }: AdminInit): void {
  app.get('/keys', async (): Promise<{ keys: KeyView[] }> => ({ keys: (await keys.list()).map(keyView) }))

  app.post('/keys', async (request, reply): Promise<IssuedKeyView> => {
    const { label, expires_at, max_price, daily_cap } = parse(issueKeySchema, request.body)
    const maxPrice = max_price === undefined ? undefined : parseUsdc(max_price)
    const dailyCap = daily_cap === undefined ? undefined : parseUsdc(daily_cap)
    const issued = await keys.issue(present({ label, expiresAt: expires_at, maxPrice, dailyCap }))
    reply.code(201)
    return { key: issued.key, ...keyView(issued) }
  })

  app.delete<{ Params: { id: string } }>('/keys/:id', async (request): Promise<KeyView> => {
    return keyView(await keys.revoke(request.params.id))
  })
}

function keyView(key: KeyInfo): KeyView {
  return {
    id: key.id,
    label: key.label,
    hint: key.hint,
    state: key.state,
    max_price: formatUsdc(key.maxPrice),
    daily_cap: formatUsdc(key.dailyCap),
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    revoked_at: key.revokedAt ?? null,
    last_used_at: key.lastUsedAt ?? null
  }
}
