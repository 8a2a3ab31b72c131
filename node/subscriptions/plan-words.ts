import type { ListingTermsView, PlanView } from '../admin/subscriptions/subscription-api.ts'

/** A plan in words, without its name: `5 USDC a month, 10000 calls included, then 0.0004 USDC each`. */
export function planWords({ fee, period, trial_days, included, overage }: PlanView): string {
  const isFree = fee === '0'
  const cost = isFree ? 'free' : `${fee} USDC a ${period}`
  const count = `${included} ${included === 1 ? 'call' : 'calls'} ${isFree ? `a ${period}` : 'included'}`
  const calls = included === null ? 'any number of calls' : count
  const beyond = overage.map(({ up_to, price }) => {
    return `then ${price} USDC each${up_to === null ? '' : ` for up to ${up_to} in all`}`
  })
  const trial = trial_days === 0 ? [] : [`first ${trial_days} days free`]
  return [cost, calls, ...beyond, ...trial].join(', ')
}

/** An API’s terms besides its price, with a line per plan. Of the provider’s own texts, this shows only ids, which are safe. */
export function termsLines({ plans, pay_per_call, deprecation }: ListingTermsView): string[] {
  return [
    ...(pay_per_call ? [] : ['It requires a subscription.']),
    ...plans.map((plan) => `Plan ${plan.id}: ${planWords(plan)}.`),
    ...(deprecation === null ? [] : [`Deprecated: it may end on ${new Date(deprecation.sunset_at).toISOString()}.`])
  ]
}
