import { z } from 'zod'
import { planViewSchema, subscriptionViewSchema } from '../admin/subscriptions/subscription-api.ts'
import { rateLimitViewSchema } from '../admin/subscriptions/rate-api.ts'
import { accountShape } from '../accounts/account-view.ts'
import { list, moment, usdc, view, viewWith } from '../http/schemas.ts'
import { keyShape } from '../keys/key-view.ts'
import { reputationViewSchema } from '../reputation-view.ts'

/** Response schemas of the ingress. Amounts are decimal USDC strings, times RFC 3339. */

/** For an object whose schema another standard defines. */
export const anyObject = z.record(z.string(), z.unknown())
const currency = z.literal('USDC')

/** One page of a list. */
export function page<T extends z.ZodType>(items: T) {
  return z.object({ data: list(items), next_cursor: z.string().nullable() })
}

const planSchema = view('Plan', {
  ...planViewSchema.shape,
  fee: usdc,
  overage: list(z.object({ up_to: z.int().nullable(), price: usdc }))
})

export const subscriptionSchema = view('Subscription', {
  ...subscriptionViewSchema.shape,
  plan: planSchema,
  max_price: usdc,
  max_fee: usdc,
  created_at: moment,
  period_start: moment,
  period_end: moment,
  quota: z
    .object({
      included: z.int().nullable(),
      used: z.int(),
      limit: z.int().nullable(),
      resets_at: moment
    })
    .nullable()
})

export const subscriptionChangeSchema = z.object({
  subscription: subscriptionSchema,
  charged: usdc,
  request_id: z.string().nullable()
})

const listing = {
  id: z.string().describe('`name@provider`.'),
  name: z.string(),
  provider: z.string(),
  protocol: z.string(),
  description: z.string(),
  tags: list(z.string()),
  price: usdc,
  price_per_event: usdc.optional(),
  events_included: z.int().optional(),
  currency,
  state: z.string(),
  revision: z.int(),
  rate_limit: rateLimitViewSchema.optional(),
  pay_per_call: z.boolean()
}

export const operationSummarySchema = view('OperationSummary', {
  name: z.string(),
  summary: z.string().optional()
})

export const apiSummarySchema = view('ApiSummary', {
  ...listing,
  cheapest_plan: z.object({ id: z.string(), fee: usdc, period: z.string() }).nullable(),
  operations: list(z.string()).describe('Names, or none if there are too many. See `operation_count`.'),
  operation_count: z.int(),
  matching_operations: list(operationSummarySchema).describe(
    'Operations that contain all words of the search, the best ones first.'
  ),
  ...reputationViewSchema.shape
})

export const operationSchema = view('Operation', {
  name: z.string(),
  description: z.string().optional(),
  input: anyObject.optional().describe('JSON Schema (draft 2020-12) of the request.'),
  output: anyObject.optional().describe('JSON Schema of the response.')
})

export const apiSchema = view('Api', {
  ...listing,
  major: z.int(),
  plans: list(planSchema),
  deprecation: z
    .object({ at: moment, sunset_at: moment, successor: z.string().nullable(), link: z.string().nullable() })
    .nullable(),
  idempotent: z.boolean(),
  issued_at: moment,
  expires_at: moment,
  operations: list(operationSchema).describe(
    'All operations with their schemas. Of an API with a large description: the first ones, without schemas. See `operation_count` and ' +
      '`/v1/apis/{id}/operations`.'
  ),
  operation_count: z.int(),
  sdl: z.string().optional().describe('The schema of a small GraphQL API. See `/v1/apis/{id}/schema.graphql`.'),
  ...reputationViewSchema.shape
})

export const accountSchema = view('Account', {
  ...accountShape,
  currency,
  created_at: moment,
  key_id: z.string(),
  key_hint: z.string(),
  max_price: usdc,
  daily_cap: usdc,
  manages: z.boolean()
})

const shownOnce = { key: z.string().describe('Shown only in this response.') }

export const openedAccountSchema = viewWith(accountSchema, 'OpenedAccount', shownOnce)

export const keySchema = view('Key', {
  ...keyShape,
  created_at: moment.nullable(),
  expires_at: moment.nullable(),
  retires_at: moment.nullable(),
  disabled_at: moment.nullable(),
  revoked_at: moment.nullable(),
  last_used_at: moment.nullable()
})

export const issuedKeySchema = viewWith(keySchema, 'IssuedKey', shownOnce)

export const entrySchema = view('Entry', { kind: z.string(), reference: z.string(), at: moment, amount: usdc })

export const receiptSchema = view('Receipt', {
  request_id: z.string(),
  at: moment,
  charged: usdc,
  api: z.string().nullable(),
  owner: z.string().nullable(),
  status: z.int().nullable(),
  signature: z.string().nullable(),
  proof: z.string().nullable()
})

export const withdrawalSchema = view('Withdrawal', {
  id: z.string(),
  state: z.enum(['pending', 'sent', 'done', 'failed']),
  amount: usdc,
  fee: usdc,
  receives: usdc,
  to: z.string(),
  at: moment,
  transaction: z.string().nullable()
})
