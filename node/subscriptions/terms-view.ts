import type { Manifest, Plan } from '../../lib/interface/index.ts'
import type { DeprecationView, ListingTermsView, PlanView } from '../admin/subscriptions/subscription-api.ts'
import { planView } from './view.ts'

type Terms = Pick<Manifest, 'plans' | 'payPerCall' | 'major' | 'deprecation'>

const DAYS = { day: 1, week: 7, month: 30, year: 365 } as const

/** The terms for new calls of an API, as all interfaces show them. Omits closed plans. */
export function termsView(manifest: Terms, now: number): ListingTermsView {
  const { payPerCall = true, major = 1, deprecation } = manifest
  return {
    pay_per_call: payPerCall,
    major,
    plans: openPlans(manifest, now).map((plan) => planView(plan, now)),
    deprecation: deprecation === undefined ? null : deprecationView(deprecation)
  }
}

/** The plan with the lowest fee per day; null if there is none. */
export function cheapestPlan(manifest: Terms, now: number): Pick<PlanView, 'id' | 'fee' | 'period'> | null {
  const [first, ...others] = openPlans(manifest, now)
  if (first === undefined) return null
  const isCheaper = (a: Plan, b: Plan) => a.fee * BigInt(DAYS[b.period]) < b.fee * BigInt(DAYS[a.period])
  const { id, fee, period } = planView(
    others.reduce((best, plan) => (isCheaper(plan, best) ? plan : best), first),
    now
  )
  return { id, fee, period }
}

function openPlans({ plans = [] }: Terms, now: number): readonly Plan[] {
  return plans.filter(({ closedAt = Infinity }) => now < closedAt)
}

function deprecationView({ at, sunsetAt, successor, link }: NonNullable<Manifest['deprecation']>): DeprecationView {
  return { at, sunset_at: sunsetAt, successor: successor ?? null, link: link ?? null }
}
