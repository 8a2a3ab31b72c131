import { z } from 'zod'
import { formatApiRef, limits, parseApiRef } from '../../../lib/index.ts'
import type { ApiId } from '../../../lib/interface/index.ts'
import { list } from '../../http/schemas.ts'
import { changeView, subscriberView, subscriptionView } from '../../subscriptions/view.ts'
import { termsOf, subscribeRequestOf } from '../../subscriptions/subscribe-request.ts'
import { present } from '../../present.ts'
import { route } from '../route.ts'
import {
  cancelSchema,
  subscribersSchema,
  subscribersViewSchema,
  subscribeSchema,
  subscriptionChangeViewSchema,
  subscriptionTermsSchema,
  subscriptionViewSchema
} from './subscription-api.ts'

const waiting = (signal: AbortSignal) => ({ signal, feeWaitMs: limits.FEE_WAIT_OPERATOR_MS })

/** Subscriptions of the operator. Keys without an account use them. */
export const subscriptionRoutes = [
  route({
    method: 'GET',
    path: '/subscriptions',
    summary: 'Lists the subscriptions.',
    response: z.object({ subscriptions: list(subscriptionViewSchema) }),
    async handler({ subscriptions: { service }, clock }) {
      const held = await service.list(undefined)
      return { subscriptions: held.map((each) => subscriptionView(each, clock.now())) }
    }
  }),
  route({
    method: 'POST',
    path: '/subscriptions',
    summary: 'Subscribes to a plan.',
    body: subscribeSchema,
    response: subscriptionChangeViewSchema,
    status: 201,
    async handler({ subscriptions: { service }, clock }, { body, signal }) {
      return changeView(await service.subscribe(undefined, subscribeRequestOf(body), waiting(signal)), clock.now())
    }
  }),
  route({
    method: 'GET',
    path: '/subscriptions/:id',
    summary: 'Returns one subscription.',
    response: subscriptionViewSchema,
    async handler({ subscriptions: { service }, clock }, { params }) {
      return subscriptionView(await service.get(undefined, params.id), clock.now())
    }
  }),
  route({
    method: 'PATCH',
    path: '/subscriptions/:id',
    summary: 'Changes the plan or the limits. Absent members keep their values.',
    body: subscriptionTermsSchema,
    response: subscriptionChangeViewSchema,
    async handler({ subscriptions: { service }, clock }, { params, body, signal }) {
      return changeView(await service.change(undefined, params.id, termsOf(body), waiting(signal)), clock.now())
    }
  }),
  route({
    method: 'DELETE',
    path: '/subscriptions/:id',
    summary: 'Cancels at the end of the period, or at once.',
    query: cancelSchema,
    response: subscriptionChangeViewSchema,
    async handler({ subscriptions: { service }, clock }, { params, query, signal }) {
      return changeView(await service.cancel(undefined, params.id, query.now === 'true', { signal }), clock.now())
    }
  }),
  route({
    method: 'POST',
    path: '/subscriptions/:id/pause',
    summary: 'Pauses calls and fees until the subscription is resumed.',
    response: subscriptionChangeViewSchema,
    async handler({ subscriptions: { service }, clock }, { params, signal }) {
      return changeView(await service.pause(undefined, params.id, { signal }), clock.now())
    }
  }),
  route({
    method: 'POST',
    path: '/subscriptions/:id/resume',
    summary: 'Ends a pause, or revokes a cancellation that is not due yet.',
    response: subscriptionChangeViewSchema,
    async handler({ subscriptions: { service }, clock }, { params, signal }) {
      return changeView(await service.resume(undefined, params.id, waiting(signal)), clock.now())
    }
  }),
  route({
    method: 'POST',
    path: '/subscriptions/:id/renew',
    summary: 'Pays the next period if the last one is over.',
    response: subscriptionChangeViewSchema,
    async handler({ subscriptions: { service }, clock }, { params, signal }) {
      return changeView(await service.renew(undefined, params.id, waiting(signal)), clock.now())
    }
  })
] as const

export const subscriberRoutes = [
  route({
    method: 'GET',
    path: '/subscribers',
    summary: 'Subscribers of the APIs served here.',
    query: subscribersSchema,
    response: subscribersViewSchema,
    async handler({ souk, registrations }, { query: { api, limit = limits.PAGE_MAX, cursor } }) {
      const page = await souk.subscriptions.sold({
        limit: Math.min(limit, limits.PAGE_MAX),
        ...present({ cursor, api: api === undefined ? undefined : idOf(api, souk.status().provider) })
      })
      // Subscriptions outlive the registration of their API.
      if (api !== undefined && page.subscriptions.length === 0) registrations.show(parseApiRef(api).name)
      return { subscribers: page.subscriptions.map(subscriberView), next: page.next ?? null }
    }
  })
] as const

/** A bare name means this node's own provider. @throws SoukError `invalid_request` */
function idOf(api: string, self: string): ApiId {
  const { name, provider = self } = parseApiRef(api)
  return formatApiRef({ name, provider }) as ApiId
}
