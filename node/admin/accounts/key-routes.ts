import { formatUsdc, parseUsdc } from '../../../lib/index.ts'
import type { IssuedKey, KeyInfo } from '../../keys/keys.ts'
import { keyMembers } from '../../keys/key-view.ts'
import {
  type IssuedKeyView,
  issuedKeyViewSchema,
  issueKeySchema,
  keysViewSchema,
  type KeyView,
  keyViewSchema,
  rotateKeySchema
} from './key-api.ts'
import { present } from '../../present.ts'
import { pageOf, pageSchema } from '../page.ts'
import { rateLimitOf, rateLimitView } from '../subscriptions/rate-api.ts'
import { route } from '../route.ts'

/** Consumer keys of this node's ingress. */
export const keyRoutes = [
  route({
    method: 'GET',
    path: '/keys',
    summary: 'Keys of this node’s ingress, without the keys themselves.',
    query: pageSchema,
    response: keysViewSchema,
    async handler({ keys }, { query }) {
      const { key, holder } = keys.demo ?? {}
      const demo =
        key === undefined || holder === undefined
          ? null
          : { key, apis: holder.apis ?? [], daily_cap: formatUsdc(holder.dailyCap) }
      const { page, next } = pageOf(await keys.list(), query)
      return { keys: page.map(keyView), next, demo }
    }
  }),
  route({
    method: 'POST',
    path: '/keys',
    summary: 'Creates a key. Only this response shows it.',
    body: issueKeySchema,
    response: issuedKeyViewSchema,
    status: 201,
    async handler({ keys, accounts }, { body }) {
      const { label, expires_at, max_price, daily_cap, apis, account, manages, rate_limit } = body
      // A key of an account that does not exist could not pay for calls.
      if (account !== undefined) await accounts.get(account)
      const maxPrice = max_price === undefined ? undefined : parseUsdc(max_price)
      const dailyCap = daily_cap === undefined ? undefined : parseUsdc(daily_cap)
      const rateLimit = rate_limit && rateLimitOf(rate_limit)
      const wanted = { label, expiresAt: expires_at, maxPrice, dailyCap, apis, account, manages, rateLimit }
      return issuedView(await keys.issue(present(wanted)))
    }
  }),
  route({
    method: 'GET',
    path: '/keys/:id',
    summary: 'Returns one key.',
    response: keyViewSchema,
    handler: async ({ keys }, { params }) => keyView(await keys.get(params.id))
  }),
  route({
    method: 'DELETE',
    path: '/keys/:id',
    summary: 'Revokes a key.',
    response: keyViewSchema,
    handler: async ({ keys }, { params }) => keyView(await keys.revoke(params.id))
  }),
  route({
    method: 'POST',
    path: '/keys/:id/rotate',
    summary: 'Creates a replacement. The old key stays valid for the overlap.',
    body: rotateKeySchema.prefault({}),
    response: issuedKeyViewSchema,
    status: 201,
    async handler({ keys }, { params, body: { overlap_ms, expires_at } }) {
      return issuedView(await keys.rotate(params.id, present({ overlapMs: overlap_ms, expiresAt: expires_at })))
    }
  }),
  route({
    method: 'POST',
    path: '/keys/:id/disable',
    summary: 'Refuses calls with the key until it is enabled.',
    response: keyViewSchema,
    handler: async ({ keys }, { params }) => keyView(await keys.disable(params.id))
  }),
  route({
    method: 'POST',
    path: '/keys/:id/enable',
    summary: 'Allows calls with the key again.',
    response: keyViewSchema,
    handler: async ({ keys }, { params }) => keyView(await keys.enable(params.id))
  })
] as const

function issuedView(issued: IssuedKey): IssuedKeyView {
  return { key: issued.key, ...keyView(issued) }
}

function keyView(key: KeyInfo): KeyView {
  return {
    ...keyMembers(key),
    account: key.account ?? null,
    rate_limit: rateLimitView(key.rateLimit),
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    retires_at: key.retiresAt ?? null,
    disabled_at: key.disabledAt ?? null,
    revoked_at: key.revokedAt ?? null,
    last_used_at: key.lastUsedAt ?? null
  }
}
