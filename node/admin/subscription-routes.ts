import type { FastifyInstance } from 'fastify'
import { limits, parseApiRef, formatApiRef } from '../../lib/index.ts'
import type { ApiId } from '../../lib/interface/index.ts'
import { whileConnected } from '../ingress/visit.ts'
import { changeView, subscriberView, subscriptionView } from '../subscriptions/view.ts'
import { termsOf, wishOf } from '../subscriptions/wish.ts'
import type { AdminInit } from './admin-init.ts'
import { present } from './present.ts'
import { parse } from './problems.ts'
import {
  cancelSchema,
  subscribersSchema,
  type SubscribersView,
  subscribeSchema,
  type SubscriptionChangeView,
  subscriptionTermsSchema,
  type SubscriptionView
} from './subscription-api.ts'

interface ById {
  readonly Params: { readonly id: string }
}

/** Subscriptions of the house, which the keys without an account call with; and those that this node sold. */
export function subscriptionRoutes(app: FastifyInstance, { souk, subscriptions, clock }: AdminInit): void {
  const { desk } = subscriptions
  app.get('/subscriptions', async (): Promise<{ subscriptions: SubscriptionView[] }> => {
    const held = await desk.list(undefined)
    return { subscriptions: held.map((each) => subscriptionView(each, clock.now())) }
  })

  app.post('/subscriptions', async (request, reply): Promise<SubscriptionChangeView> => {
    const wish = wishOf(parse(subscribeSchema, request.body))
    const change = await desk.subscribe(undefined, wish, whileConnected(reply.raw))
    reply.code(201)
    return changeView(change, clock.now())
  })

  app.get<ById>('/subscriptions/:id', async (request): Promise<SubscriptionView> => {
    return subscriptionView(await desk.get(undefined, request.params.id), clock.now())
  })

  app.patch<ById>('/subscriptions/:id', async (request, reply): Promise<SubscriptionChangeView> => {
    const terms = termsOf(parse(subscriptionTermsSchema, request.body))
    return changeView(await desk.change(undefined, request.params.id, terms, whileConnected(reply.raw)), clock.now())
  })

  app.delete<ById>('/subscriptions/:id', async (request, reply): Promise<SubscriptionChangeView> => {
    const { now } = parse(cancelSchema, request.query)
    const signal = whileConnected(reply.raw)
    return changeView(await desk.cancel(undefined, request.params.id, now === 'true', signal), clock.now())
  })

  for (const move of ['pause', 'resume', 'renew'] as const) {
    app.post<ById>(`/subscriptions/:id/${move}`, async (request, reply): Promise<SubscriptionChangeView> => {
      return changeView(await desk[move](undefined, request.params.id, whileConnected(reply.raw)), clock.now())
    })
  }

  app.get('/subscribers', async (request): Promise<SubscribersView> => {
    const { api, limit = limits.PAGE_MAX, cursor } = parse(subscribersSchema, request.query)
    const page = await souk.subscriptions.sold({
      limit: Math.min(limit, limits.PAGE_MAX),
      ...present({ cursor, api: api === undefined ? undefined : idOf(api, souk.status().provider) })
    })
    return { subscribers: page.subscriptions.map(subscriberView), next: page.next ?? null }
  })
}

/** A bare name is one of this provider's own. @throws SoukError `invalid_request` */
function idOf(api: string, self: string): ApiId {
  const { name, provider = self } = parseApiRef(api)
  return formatApiRef({ name, provider }) as ApiId
}
