import type { z } from 'zod'
import type { SubscriptionTerms } from '../../lib/interface/index.ts'
import type { subscribeSchema, subscriptionTermsSchema } from '../admin/subscriptions/subscription-api.ts'
import { present } from '../present.ts'
import type { SubscribeRequest } from './subscription-service.ts'

/** Converts an HTTP request to the library’s terms. */

export function subscribeRequestOf(input: z.output<typeof subscribeSchema>): SubscribeRequest {
  const { api, plan, max_price, max_fee, daily_cap, trial } = input
  return { api, plan, maxPrice: max_price, ...present({ maxFee: max_fee, dailyCap: daily_cap, trial }) }
}

export function termsOf(input: z.output<typeof subscriptionTermsSchema>): SubscriptionTerms {
  const { plan, max_price, max_fee, daily_cap } = input
  return present({ plan, maxPrice: max_price, maxFee: max_fee, dailyCap: daily_cap })
}
