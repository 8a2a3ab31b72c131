import type { FastifyInstance } from 'fastify'
import { formatUsdc, parseUsdc } from '../../lib/index.ts'
import type { IssuedKey, KeyInfo } from '../keys/keys.ts'
import type { AdminInit } from './admin-init.ts'
import { type IssuedKeyView, issueKeySchema, type KeysView, type KeyView, rotateKeySchema } from './key-api.ts'
import { present } from './present.ts'
import { parse } from './problems.ts'
import { rateLimitOf, rateLimitView } from './rate-api.ts'

interface ById {
  Params: { id: string }
}

/** Consumer keys of this node's ingress. */
export function keyRoutes(app: FastifyInstance, { keys, accounts }: AdminInit): void {
  app.get('/keys', async (): Promise<KeysView> => {
    const { key, holder } = keys.demo ?? {}
    const demo =
      key === undefined || holder === undefined
        ? null
        : { key, apis: holder.apis ?? [], daily_cap: formatUsdc(holder.dailyCap) }
    return { keys: (await keys.list()).map(keyView), demo }
  })

  app.get<ById>('/keys/:id', async ({ params }): Promise<KeyView> => keyView(await keys.get(params.id)))

  app.post('/keys', async (request, reply): Promise<IssuedKeyView> => {
    const input = parse(issueKeySchema, request.body)
    const { label, expires_at, max_price, daily_cap, apis, account, manages, rate_limit } = input
    // A key of an account that is none would pay for nothing.
    if (account !== undefined) await accounts.get(account)
    const maxPrice = max_price === undefined ? undefined : parseUsdc(max_price)
    const dailyCap = daily_cap === undefined ? undefined : parseUsdc(daily_cap)
    const rateLimit = rate_limit && rateLimitOf(rate_limit)
    const wanted = { label, expiresAt: expires_at, maxPrice, dailyCap, apis, account, manages, rateLimit }
    reply.code(201)
    return issuedView(await keys.issue(present(wanted)))
  })

  app.post<ById>('/keys/:id/rotate', async (request, reply): Promise<IssuedKeyView> => {
    const { overlap_ms, expires_at } = parse(rotateKeySchema, request.body ?? {})
    reply.code(201)
    return issuedView(await keys.rotate(request.params.id, present({ overlapMs: overlap_ms, expiresAt: expires_at })))
  })

  app.post<ById>('/keys/:id/disable', async ({ params }): Promise<KeyView> => keyView(await keys.disable(params.id)))
  app.post<ById>('/keys/:id/enable', async ({ params }): Promise<KeyView> => keyView(await keys.enable(params.id)))
  app.delete<ById>('/keys/:id', async ({ params }): Promise<KeyView> => keyView(await keys.revoke(params.id)))
}

function issuedView(issued: IssuedKey): IssuedKeyView {
  return { key: issued.key, ...keyView(issued) }
}

function keyView(key: KeyInfo): KeyView {
  return {
    id: key.id,
    lineage: key.lineage,
    replaces: key.replaces ?? null,
    successor: key.successor ?? null,
    label: key.label,
    hint: key.hint,
    state: key.state,
    apis: key.apis ?? null,
    account: key.account ?? null,
    manages: key.manages ?? false,
    max_price: formatUsdc(key.maxPrice),
    daily_cap: formatUsdc(key.dailyCap),
    rate_limit: rateLimitView(key.rateLimit),
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    retires_at: key.retiresAt ?? null,
    disabled_at: key.disabledAt ?? null,
    revoked_at: key.revokedAt ?? null,
    last_used_at: key.lastUsedAt ?? null
  }
}
