import { z } from 'zod'
import { limits } from '../../lib/index.ts'
import { type CallTiming, PROTOCOLS } from '../../lib/interface/index.ts'
import { limitsShape, type RateLimitView } from './rate-api.ts'
import type { ListingTermsView } from './subscription-api.ts'
import { upstreamShape } from './upstream-input.ts'

/**
 * What the admin API takes and gives, under `/admin/v1`. Amounts are decimal USDC strings, times milliseconds since the
 * epoch, names snake_case as in problem documents.
 */

const timeoutMs = z.int().min(1).max(limits.UPSTREAM_TIMEOUT_MS_MAX)
export const amount = z
  .string()
  .regex(/^\d+(\.\d{1,6})?$/, 'give a decimal number with at most six decimals, like 0.001')

/** `POST /apis` */
export const registerSchema = z.strictObject({
  name: z.string(),
  protocol: z.enum(PROTOCOLS),
  price: amount,
  price_per_event: amount.optional(),
  events_included: z.int().min(0).optional(),
  currency: z.literal('USDC').default('USDC'),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  idempotent: z.boolean().optional(),
  request_bytes_max: z.int().min(1).optional(),
  forward_paths: z.boolean().optional(),
  ...limitsShape,
  ...upstreamShape
})
export type RegisterInput = z.input<typeof registerSchema>

/** `POST /replicas` */
export const replicaSchema = z.strictObject({ api: z.string(), ...upstreamShape })
export type ReplicaInput = z.input<typeof replicaSchema>

/** `PUT /apis/{name}/mapping`, and `POST /apis/{name}/mapping/check` */
export const mappingSchema = z.strictObject({ mapping: z.json() })
export type MappingInput = z.input<typeof mappingSchema>

/** `POST /accounts` */
export const openAccountSchema = z.strictObject({ label: z.string().optional() })
export type OpenAccountInput = z.input<typeof openAccountSchema>

/** `POST /call` */
export const callSchema = z.strictObject({
  api: z.string(),
  body: z.json(),
  method: z.string().optional(),
  path: z.string().optional(),
  /** Asks for Server-Sent Events. */
  stream: z.boolean().optional(),
  timeout_ms: timeoutMs.optional(),
  max_price: amount.optional(),
  idempotency_key: z.string().optional()
})
export type CallInput = z.input<typeof callSchema>

/** `POST /session` */
export const sessionInputSchema = z.strictObject({ code: z.string().max(40) })

/** `POST /delegations` */
export const delegateSchema = z.strictObject({ peer: z.string() })

/** `PUT /pins/{name}` */
export const pinSchema = z.strictObject({ provider: z.string() })

export interface StatusView {
  readonly version: string
  readonly profile: string
  readonly peer: string
  readonly provider: string
  readonly network: string
  readonly money: string
  readonly admin: string
  readonly ingress: string | null
  readonly p2p: readonly string[]
  readonly peers: number
  readonly alone: boolean
  readonly till: string
  /** The account that pays, and that sends transactions; null where the node moves no money. */
  readonly wallet: string | null
  /** Where its own APIs are paid. */
  readonly payout: string | null
  readonly listings: number
  readonly serving: number
  readonly calling: number
  readonly uptime_ms: number
  readonly store: StoreView
}

/** What a node keeps its books in. */
export interface StoreView {
  /** Free space on the disk of its profile; null where the system does not say it. */
  readonly free_bytes: number | null
  /** The database that it shares with other processes; null where there is none. */
  readonly shared: 'connected' | 'away' | null
  /** Code of the error by which new work is refused; null where it is taken. */
  readonly refusal: string | null
}

/** An API as anybody sees it. */
export interface ListingView extends ListingTermsView {
  /** `name@provider`. */
  readonly id: string
  readonly name: string
  readonly provider: string
  readonly protocol: string
  readonly description: string
  readonly tags: readonly string[]
  readonly price: string
  /** Of a stream; null where events cost nothing. */
  readonly price_per_event: string | null
  readonly events_included: number | null
  readonly currency: 'USDC'
  readonly idempotent: boolean
  /** Of each consumer; null for none. */
  readonly rate_limit: RateLimitView | null
  readonly state: string
  readonly revision: number
  readonly operations: readonly string[]
}

/** An API this node serves, as its provider sees it. */
export interface ApiView extends ListingView {
  /** False where this node serves another provider's API. */
  readonly own: boolean
  readonly endpoint: string
  readonly method: string | null
  readonly timeout_ms: number | null
  /** It is called with credentials, which are never shown. */
  readonly has_auth: boolean
  readonly registered_at: number
  /** Peers that took the last announcement; null before the first. */
  readonly published: { readonly asked: number; readonly stored: number } | null
  readonly in_flight: number
  readonly calls: { readonly captured: number; readonly voided: number }
  /** What the captured calls are worth, and what was really charged. */
  readonly metered: string
  readonly charged: string
  /** Why it is not served at the moment, where it should be. */
  readonly problem: string | null
}

export interface RegisteredView {
  readonly api: ApiView
  /** The name was registered before: this is a new revision of it. */
  readonly updated: boolean
  readonly warnings: readonly string[]
}

/** A provider's changes to the JSON of an API, and the JSON Schema of such a document. */
export interface MappingView {
  readonly mapping: unknown
  readonly schema: { readonly [keyword: string]: unknown }
}

/** What of a mapping does not fit: a JSON Pointer into it, and what is wrong there. */
export interface MappingCheckView {
  readonly problems: ReadonlyArray<{ readonly at: string; readonly problem: string }>
}

/** `GET /session` */
export interface SessionView {
  /** This browser was let in. */
  readonly entered: boolean
}

/** Lets one browser into the console, once. */
export interface SetupCodeView {
  readonly code: string
  /** Milliseconds since the epoch. */
  readonly expires_at: number
}

/** A prepaid account. */
export interface AccountView {
  readonly id: string
  readonly label: string
  readonly balance: string
  /** Of it, what processes have set aside to pay calls from. */
  readonly set_aside: string
  readonly spent: string
  /** Where it was paid in from, and is paid back to. */
  readonly funding: string | null
  readonly created_at: number
}

export interface AccountsView {
  readonly accounts: readonly AccountView[]
  /** All balances together. */
  readonly owed: string
}

/** The only time the key is shown. */
export interface OpenedAccountView extends AccountView {
  readonly key: string
  readonly key_id: string
}

export interface PeerView {
  readonly peer: string
  readonly addresses: readonly string[]
}

export interface DelegationView {
  readonly peer: string
  readonly provider: string
  readonly expires_at: number
}

export interface DoctorCheck {
  /** What was looked at, e.g. `upstream bb-sse-ticker`. */
  readonly name: string
  /** `warn`: works, and somebody should know. */
  readonly result: 'ok' | 'warn' | 'fail'
  readonly message: string
  readonly hint?: string
}

export interface DoctorView {
  readonly ok: boolean
  readonly checks: readonly DoctorCheck[]
}

/** The answer's head, told before its body. */
export interface CallHead {
  readonly request_id: string
  readonly api: string
  readonly owner: string
  readonly status: number
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly price: string
  readonly charged: string
  /** Milliseconds: the whole, then where they went. */
  readonly ms: number
  readonly timing: CallTiming
}

/**
 * `POST /call` answers in lines of JSON (`application/x-ndjson`), so that a stream shows as it comes: one head, any number of
 * data, then end or error. What fails before the head is a problem document.
 */
export type CallEvent =
  | ({ readonly type: 'head' } & CallHead)
  | { readonly type: 'data'; readonly base64: string }
  | { readonly type: 'end' }
  | { readonly type: 'error'; readonly problem: { readonly [member: string]: unknown } }
