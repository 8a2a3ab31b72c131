import { z } from 'zod'
import { rateLimitSchema, type RateLimitView } from './rate-api.ts'
import { PERIODS } from '../../lib/interface/index.ts'

/**
 * What the admin API takes and gives of plans and subscriptions; `/v1/subscriptions` of the ingress is the same. Amounts are decimal
 * USDC strings, times milliseconds since the epoch.
 */

const amount = z.string().regex(/^\d+(\.\d{1,6})?$/, 'give a decimal number with at most six decimals, like 0.001')

const calls = z.int().min(1)

/** `PUT /apis/{name}/plans/{id}` */
export const planSchema = z.strictObject({
  name: z.string().optional(),
  description: z.string().optional(),
  /** Per period, in advance. Default 0. */
  fee: amount.optional(),
  /** Default `month`. */
  period: z.enum(PERIODS).optional(),
  trial_days: z.int().min(0).optional(),
  /** Calls in a period. Default: any number. */
  included: z.int().min(0).optional(),
  /** Prices of calls beyond those, in turn; the last may have no end. Default: there are none. */
  overage: z.array(z.strictObject({ up_to: calls.optional(), price: amount })).optional(),
  /** Of its calls. Default: the listing's. */
  rate_limit: rateLimitSchema.optional(),
  /** Calls of one consumer under way at once. Default: the listing's. */
  in_flight_max: calls.optional()
})
export type PlanInput = z.input<typeof planSchema>

/** `PATCH /apis/{name}`: what is absent stays. */
export const revisionSchema = z.strictObject({
  price: amount.optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  /** Anybody may call and pay by the call. */
  pay_per_call: z.boolean().optional(),
  /** Raised where callers have to change something. */
  major: calls.optional()
})
export type RevisionInput = z.input<typeof revisionSchema>

/** `POST /apis/{name}/deprecate` */
export const deprecationSchema = z.strictObject({
  /** Milliseconds since the epoch. Default: as soon as may be. */
  sunset_at: z.int().optional(),
  /** `name@provider` of what to call instead. */
  successor: z.string().optional(),
  /** `https:` URL of a page that says more. */
  link: z.string().optional()
})
export type DeprecationInput = z.input<typeof deprecationSchema>

/** `POST /subscriptions` */
export const subscribeSchema = z.strictObject({
  /** `name`, or `name@provider`. */
  api: z.string(),
  plan: z.string(),
  /** The dearest call. */
  max_price: amount,
  /** The dearest period. Default: the plan's fee now. */
  max_fee: amount.optional(),
  /** In one day (UTC), fees included. Default: none. */
  daily_cap: amount.optional(),
  /** Default true, where the plan has one. */
  trial: z.boolean().optional()
})
export type SubscribeInput = z.input<typeof subscribeSchema>

/** `PATCH /subscriptions/{id}`. What is absent stays. */
export const subscriptionTermsSchema = z.strictObject({
  plan: z.string().optional(),
  max_price: amount.optional(),
  max_fee: amount.optional(),
  /** Null for none. */
  daily_cap: amount.nullable().optional()
})
export type SubscriptionTermsInput = z.input<typeof subscriptionTermsSchema>

/** `DELETE /subscriptions/{id}` */
export const cancelSchema = z.strictObject({
  /** At once, and not when the period ends. */
  now: z.enum(['true', 'false']).default('false')
})

export interface TierView {
  /** Counted from the first call beyond those included; null: no end. */
  readonly up_to: number | null
  readonly price: string
}

export interface PlanView {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly fee: string
  readonly period: string
  readonly trial_days: number
  /** Calls in a period; null: any number. */
  readonly included: number | null
  /** What calls cost beyond those. Empty: there are none. */
  readonly overage: readonly TierView[]
  /** Of its calls; null: the listing's holds. */
  readonly rate_limit: RateLimitView | null
  /** Of one consumer; null: the listing's holds. */
  readonly in_flight_max: number | null
  /** Nobody can subscribe to it any more. */
  readonly closed: boolean
}

/** Notice that a listing ends. */
export interface DeprecationView {
  readonly at: number
  /** It may be retired then. */
  readonly sunset_at: number
  /** `name@provider` of what to call instead. */
  readonly successor: string | null
  readonly link: string | null
}

/** By what terms a listing can be called. */
export interface ListingTermsView {
  /** False: with a subscription only. */
  readonly pay_per_call: boolean
  readonly major: number
  /** Those that can be subscribed to. */
  readonly plans: readonly PlanView[]
  /** Null where it has not been deprecated. */
  readonly deprecation: DeprecationView | null
}

/** `GET /apis/{name}/plans` */
export interface PlansView {
  readonly plans: readonly PlanView[]
  readonly pay_per_call: boolean
}

export interface QuotaView {
  readonly included: number | null
  readonly used: number
  readonly limit: number | null
  readonly resets_at: number
}

/** A subscription of this node as a consumer, or of an account at its ingress. */
export interface SubscriptionView {
  readonly id: string
  /** `name@provider`. */
  readonly api: string
  readonly plan: PlanView
  readonly state: string
  readonly max_price: string
  readonly max_fee: string
  readonly daily_cap: string | null
  readonly created_at: number
  readonly period_start: number
  readonly period_end: number
  /** Takes its plan's place when the period ends. */
  readonly next_plan: string | null
  /** As the owner said last. */
  readonly quota: QuotaView | null
}

/** A subscription after a change, and what the change cost. */
export interface SubscriptionChangeView {
  readonly subscription: SubscriptionView
  readonly charged: string
  readonly request_id: string | null
}

/** `GET /subscribers` */
export const subscribersSchema = z.strictObject({
  api: z.string().optional(),
  limit: z.coerce.number().int().min(1).optional(),
  cursor: z.string().optional()
})
export type SubscribersInput = z.input<typeof subscribersSchema>

/** A subscription that this node sold. */
export interface SubscriberView {
  readonly id: string
  readonly api: string
  readonly plan: string
  readonly state: string
  readonly peer: string
  /** Whose it is there, by a pseudonym. */
  readonly account: string | null
  readonly created_at: number
  readonly period_start: number
  readonly period_end: number
  readonly next_plan: string | null
}

export interface SubscribersView {
  readonly subscribers: readonly SubscriberView[]
  readonly next: string | null
}
