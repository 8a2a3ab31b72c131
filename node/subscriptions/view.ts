import { formatUsdc } from '../../lib/index.ts'
import type { OwnSubscription, Plan, Quota, Subscription, SubscriptionChange } from '../../lib/interface/index.ts'
import { rateLimitView } from '../admin/subscriptions/rate-api.ts'
import type {
  PlanView,
  QuotaView,
  SubscriberView,
  SubscriptionChangeView,
  SubscriptionView
} from '../admin/subscriptions/subscription-api.ts'

/** Views of plans and subscriptions, the same in all interfaces. */

export function planView(plan: Plan, now: number): PlanView {
  return {
    id: plan.id,
    name: plan.name,
    description: plan.description ?? '',
    fee: formatUsdc(plan.fee),
    period: plan.period,
    trial_days: plan.trialDays,
    included: plan.included ?? null,
    overage: plan.overage.map(({ upTo, price }) => ({ up_to: upTo ?? null, price: formatUsdc(price) })),
    rate_limit: rateLimitView(plan.rateLimit),
    in_flight_max: plan.inFlightMax ?? null,
    closed: plan.closedAt !== undefined && plan.closedAt <= now
  }
}

export function subscriptionView(subscription: OwnSubscription, now: number): SubscriptionView {
  const { maxPrice, maxFee, dailyCap, quota } = subscription
  return {
    id: subscription.id,
    api: subscription.api,
    plan: planView(subscription.plan, now),
    state: subscription.state,
    max_price: formatUsdc(maxPrice),
    max_fee: formatUsdc(maxFee),
    daily_cap: dailyCap === undefined ? null : formatUsdc(dailyCap),
    created_at: subscription.createdAt,
    period_start: subscription.periodStart,
    period_end: subscription.periodEnd,
    next_plan: nextPlanOf(subscription),
    quota: quota === undefined ? null : quotaView(quota)
  }
}

/** A subscription that ends has no next plan, unless its holder revokes the cancellation. */
function nextPlanOf({ state, nextPlan }: Pick<Subscription, 'state' | 'nextPlan'>): string | null {
  return state === 'canceling' || state === 'canceled' ? null : (nextPlan ?? null)
}

export function changeView(change: SubscriptionChange, now: number): SubscriptionChangeView {
  return {
    subscription: subscriptionView(change.subscription, now),
    charged: formatUsdc(change.charged),
    request_id: change.requestId ?? null
  }
}

export function subscriberView(sold: Subscription): SubscriberView {
  return {
    id: sold.id,
    api: sold.api,
    plan: sold.plan.id,
    state: sold.state,
    peer: sold.peer,
    account: sold.account ?? null,
    created_at: sold.createdAt,
    period_start: sold.periodStart,
    period_end: sold.periodEnd,
    next_plan: nextPlanOf(sold)
  }
}

function quotaView({ included, used, limit, resetsAt }: Quota): QuotaView {
  return { included: included ?? null, used, limit: limit ?? null, resets_at: resetsAt }
}
