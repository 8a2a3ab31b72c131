import type { z } from 'zod'
import { parseApiRef, SoukError } from '../../../lib/index.ts'
import type { ApiId, ListingInit, PlanInit } from '../../../lib/interface/index.ts'
import { planView } from '../../subscriptions/view.ts'
import { shownApi } from '../apis/api-routes.ts'
import { apiViewSchema } from '../api.ts'
import { present } from '../../present.ts'
import { rateLimitOf } from './rate-api.ts'
import { type AdminContext, route } from '../route.ts'
import { deprecationSchema, planSchema, type PlansView, plansViewSchema, revisionSchema } from './subscription-api.ts'

/** Terms of the APIs served here: price, plans and deprecation. These routes send no request to the upstream. */
export const termsRoutes = [
  route({
    method: 'PATCH',
    path: '/apis/:name',
    summary: 'Changes price and other terms. Absent members keep their values.',
    body: revisionSchema,
    response: apiViewSchema,
    async handler(context, { params: { name }, body: { pay_per_call: payPerCall, ...rest } }) {
      const { registrations } = context
      await registrations.revise(name, (terms) => ({ ...terms, ...present({ ...rest, payPerCall }) }))
      return shownApi(context, registrations.show(name))
    }
  }),
  route({
    method: 'POST',
    path: '/apis/:name/deprecate',
    summary: 'Announces the end of an API.',
    body: deprecationSchema,
    response: apiViewSchema,
    async handler(context, { params, body: { sunset_at: sunsetAt, successor, link } }) {
      const notice = present({ sunsetAt, link, successor: successor === undefined ? undefined : idOf(successor) })
      return shownApi(context, await context.registrations.move(params.name, 'deprecated', notice))
    }
  }),
  route({
    method: 'POST',
    path: '/apis/:name/retire',
    summary: 'Ends an API for good, after its sunset.',
    response: apiViewSchema,
    async handler(context, { params }) {
      return shownApi(context, await context.registrations.move(params.name, 'retired'))
    }
  })
] as const

export const planRoutes = [
  route({
    method: 'GET',
    path: '/apis/:name/plans',
    summary: 'Plans of an API served here.',
    response: plansViewSchema,
    handler: (context, { params }) => plansOf(context, params.name)
  }),
  route({
    method: 'PUT',
    path: '/apis/:name/plans/:plan',
    summary: 'Adds a plan, or replaces it.',
    body: planSchema,
    response: plansViewSchema,
    async handler(context, { params: { name, plan: id }, body }) {
      const plan = changed({ id }, body)
      await context.registrations.revise(name, (terms) => withPlans(terms, [...otherPlans(terms, id), plan]))
      return plansOf(context, name)
    }
  }),
  route({
    method: 'PATCH',
    path: '/apis/:name/plans/:plan',
    summary: 'Changes a plan. Absent members keep their values.',
    body: planSchema,
    response: plansViewSchema,
    async handler(context, { params: { name, plan: id }, body }) {
      await context.registrations.revise(name, (terms) => {
        const before = terms.plans?.find((plan) => plan.id === id)
        if (before === undefined) throw noPlan(name, id)
        return withPlans(terms, [...otherPlans(terms, id), changed(before, body)])
      })
      return plansOf(context, name)
    }
  }),
  route({
    method: 'DELETE',
    path: '/apis/:name/plans/:plan',
    summary: 'Closes a plan to new subscribers.',
    response: plansViewSchema,
    async handler(context, { params: { name, plan: id } }) {
      await context.registrations.revise(name, (terms) => {
        const left = otherPlans(terms, id)
        if (left.length === (terms.plans ?? []).length) throw noPlan(name, id)
        return withPlans(terms, left)
      })
      return plansOf(context, name)
    }
  })
] as const

function plansOf({ registrations, clock }: AdminContext, name: string): PlansView {
  const manifest = registrations.show(name).listing?.signed.manifest
  const plans = manifest?.plans ?? []
  return { plans: plans.map((plan) => planView(plan, clock.now())), pay_per_call: manifest?.payPerCall ?? true }
}

function changed(before: PlanInit, input: z.output<typeof planSchema>): PlanInit {
  const { trial_days: trialDays, overage, rate_limit, in_flight_max: inFlightMax, ...rest } = input
  const tiers = overage?.map(({ up_to: upTo, price }) => present({ upTo, price }))
  const rateLimit = rate_limit && rateLimitOf(rate_limit)
  const all = { ...before, ...present({ ...rest, trialDays, overage: tiers, inFlightMax, rateLimit }) }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as unknown as PlanInit
}

function noPlan(name: string, id: string): SoukError {
  return new SoukError('invalid_request', `${name} has no plan "${id.slice(0, 80)}".`)
}

function otherPlans({ plans = [] }: ListingInit, id: string): readonly PlanInit[] {
  return plans.filter((plan) => plan.id !== id)
}

function withPlans({ plans: _, ...terms }: ListingInit, plans: readonly PlanInit[]): ListingInit {
  return plans.length === 0 ? terms : { ...terms, plans }
}

/** @throws SoukError `invalid_request` */
function idOf(api: string): ApiId {
  const { name, provider } = parseApiRef(api)
  if (provider === undefined)
    throw new SoukError('invalid_request', 'The successor has no provider. Give name@provider.')
  return `${name}@${provider}`
}
