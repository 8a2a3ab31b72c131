import { z } from 'zod'
import { amount, list, view } from '../../http/schemas.ts'
import { rateLimitSchema, rateLimitViewSchema } from './rate-api.ts'
import { PERIODS } from '../../../lib/interface/index.ts'

/**
 * Inputs and responses of plans and subscriptions, in the admin API and in `/v1/subscriptions` of the ingress. Amounts are decimal
 * USDC strings, times milliseconds since the epoch.
 */

const calls = z.int().min(1)

/** Null is the default, so that a change can restore it. */
export const planSchema = z.strictObject({
  name: z.string().nullable().optional().describe('Default: the id.'),
  description: z.string().optional(),
  fee: amount.optional().describe('Per period, in advance. Default 0.'),
  period: z.enum(PERIODS).optional().describe('Default `month`.'),
  trial_days: z.int().min(0).optional(),
  included: z.int().min(0).nullable().optional().describe('Included calls per period. Default: null, no limit.'),
  overage: z
    .array(z.strictObject({ up_to: calls.optional(), price: amount }))
    .optional()
    .describe(
      'Price tiers of calls above `included`. Only the last tier may omit `up_to`. Default: such calls are refused.'
    ),
  rate_limit: rateLimitSchema.nullable().optional().describe("Rate limit of the plan. Default: null, the listing's."),
  in_flight_max: calls.nullable().optional().describe("Concurrent calls of one consumer. Default: null, the listing's.")
})
export type PlanInput = z.input<typeof planSchema>

/** `PATCH /apis/{name}`. Absent members keep their values. */
export const revisionSchema = z.strictObject({
  price: amount.optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  pay_per_call: z.boolean().optional().describe('Consumers may call without a subscription and pay per call.'),
  major: calls.optional().describe('Major version. Raise it for changes that break callers.')
})
export type RevisionInput = z.input<typeof revisionSchema>

export const deprecationSchema = z.strictObject({
  sunset_at: z.int().optional().describe('Milliseconds since the epoch. Default: the earliest allowed time.'),
  successor: z.string().optional().describe('`name@provider` of the replacement.'),
  link: z.string().optional().describe('`https:` URL of a page with details.')
})

export const subscribeSchema = z.strictObject({
  api: z.string().describe('`name`, or `name@provider`.'),
  plan: z.string(),
  max_price: amount.describe('Highest price of a call.'),
  max_fee: amount.optional().describe("Highest fee of a period. Default: the plan's current fee."),
  daily_cap: amount.optional().describe('Limit of one day (UTC), fees included. Default: none.'),
  trial: z.boolean().optional().describe('Use the trial of the plan, if any. Default true.')
})
export type SubscribeInput = z.input<typeof subscribeSchema>

/** `PATCH /subscriptions/{id}`. Absent members keep their values. */
export const subscriptionTermsSchema = z.strictObject({
  plan: z.string().optional(),
  max_price: amount.optional(),
  max_fee: amount.optional(),
  daily_cap: amount.nullable().optional().describe('Null: no cap.')
})
export type SubscriptionTermsInput = z.input<typeof subscriptionTermsSchema>

export const cancelSchema = z.strictObject({
  now: z.enum(['true', 'false']).default('false').describe('Cancel at once instead of at the end of the period.')
})

const tierViewSchema = view('TierView', {
  up_to: z
    .int()
    .nullable()
    .describe('Last call of the tier, counted from the first call above `included`; null: no end.'),
  price: z.string()
})

export const planViewSchema = view('PlanView', {
  id: z.string(),
  name: z.string(),
  description: z.string(),
  fee: z.string(),
  period: z.string(),
  trial_days: z.int(),
  included: z.int().nullable().describe('Included calls per period; null: no limit.'),
  overage: list(tierViewSchema).describe('Price tiers of calls above `included`. Empty: such calls are refused.'),
  rate_limit: rateLimitViewSchema.nullable().describe("Rate limit of the plan; null: the listing's."),
  in_flight_max: z.int().nullable().describe("Concurrent calls of one consumer; null: the listing's."),
  closed: z.boolean().describe('True if the plan accepts no new subscribers.')
})
export type PlanView = z.output<typeof planViewSchema>

export const deprecationViewSchema = view(
  'DeprecationView',
  {
    at: z.number(),
    sunset_at: z.number().describe('The API may be retired from this time on.'),
    successor: z.string().nullable().describe('`name@provider` of the replacement.'),
    link: z.string().nullable()
  },
  'Deprecation of a listing.'
)
export type DeprecationView = z.output<typeof deprecationViewSchema>

export const listingTermsViewSchema = view(
  'ListingTermsView',
  {
    pay_per_call: z.boolean().describe('False: calls need a subscription.'),
    major: z.int(),
    plans: list(planViewSchema).describe('Plans open to new subscribers.'),
    deprecation: deprecationViewSchema.nullable().describe('Null if the listing is not deprecated.')
  },
  'Terms of a listing.'
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
    next_plan: z.string().nullable().describe('Plan that replaces the current one when the period ends.'),
    quota: quotaViewSchema.nullable().describe('Quota as last reported by the owner.')
  },
  'A subscription of this node, or of an account at its ingress.'
)
export type SubscriptionView = z.output<typeof subscriptionViewSchema>

export const subscriptionChangeViewSchema = view(
  'SubscriptionChangeView',
  {
    subscription: subscriptionViewSchema,
    charged: z.string(),
    request_id: z.string().nullable()
  },
  'A subscription after a change, and the cost of the change.'
)
export type SubscriptionChangeView = z.output<typeof subscriptionChangeViewSchema>

export const subscribersSchema = z.strictObject({
  api: z.string().optional(),
  limit: z.coerce.number().int().min(1).optional(),
  cursor: z
    .string()
    .regex(/^[\da-f-]{36}$/, 'use the cursor of an earlier page')
    .optional()
})

export const subscriberViewSchema = view(
  'SubscriberView',
  {
    id: z.string(),
    api: z.string(),
    plan: z.string(),
    state: z.string(),
    peer: z.string(),
    account: z.string().nullable().describe('Pseudonym of the account at the consumer node.'),
    created_at: z.number(),
    period_start: z.number(),
    period_end: z.number(),
    next_plan: z.string().nullable()
  },
  'A subscription sold by this node.'
)
export type SubscriberView = z.output<typeof subscriberViewSchema>

export const subscribersViewSchema = view('SubscribersView', {
  subscribers: list(subscriberViewSchema),
  next: z.string().nullable()
})
export type SubscribersView = z.output<typeof subscribersViewSchema>
