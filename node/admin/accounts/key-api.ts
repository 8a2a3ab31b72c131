import { z } from 'zod'
import { limits } from '../../../lib/index.ts'
import { amount, list, view, viewWith } from '../../http/schemas.ts'
import { rateLimitSchema, rateLimitViewSchema } from '../subscriptions/rate-api.ts'

/** What the admin API takes and gives of consumer keys; as in `api.ts`. */

/** Milliseconds since the epoch. */
const expiresAt = z.int()

export const issueKeySchema = z.strictObject({
  label: z.string().optional(),
  expires_at: expiresAt.optional().describe('Default: never.'),
  max_price: amount.optional().describe('The dearest call, and all calls of a day (UTC). Defaults 0.05 and 1.'),
  daily_cap: amount.optional(),
  apis: z
    .array(z.string())
    .optional()
    .describe('All that it may call, `name@provider` or a bare name. Default: anything.'),
  account: z
    .string()
    .optional()
    .describe('The prepaid account that pays, and whether the key also manages it. Default: the operator pays.'),
  manages: z.boolean().optional(),
  rate_limit: rateLimitSchema.optional().describe('Of its calls, at each process of an ingress. Default: none.')
})
export type IssueKeyInput = z.input<typeof issueKeySchema>

export const rotateKeySchema = z.strictObject({
  overlap_ms: z
    .int()
    .min(0)
    .max(limits.KEY_OVERLAP_MS_MAX)
    .optional()
    .describe('How long the old key goes on working. Default: a day.'),
  expires_at: expiresAt.optional().describe('Of the new one. Default: it lives as long as the old one was to live.')
})
export type RotateKeyInput = z.input<typeof rotateKeySchema>

export const keyViewSchema = view(
  'KeyView',
  {
    id: z.string(),
    lineage: z
      .string()
      .describe(
        'The first of the keys that followed each other by rotation: caps are counted for all of them together.'
      ),
    replaces: z.string().nullable(),
    successor: z.string().nullable(),
    label: z.string(),
    hint: z.string().describe('Enough to recognise it by.'),
    state: z.string(),
    apis: list(z.string()).nullable().describe('All that it may call; null for anything.'),
    account: z.string().nullable().describe("Whose balance pays; null for the operator's own wallet."),
    manages: z.boolean().describe('It also manages its account.'),
    max_price: z.string().describe('The dearest call, and all calls of a day (UTC).'),
    daily_cap: z.string(),
    rate_limit: rateLimitViewSchema.nullable().describe('Null for none.'),
    created_at: z.number(),
    expires_at: z.number().nullable(),
    retires_at: z.number().nullable().describe('When the overlap of a rotated key ends.'),
    disabled_at: z.number().nullable(),
    revoked_at: z.number().nullable(),
    last_used_at: z.number().nullable()
  },
  'A consumer key; never the key itself.'
)
export type KeyView = z.output<typeof keyViewSchema>

export const keysViewSchema = view(
  'KeysView',
  {
    keys: list(keyViewSchema),
    demo: z
      .object({
        key: z.string(),
        apis: list(z.string()),
        daily_cap: z.string()
      })
      .nullable()
  },
  '`demo` is shown to everybody, and not among the others.'
)
export type KeysView = z.output<typeof keysViewSchema>

export const issuedKeyViewSchema = viewWith(
  keyViewSchema,
  'IssuedKeyView',
  {
    key: z.string()
  },
  'The only time the key itself is shown.'
)
export type IssuedKeyView = z.output<typeof issuedKeyViewSchema>
