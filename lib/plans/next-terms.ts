import { TERMS_KEPT_MS } from '../base/limits/plans.ts'
import type { Manifest } from '../interface/manifest.ts'
import type { Plan } from '../interface/plan.ts'
import type { Subscription } from '../interface/subscription.ts'

/** A plan that accepts new subscribers. */
export function openPlan({ plans = [] }: Pick<Manifest, 'plans'>, id: string): Plan | undefined {
  return plans.find((plan) => plan.id === id && plan.closedAt === undefined)
}

/**
 * The terms of the next period. Both sides compute them from the signed manifest. The subscriber keeps its own terms
 * for `TERMS_KEPT_MS` after the provider changed or closed the plan. Afterwards the current plan applies, or none where
 * it is gone.
 */
export function nextTerms(
  { plan, nextPlan }: Pick<Subscription, 'plan' | 'nextPlan'>,
  manifest: Pick<Manifest, 'plans'>,
  now: number
): Plan | undefined {
  const wanted = nextPlan === undefined ? undefined : openPlan(manifest, nextPlan)
  if (wanted !== undefined) return wanted
  const current = manifest.plans?.find(({ id }) => id === plan.id)
  if (current === undefined) return undefined
  const { closedAt, since } = current
  if (closedAt !== undefined) return now < closedAt + TERMS_KEPT_MS ? plan : undefined
  return since !== plan.since && now < since + TERMS_KEPT_MS ? plan : current
}
