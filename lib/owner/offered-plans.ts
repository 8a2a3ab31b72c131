import { isDeepStrictEqual } from 'node:util'
import { SoukError } from '../base/errors.ts'
import { TERMS_KEPT_MS } from '../base/limits/plans.ts'
import { parseUsdc } from '../base/money.ts'
import type { Manifest } from '../interface/manifest.ts'
import type { Plan, PlanInit } from '../interface/plan.ts'
import type { ListingInit } from '../interface/souk.ts'

type PlanTerms = Pick<Manifest, 'plans' | 'payPerCall' | 'major'>

/**
 * The plans in the manifest. A plan with changed terms takes effect at `now`. A plan that was left out is closed, and
 * stays while its subscribers may keep it. @throws SoukError `invalid_request`
 */
export function offeredPlans(
  { plans = [], payPerCall = true, major = 1 }: ListingInit,
  last: PlanTerms,
  now: number
): PlanTerms {
  if (major < (last.major ?? 1)) {
    throw new SoukError('invalid_request', `The major version cannot decrease. It is ${last.major} now.`)
  }
  const offered = plans.map((init) => since(planOf(init, now), last.plans, now))
  const closed = (last.plans ?? [])
    .filter(({ id }) => !offered.some((plan) => plan.id === id))
    .map((plan) => ({ ...plan, closedAt: plan.closedAt ?? now }))
    .filter(({ closedAt }) => now - closedAt < TERMS_KEPT_MS)
  const all = [...offered, ...closed]
  if (!payPerCall && offered.length === 0) {
    throw new SoukError('invalid_request', 'A listing without pay-per-call needs at least one plan.')
  }
  return {
    ...(all.length === 0 ? {} : { plans: all }),
    ...(payPerCall ? {} : { payPerCall: false }),
    ...(major === 1 ? {} : { major })
  }
}

function planOf(init: PlanInit, now: number): Plan {
  const { id, name = id, description, fee = '0', period = 'month', trialDays = 0, included, overage = [] } = init
  const { rateLimit, inFlightMax } = init
  return {
    id,
    name,
    ...(description === undefined ? {} : { description }),
    fee: parseUsdc(fee),
    period,
    trialDays,
    ...(included === undefined ? {} : { included }),
    overage: overage.map(({ upTo, price }) => ({ ...(upTo === undefined ? {} : { upTo }), price: parseUsdc(price) })),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(inFlightMax === undefined ? {} : { inFlightMax }),
    since: now
  }
}

/** Texts may change at any time. Any other change makes the terms new. */
function since(plan: Plan, last: readonly Plan[] = [], now: number): Plan {
  const before = last.find(({ id, closedAt }) => id === plan.id && closedAt === undefined)
  return before !== undefined && sameTerms(before, plan) ? { ...plan, since: before.since } : { ...plan, since: now }
}

function sameTerms(a: Plan, b: Plan): boolean {
  const terms = ({ id: _, name: __, description: ___, since: ____, closedAt: _____, ...rest }: Plan) => rest
  return isDeepStrictEqual(terms(a), terms(b))
}
