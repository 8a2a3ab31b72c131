import { z } from 'zod'
import type { WebhookInfo } from '../../events/webhooks.ts'
import { list } from '../../http/schemas.ts'
import { present } from '../../present.ts'
import { route } from '../route.ts'
import {
  addedWebhookViewSchema,
  addWebhookSchema,
  webhookTestViewSchema,
  type WebhookView,
  webhookViewSchema
} from './webhook-api.ts'

/** Routes for webhooks. */
export const webhookRoutes = [
  route({
    method: 'GET',
    path: '/webhooks',
    summary: 'Webhooks, without their secrets.',
    response: z.object({ webhooks: list(webhookViewSchema) }),
    handler: ({ webhooks }) => ({ webhooks: webhooks.list().map(webhookView) })
  }),
  route({
    method: 'POST',
    path: '/webhooks',
    summary: 'Adds a webhook. Only this response shows its secret.',
    body: addWebhookSchema,
    response: addedWebhookViewSchema,
    status: 201,
    async handler({ webhooks }, { body: { url, events, allow_private } }) {
      const added = await webhooks.add(present({ url, events, allowsPrivate: allow_private }))
      return { ...webhookView(added), secret: added.secret }
    }
  }),
  route({
    method: 'DELETE',
    path: '/webhooks/:id',
    summary: 'Removes a webhook.',
    handler: ({ webhooks }, { params }) => webhooks.remove(params.id)
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/rotate',
    summary: 'Replaces the secret of a webhook.',
    response: addedWebhookViewSchema,
    async handler({ webhooks }, { params }) {
      const rotated = await webhooks.rotate(params.id)
      return { ...webhookView(rotated), secret: rotated.secret }
    }
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/enable',
    summary: 'Enables a disabled webhook.',
    response: webhookViewSchema,
    handler: async ({ webhooks }, { params }) => webhookView(await webhooks.enable(params.id))
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/test',
    summary: 'Sends one test event now.',
    response: webhookTestViewSchema,
    async handler({ webhooks }, { params, signal }) {
      const outcome = await webhooks.test(params.id, signal)
      if (outcome.fate === 'taken') return { taken: true, why: null }
      return { taken: false, why: outcome.fate === 'gone' ? 'The endpoint returned 410 (Gone).' : outcome.why }
    }
  })
] as const

function webhookView(webhook: WebhookInfo): WebhookView {
  const { id, url, events, allowsPrivate, disabled, failed, publicKey, pending, createdAt, deliveredAt } = webhook
  return {
    id,
    url,
    events,
    allow_private: allowsPrivate,
    state: disabled === undefined ? 'active' : 'disabled',
    note: disabled ?? failed ?? null,
    public_key: publicKey,
    pending,
    created_at: createdAt,
    delivered_at: deliveredAt ?? null
  }
}
