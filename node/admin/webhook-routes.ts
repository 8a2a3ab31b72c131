import type { FastifyInstance } from 'fastify'
import type { WebhookInfo } from '../events/webhooks.ts'
import { whileConnected } from '../ingress/visit.ts'
import type { AdminInit } from './admin-init.ts'
import { present } from './present.ts'
import { parse } from './problems.ts'
import { type AddedWebhookView, addWebhookSchema, type WebhookTestView, type WebhookView } from './webhook-api.ts'

interface ById {
  Params: { id: string }
}

/** Who is told of what happens here. */
export function webhookRoutes(app: FastifyInstance, { webhooks }: AdminInit): void {
  app.get('/webhooks', (): { webhooks: WebhookView[] } => ({ webhooks: webhooks.list().map(webhookView) }))

  app.post('/webhooks', async (request, reply): Promise<AddedWebhookView> => {
    const { url, events, allow_private } = parse(addWebhookSchema, request.body)
    const added = await webhooks.add(present({ url, events, allowsPrivate: allow_private }))
    reply.code(201)
    return { ...webhookView(added), secret: added.secret }
  })

  app.delete<ById>('/webhooks/:id', async ({ params }, reply) => {
    await webhooks.remove(params.id)
    return reply.code(204).send()
  })

  app.post<ById>('/webhooks/:id/rotate', async ({ params }): Promise<AddedWebhookView> => {
    const rotated = await webhooks.rotate(params.id)
    return { ...webhookView(rotated), secret: rotated.secret }
  })

  app.post<ById>('/webhooks/:id/enable', async ({ params }): Promise<WebhookView> => {
    return webhookView(await webhooks.enable(params.id))
  })

  app.post<ById>('/webhooks/:id/test', async ({ params }, reply): Promise<WebhookTestView> => {
    const outcome = await webhooks.test(params.id, whileConnected(reply.raw))
    if (outcome.fate === 'taken') return { taken: true, why: null }
    return { taken: false, why: outcome.fate === 'gone' ? 'It answered 410.' : outcome.why }
  })
}

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
