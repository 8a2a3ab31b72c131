import { z } from 'zod'
import type { WebhookInfo } from '../../events/webhooks.ts'
import { list } from '../../http/schemas.ts'
import { present } from '../present.ts'
import { route } from '../route.ts'
import {
  addedWebhookViewSchema,
  addWebhookSchema,
  webhookTestViewSchema,
  type WebhookView,
  webhookViewSchema
} from './webhook-api.ts'

/** Who is told of what happens here. */
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
    summary: 'Tells a URL of events; the secret is shown this once.',
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
    summary: 'Tells it nothing more.',
    handler: ({ webhooks }, { params }) => webhooks.remove(params.id)
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/rotate',
    summary: 'Makes a new secret.',
    response: addedWebhookViewSchema,
    async handler({ webhooks }, { params }) {
      const rotated = await webhooks.rotate(params.id)
      return { ...webhookView(rotated), secret: rotated.secret }
    }
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/enable',
    summary: 'Tells a disabled one again.',
    response: webhookViewSchema,
    handler: async ({ webhooks }, { params }) => webhookView(await webhooks.enable(params.id))
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/test',
    summary: 'Sends it one event now.',
    response: webhookTestViewSchema,
    async handler({ webhooks }, { params, signal }) {
      const outcome = await webhooks.test(params.id, signal)
      if (outcome.fate === 'taken') return { taken: true, why: null }
      return { taken: false, why: outcome.fate === 'gone' ? 'It answered 410.' : outcome.why }
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
