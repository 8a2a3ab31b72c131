import { z } from 'zod'
import { limits } from '../../../lib/index.ts'
import { amount, list, view, viewWith } from '../../http/schemas.ts'
import { keyShape } from '../../keys/key-view.ts'
import { nextPage } from '../page.ts'
import { rateLimitSchema, rateLimitViewSchema } from '../subscriptions/rate-api.ts'

/** Inputs and responses of the consumer key routes. `api.ts` states the units. */

/** Milliseconds since the epoch. */
const expiresAt = z.int()

export const issueKeySchema = z.strictObject({
  label: z.string().optional(),
  expires_at: expiresAt.optional().describe('Default: never.'),
  max_price: amount
    .optional()
    .describe('`max_price`: limit of one call, default 0.05. `daily_cap`: limit of one day (UTC), default 1.'),
  daily_cap: amount.optional(),
  apis: z
    .array(z.string())
    .optional()
    .describe('APIs that the key may call, `name@provider` or a bare name. Default: all.'),
  account: z
    .string()
    .optional()
    .describe(
      '`account`: the prepaid account that pays; by default the operator pays. `manages`: the key may manage this account.'
    ),
  manages: z.boolean().optional(),
  rate_limit: rateLimitSchema.optional().describe('Counted by each ingress process on its own. Default: none.')
})
export type IssueKeyInput = z.input<typeof issueKeySchema>

export const rotateKeySchema = z.strictObject({
  overlap_ms: z
    .int()
    .min(0)
    .max(limits.KEY_OVERLAP_MS_MAX)
    .optional()
    .describe('How long the old key stays valid. Default: one day.'),
  expires_at: expiresAt.optional().describe('Expiry of the new key. Default: the same lifetime as the old key.')
})
export type RotateKeyInput = z.input<typeof rotateKeySchema>

export const keyViewSchema = view(
  'KeyView',
  {
    ...keyShape,
    account: z.string().nullable().describe('Account that pays; null if the operator pays.'),
    rate_limit: rateLimitViewSchema.nullable().describe('Null for none.'),
    created_at: z.number(),
    expires_at: z.number().nullable(),
    retires_at: z.number().nullable().describe('When a rotated key expires.'),
    disabled_at: z.number().nullable(),
    revoked_at: z.number().nullable(),
    last_used_at: z.number().nullable()
  },
  'Data of a consumer key, without the key itself. `max_price` limits one call, `daily_cap` one day (UTC).'
)
export type KeyView = z.output<typeof keyViewSchema>

export const keysViewSchema = view(
  'KeysView',
  {
    keys: list(keyViewSchema),
    next: nextPage,
    demo: z
      .object({
        key: z.string(),
        apis: list(z.string()),
        daily_cap: z.string()
      })
      .nullable()
  },
  'Newest first. `demo` is the public demo key. It is not in `keys`.'
)

export const issuedKeyViewSchema = viewWith(
  keyViewSchema,
  'IssuedKeyView',
  {
    key: z.string()
  },
  'Only this response shows the key itself.'
)
export type IssuedKeyView = z.output<typeof issuedKeyViewSchema>
