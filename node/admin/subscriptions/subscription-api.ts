import { z } from 'zod'
import { amount, list, view } from '../../http/schemas.ts'
import { rateLimitSchema, rateLimitViewSchema } from './rate-api.ts'
import { PERIODS } from '../../../lib/interface/index.ts'

/**
 * What the admin API takes and gives of plans and subscriptions; `/v1/subscriptions` of the ingress is the same. Amounts are decimal
 * USDC strings, times milliseconds since the epoch.
 */

const calls = z.int().min(1)

export const planSchema = z.strictObject({
  name: z.string().optional(),
  description: z.string().optional(),
  fee: amount.optional().describe('Per period, in advance. Default 0.'),
  period: z.enum(PERIODS).optional().describe('Default `month`.'),
  trial_days: z.int().min(0).optional(),
  included: z.int().min(0).optional().describe('Calls in a period. Default: any number.'),
  overage: z
    .array(z.strictObject({ up_to: calls.optional(), price: amount }))
    .optional()
    .describe('Prices of calls beyond those, in turn; the last may have no end. Default: there are none.'),
  rate_limit: rateLimitSchema.optional().describe("Of its calls. Default: the listing's."),
  in_flight_max: calls.optional().describe("Calls of one consumer under way at once. Default: the listing's.")
})
export type PlanInput = z.input<typeof planSchema>

/** `PATCH /apis/{name}`: what is absent stays. */
export const revisionSchema = z.strictObject({
  price: amount.optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  pay_per_call: z.boolean().optional().describe('Anybody may call and pay by the call.'),
  major: calls.optional().describe('Raised where callers have to change something.')
})
export type RevisionInput = z.input<typeof revisionSchema>

export const deprecationSchema = z.strictObject({
  sunset_at: z.int().optional().describe('Milliseconds since the epoch. Default: as soon as may be.'),
  successor: z.string().optional().describe('`name@provider` of what to call instead.'),
  link: z.string().optional().describe('`https:` URL of a page that says more.')
})

export const subscribeSchema = z.strictObject({
  api: z.string().describe('`name`, or `name@provider`.'),
  plan: z.string(),
  max_price: amount.describe('The dearest call.'),
  max_fee: amount.optional().describe("The dearest period. Default: the plan's fee now."),
  daily_cap: amount.optional().describe('In one day (UTC), fees included. Default: none.'),
  trial: z.boolean().optional().describe('Default true, where the plan has one.')
})
export type SubscribeInput = z.input<typeof subscribeSchema>

/** `PATCH /subscriptions/{id}`. What is absent stays. */
export const subscriptionTermsSchema = z.strictObject({
  plan: z.string().optional(),
  max_price: amount.optional(),
  max_fee: amount.optional(),
  daily_cap: amount.nullable().optional().describe('Null for none.')
})
export type SubscriptionTermsInput = z.input<typeof subscriptionTermsSchema>

export const cancelSchema = z.strictObject({
  now: z.enum(['true', 'false']).default('false').describe('At once, and not when the period ends.')
})

const tierViewSchema = view('TierView', {
  up_to: z.int().nullable().describe('Counted from the first call beyond those included; null: no end.'),
  price: z.string()
})

export const planViewSchema = view('PlanView', {
  id: z.string(),
  name: z.string(),
  description: z.string(),
  fee: z.string(),
  period: z.string(),
  trial_days: z.int(),
  included: z.int().nullable().describe('Calls in a period; null: any number.'),
  overage: list(tierViewSchema).describe('What calls cost beyond those. Empty: there are none.'),
  rate_limit: rateLimitViewSchema.nullable().describe("Of its calls; null: the listing's holds."),
  in_flight_max: z.int().nullable().describe("Of one consumer; null: the listing's holds."),
  closed: z.boolean().describe('Nobody can subscribe to it any more.')
})
export type PlanView = z.output<typeof planViewSchema>

export const deprecationViewSchema = view(
  'DeprecationView',
  {
    at: z.number(),
    sunset_at: z.number().describe('It may be retired then.'),
    successor: z.string().nullable().describe('`name@provider` of what to call instead.'),
    link: z.string().nullable()
  },
  'Notice that a listing ends.'
)
export type DeprecationView = z.output<typeof deprecationViewSchema>

export const listingTermsViewSchema = view(
  'ListingTermsView',
  {
    pay_per_call: z.boolean().describe('False: with a subscription only.'),
    major: z.int(),
    plans: list(planViewSchema).describe('Those that can be subscribed to.'),
    deprecation: deprecationViewSchema.nullable().describe('Null where it has not been deprecated.')
  },
  'By what terms a listing can be called.'
)
export type ListingTermsView = z.output<typeof listingTermsViewSchema>

export const plansViewSchema = view('PlansView', {
  plans: list(planViewSchema),
  pay_per_call: z.boolean()
})
export type PlansView = z.output<typeof plansViewSchema>

export const quotaViewSchema = view('QuotaView', {
  included: z.int().nullable(),
  used: z.int(),
  limit: z.int().nullable(),
  resets_at: z.number()
})
export type QuotaView = z.output<typeof quotaViewSchema>

export const subscriptionViewSchema = view(
  'SubscriptionView',
  {
    id: z.string(),
    api: z.string().describe('`name@provider`.'),
    plan: planViewSchema,
    state: z.string(),
    max_price: z.string(),
    max_fee: z.string(),
    daily_cap: z.string().nullable(),
    created_at: z.number(),
    period_start: z.number(),
    period_end: z.number(),
    next_plan: z.string().nullable().describe("Takes its plan's place when the period ends."),
    quota: quotaViewSchema.nullable().describe('As the owner said last.')
  },
  'A subscription of this node as a consumer, or of an account at its ingress.'
)
export type SubscriptionView = z.output<typeof subscriptionViewSchema>

export const subscriptionChangeViewSchema = view(
  'SubscriptionChangeView',
  {
    subscription: subscriptionViewSchema,
    charged: z.string(),
    request_id: z.string().nullable()
  },
  'A subscription after a change, and what the change cost.'
)
export type SubscriptionChangeView = z.output<typeof subscriptionChangeViewSchema>

export const subscribersSchema = z.strictObject({
  api: z.string().optional(),
  limit: z.coerce.number().int().min(1).optional(),
  cursor: z.string().optional()
})

export const subscriberViewSchema = view(
  'SubscriberView',
  {
    id: z.string(),
    api: z.string(),
    plan: z.string(),
    state: z.string(),
    peer: z.string(),
    account: z.string().nullable().describe('Whose it is there, by a pseudonym.'),
    created_at: z.number(),
    period_start: z.number(),
    period_end: z.number(),
    next_plan: z.string().nullable()
  },
  'A subscription that this node sold.'
)
export type SubscriberView = z.output<typeof subscriberViewSchema>

export const subscribersViewSchema = view('SubscribersView', {
  subscribers: list(subscriberViewSchema),
  next: z.string().nullable()
})
export type SubscribersView = z.output<typeof subscribersViewSchema>
