import { z } from 'zod'
import { limits } from '../../lib/index.ts'
import { amount } from './api.ts'
import { rateLimitSchema, type RateLimitView } from './rate-api.ts'

/** What the admin API takes and gives of consumer keys; as in `api.ts`. */

/** Milliseconds since the epoch. */
const expiresAt = z.int()

/** `POST /keys` */
export const issueKeySchema = z.strictObject({
  label: z.string().optional(),
  /** Default: never. */
  expires_at: expiresAt.optional(),
  /** The dearest call, and all calls of a day (UTC). Defaults 0.05 and 1. */
  max_price: amount.optional(),
  daily_cap: amount.optional(),
  /** All that it may call, `name@provider` or a bare name. Default: anything. */
  apis: z.array(z.string()).optional(),
  /** The prepaid account that pays, and whether the key also manages it. Default: the house pays. */
  account: z.string().optional(),
  manages: z.boolean().optional(),
  /** Of its calls, at each process of an ingress. Default: none. */
  rate_limit: rateLimitSchema.optional()
})
export type IssueKeyInput = z.input<typeof issueKeySchema>

/** `POST /keys/{id}/rotate` */
export const rotateKeySchema = z.strictObject({
  /** How long the old key goes on working. Default: a day. */
  overlap_ms: z.int().min(0).max(limits.KEY_OVERLAP_MS_MAX).optional(),
  /** Of the new one. Default: it lives as long as the old one was to live. */
  expires_at: expiresAt.optional()
})
export type RotateKeyInput = z.input<typeof rotateKeySchema>

/** A consumer key; never the key itself. */
export interface KeyView {
  readonly id: string
  /** The first of the keys that followed each other by rotation: caps are counted for all of them together. */
  readonly lineage: string
  readonly replaces: string | null
  readonly successor: string | null
  readonly label: string
  /** Enough to recognise it by. */
  readonly hint: string
  readonly state: string
  /** All that it may call; null for anything. */
  readonly apis: readonly string[] | null
  /** Whose balance pays; null for the house's own wallet. */
  readonly account: string | null
  /** It also manages its account. */
  readonly manages: boolean
  /** The dearest call, and all calls of a day (UTC). */
  readonly max_price: string
  readonly daily_cap: string
  /** Null for none. */
  readonly rate_limit: RateLimitView | null
  readonly created_at: number
  readonly expires_at: number | null
  /** When the overlap of a rotated key ends. */
  readonly retires_at: number | null
  readonly disabled_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
}

/** `GET /keys`. `demo` is shown to everybody, and not among the others. */
export interface KeysView {
  readonly keys: readonly KeyView[]
  readonly demo: { readonly key: string; readonly apis: readonly string[]; readonly daily_cap: string } | null
}

/** The only time the key itself is shown. */
export interface IssuedKeyView extends KeyView {
  readonly key: string
}
