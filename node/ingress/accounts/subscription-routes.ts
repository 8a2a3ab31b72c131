import { z } from 'zod'
import type { Clock, OwnSubscription, SubscriptionChange } from '../../../lib/interface/index.ts'
import { subscribeSchema, subscriptionTermsSchema } from '../../admin/subscriptions/subscription-api.ts'
import type { SubscriptionService } from '../../subscriptions/subscription-service.ts'
import { changeView, subscriptionView } from '../../subscriptions/view.ts'
import { termsOf, subscribeRequestOf } from '../../subscriptions/subscribe-request.ts'
import type { RequestParts } from '../account-request.ts'
import { routesWith } from '../route.ts'
import { page, subscriptionChangeSchema, subscriptionSchema } from '../views.ts'

export interface SubscriptionContext extends RequestParts {
  readonly service: SubscriptionService
  readonly clock: Clock
}

const route = routesWith<SubscriptionContext>()
const CANCEL = 'now must be true or false.'

/**
 * Subscriptions of the key’s account. Fees are deducted from its balance. Its calls use the subscription automatically. Any key of the
 * account may read subscriptions; only a managing key may change them.
 */
export const subscriptionRoutes = [
  route({
    method: 'GET',
    path: '/v1/subscriptions',
    summary: 'Lists the account’s subscriptions.',
    auth: 'account',
    response: page(subscriptionSchema),
    async handler({ service, clock }, { caller }) {
      const held = await service.list(caller.account.id)
      return { data: held.map((each) => shown(each, clock.now())), next_cursor: null }
    }
  }),
  route({
    method: 'POST',
    path: '/v1/subscriptions',
    summary: 'Subscribes to a plan of an API and deducts its fee from the balance. Later calls use the plan.',
    auth: 'manager',
    body: subscribeSchema,
    response: subscriptionChangeSchema,
    status: 201,
    async handler({ service, clock }, { caller, body, signal }) {
      return changed(await service.subscribe(caller.account.id, subscribeRequestOf(body), { signal }), clock.now())
    }
  }),
  route({
    method: 'GET',
    path: '/v1/subscriptions/:id',
    summary: 'One subscription.',
    auth: 'account',
    response: subscriptionSchema,
    async handler({ service, clock }, { caller, params }) {
      return shown(await service.get(caller.account.id, params.id), clock.now())
    }
  }),
  route({
    method: 'PATCH',
    path: '/v1/subscriptions/:id',
    summary: 'Changes the plan or the limits. A dearer plan starts at once, a cheaper one when the period ends.',
    auth: 'manager',
    body: subscriptionTermsSchema,
    response: subscriptionChangeSchema,
    async handler({ service, clock }, { caller, params, body, signal }) {
      return changed(await service.change(caller.account.id, params.id, termsOf(body), { signal }), clock.now())
    }
  }),
  route({
    method: 'DELETE',
    path: '/v1/subscriptions/:id',
    summary: 'Cancels the subscription, at the end of its period or at once.',
    auth: 'manager',
    query: z.strictObject(
      {
        now: z
          .enum(['true', 'false'], CANCEL)
          .default('false')
          .describe('Cancel at once instead of at the end of the period.')
      },
      CANCEL
    ),
    response: subscriptionChangeSchema,
    async handler({ service, clock }, { caller, params, query, signal }) {
      return changed(await service.cancel(caller.account.id, params.id, query.now === 'true', { signal }), clock.now())
    }
  }),
  route({
    method: 'POST',
    path: '/v1/subscriptions/:id/pause',
    summary: 'Pauses the subscription: no calls and no fees until you resume it.',
    auth: 'manager',
    response: subscriptionChangeSchema,
    async handler({ service, clock }, { caller, params, signal }) {
      return changed(await service.pause(caller.account.id, params.id, { signal }), clock.now())
    }
  }),
  route({
    method: 'POST',
    path: '/v1/subscriptions/:id/resume',
    summary: 'Resumes a paused subscription, or withdraws a cancellation that has not taken effect.',
    auth: 'manager',
    response: subscriptionChangeSchema,
    async handler({ service, clock }, { caller, params, signal }) {
      return changed(await service.resume(caller.account.id, params.id, { signal }), clock.now())
    }
  }),
  route({
    method: 'POST',
    path: '/v1/subscriptions/:id/renew',
    summary: 'Pays for the next period once the last one has ended. Calls renew automatically.',
    auth: 'manager',
    response: subscriptionChangeSchema,
    async handler({ service, clock }, { caller, params, signal }) {
      return changed(await service.renew(caller.account.id, params.id, { signal }), clock.now())
    }
  })
] as const

const iso = (ms: number): string => new Date(ms).toISOString()

/** All times under `/v1` are ISO 8601. */
function shown(subscription: OwnSubscription, now: number) {
  const { created_at, period_start, period_end, quota, ...view } = subscriptionView(subscription, now)
  return {
    ...view,
    created_at: iso(created_at),
    period_start: iso(period_start),
    period_end: iso(period_end),
    quota: quota === null ? null : { ...quota, resets_at: iso(quota.resets_at) }
  }
}

function changed(change: SubscriptionChange, now: number) {
  return { ...changeView(change, now), subscription: shown(change.subscription, now) }
}
