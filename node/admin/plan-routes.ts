import type { FastifyInstance } from 'fastify'
import { parseApiRef, SoukError } from '../../lib/index.ts'
import type { ApiId, ListingInit, PlanInit } from '../../lib/interface/index.ts'
import type { RegistrationStatus } from '../registrations/registration.ts'
import { planView } from '../subscriptions/view.ts'
import type { AdminInit } from './admin-init.ts'
import type { ApiView } from './api.ts'
import { present } from './present.ts'
import { parse } from './problems.ts'
import { deprecationSchema, planSchema, type PlansView, revisionSchema } from './subscription-api.ts'
import { rateLimitOf } from './rate-api.ts'
import { apiView } from './views.ts'

interface Named {
  readonly Params: { readonly name: string }
}

interface PlanNamed {
  readonly Params: { readonly name: string; readonly plan: string }
}

/** The terms of what this node serves: price, plans, and notice that it ends. Nothing of it asks the API's own server. */
export function planRoutes(app: FastifyInstance, { souk, registrations, clock }: AdminInit): void {
  const view = async (status: RegistrationStatus): Promise<ApiView> =>
    apiView(status, { usage: await souk.store.calls.usage(), self: souk.status().provider, now: clock.now() })
  const plansOf = (name: string): PlansView => {
    const manifest = registrations.show(name).listing?.signed.manifest
    const plans = manifest?.plans ?? []
    return {
      plans: plans.map((plan) => planView(plan, clock.now())),
      pay_per_call: manifest?.payPerCall ?? true
    }
  }

  app.patch<Named>('/apis/:name', async (request): Promise<ApiView> => {
    const { name } = request.params
    const { pay_per_call: payPerCall, ...rest } = parse(revisionSchema, request.body)
    await registrations.revise(name, (terms) => ({ ...terms, ...present({ ...rest, payPerCall }) }))
    return view(registrations.show(name))
  })

  app.get<Named>('/apis/:name/plans', (request): PlansView => plansOf(request.params.name))

  app.put<PlanNamed>('/apis/:name/plans/:plan', async (request): Promise<PlansView> => {
    const { name, plan: id } = request.params
    const {
      trial_days: trialDays,
      overage,
      rate_limit,
      in_flight_max: inFlightMax,
      ...rest
    } = parse(planSchema, request.body)
    const tiers = overage?.map(({ up_to: upTo, price }) => present({ upTo, price }))
    const plan: PlanInit = {
      id,
      ...present({ ...rest, trialDays, overage: tiers, inFlightMax, rateLimit: rate_limit && rateLimitOf(rate_limit) })
    }
    await registrations.revise(name, (terms) => withPlans(terms, [...otherPlans(terms, id), plan]))
    return plansOf(name)
  })

  app.delete<PlanNamed>('/apis/:name/plans/:plan', async (request): Promise<PlansView> => {
    const { name, plan: id } = request.params
    await registrations.revise(name, (terms) => {
      const left = otherPlans(terms, id)
      if (left.length === (terms.plans ?? []).length) {
        throw new SoukError('invalid_request', `${name} has no plan "${id.slice(0, 80)}".`)
      }
      return withPlans(terms, left)
    })
    return plansOf(name)
  })

  app.post<Named>('/apis/:name/deprecate', async (request): Promise<ApiView> => {
    const { sunset_at: sunsetAt, successor, link } = parse(deprecationSchema, request.body)
    const notice = present({ sunsetAt, link, successor: successor === undefined ? undefined : idOf(successor) })
    return view(await registrations.move(request.params.name, 'deprecated', notice))
  })

  app.post<Named>('/apis/:name/retire', async (request): Promise<ApiView> => {
    return view(await registrations.move(request.params.name, 'retired'))
  })
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
  if (provider === undefined) throw new SoukError('invalid_request', 'A successor is named as name@provider.')
  return `${name}@${provider}`
}
