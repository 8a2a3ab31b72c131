import { z } from 'zod'
import { limits } from '../../lib/index.ts'
import type { CallTiming } from '../../lib/interface/index.ts'
import { PROTOCOL_NAMES } from '../../protocols/protocol-descriptors.ts'
import type { ProfileBackup } from '../profile/profile-backup.ts'
import { amount, list, view, viewWith } from '../http/schemas.ts'
import { limitsShape, rateLimitViewSchema } from './subscriptions/rate-api.ts'
import { listingTermsViewSchema } from './subscriptions/subscription-api.ts'
import { upstreamShape } from './apis/upstream-input.ts'

/**
 * What the admin API takes and gives, under `/admin/v1`. Amounts are decimal USDC strings, times milliseconds since the
 * epoch, names snake_case as in problem documents.
 */

const timeoutMs = z.int().min(1).max(limits.UPSTREAM_TIMEOUT_MS_MAX)

export const registerSchema = z.strictObject({
  name: z.string(),
  protocol: z.enum(PROTOCOL_NAMES),
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

export const replicaSchema = z.strictObject({ api: z.string(), ...upstreamShape })
export type ReplicaInput = z.input<typeof replicaSchema>

export const mappingSchema = z.strictObject({ mapping: z.json() })
export type MappingInput = z.input<typeof mappingSchema>

export const openAccountSchema = z.strictObject({ label: z.string().optional() })

export const callSchema = z.strictObject({
  api: z.string(),
  body: z.json(),
  method: z.string().optional(),
  path: z.string().optional(),
  stream: z.boolean().optional().describe('Asks for Server-Sent Events.'),
  timeout_ms: timeoutMs.optional(),
  max_price: amount.optional(),
  idempotency_key: z.string().optional()
})
export type CallInput = z.input<typeof callSchema>

export const backupSchema = z.strictObject({ directory: z.string().min(1).max(4096) })

export const sessionInputSchema = z.strictObject({ code: z.string().max(40) })

export const delegateSchema = z.strictObject({ peer: z.string() })

export const pinSchema = z.strictObject({ provider: z.string() })

export const storeViewSchema = view(
  'StoreView',
  {
    free_bytes: z
      .number()
      .nullable()
      .describe('Free space on the disk of its profile; null where the system does not say it.'),
    shared: z
      .enum(['connected', 'away'])
      .nullable()
      .describe('The database that it shares with other processes; null where there is none.'),
    refusal: z.string().nullable().describe('Code of the error by which new work is refused; null where it is taken.')
  },
  'What a node keeps its books in.'
)
export type StoreView = z.output<typeof storeViewSchema>

export const statusViewSchema = view('StatusView', {
  version: z.string(),
  profile: z.string(),
  peer: z.string(),
  provider: z.string(),
  network: z.string(),
  money: z.string(),
  admin: z.string(),
  ingress: z.string().nullable(),
  p2p: list(z.string()),
  peers: z.number(),
  alone: z.boolean(),
  till: z.string(),
  wallet: z
    .string()
    .nullable()
    .describe('The account that pays, and that sends transactions; null where the node moves no money.'),
  payout: z.string().nullable().describe('Where its own APIs are paid.'),
  listings: z.number(),
  serving: z.number(),
  calling: z.number(),
  uptime_ms: z.number(),
  store: storeViewSchema
})
export type StatusView = z.output<typeof statusViewSchema>

export const listingViewSchema = viewWith(
  listingTermsViewSchema,
  'ListingView',
  {
    id: z.string().describe('`name@provider`.'),
    name: z.string(),
    provider: z.string(),
    protocol: z.string(),
    description: z.string(),
    tags: list(z.string()),
    price: z.string(),
    price_per_event: z.string().nullable().describe('Of a stream; null where events cost nothing.'),
    events_included: z.number().nullable(),
    currency: z.literal('USDC'),
    idempotent: z.boolean(),
    rate_limit: rateLimitViewSchema.nullable().describe('Of each consumer; null for none.'),
    state: z.string(),
    revision: z.number(),
    operations: list(z.string())
  },
  'An API as anybody sees it.'
)
export type ListingView = z.output<typeof listingViewSchema>

export const apiViewSchema = viewWith(
  listingViewSchema,
  'ApiView',
  {
    own: z.boolean().describe("False where this node serves another provider's API."),
    endpoint: z.string(),
    method: z.string().nullable(),
    timeout_ms: z.number().nullable(),
    has_auth: z.boolean().describe('It is called with credentials, which are never shown.'),
    registered_at: z.number(),
    published: z
      .object({
        asked: z.number(),
        stored: z.number()
      })
      .nullable()
      .describe('Peers that took the last announcement; null before the first.'),
    in_flight: z.number(),
    calls: z.object({
      captured: z.number(),
      voided: z.number()
    }),
    metered: z.string().describe('What the captured calls are worth, and what was really charged.'),
    charged: z.string(),
    problem: z.string().nullable().describe('Why it is not served at the moment, where it should be.'),
    warnings: list(z.string()).describe('Rules of its description or mapping that calls are not checked against.')
  },
  'An API this node serves, as its provider sees it.'
)
export type ApiView = z.output<typeof apiViewSchema>

export const registeredViewSchema = view('RegisteredView', {
  api: apiViewSchema,
  updated: z.boolean().describe('The name was registered before: this is a new revision of it.'),
  warnings: list(z.string())
})
export type RegisteredView = z.output<typeof registeredViewSchema>

export const mappingViewSchema = view(
  'MappingView',
  {
    mapping: z.unknown(),
    schema: z.record(z.string(), z.unknown())
  },
  "A provider's changes to the JSON of an API, and the JSON Schema of such a document."
)

export const mappingCheckViewSchema = view(
  'MappingCheckView',
  {
    problems: list(
      z.object({
        at: z.string(),
        problem: z.string()
      })
    )
  },
  'What of a mapping does not fit: a JSON Pointer into it, and what is wrong there.'
)
export type MappingCheckView = z.output<typeof mappingCheckViewSchema>

export const sessionViewSchema = view('SessionView', {
  entered: z.boolean().describe('This browser was let in.')
})

export const setupCodeViewSchema = view(
  'SetupCodeView',
  {
    code: z.string(),
    expires_at: z.number().describe('Milliseconds since the epoch.')
  },
  'Lets one browser into the console, once.'
)
export type SetupCodeView = z.output<typeof setupCodeViewSchema>

export const accountViewSchema = view(
  'AccountView',
  {
    id: z.string(),
    label: z.string(),
    balance: z.string(),
    set_aside: z.string().describe('Of it, what processes have set aside to pay calls from.'),
    spent: z.string(),
    funding: z.string().nullable().describe('Where it was paid in from, and is paid back to.'),
    created_at: z.number()
  },
  'A prepaid account.'
)
export type AccountView = z.output<typeof accountViewSchema>

export const accountsViewSchema = view('AccountsView', {
  accounts: list(accountViewSchema),
  owed: z.string().describe('All balances together.')
})

export const openedAccountViewSchema = viewWith(
  accountViewSchema,
  'OpenedAccountView',
  {
    key: z.string(),
    key_id: z.string()
  },
  'The only time the key is shown.'
)

export const backupViewSchema = view(
  'ProfileBackup',
  {
    directory: z.string(),
    files: list(z.string()).describe('Names of the files in it.'),
    bytes: z.number()
  },
  'A directory that is a profile: the same files under the same names.'
) satisfies z.ZodType<ProfileBackup>

export const peerViewSchema = view('PeerView', {
  peer: z.string(),
  addresses: list(z.string())
})

export const delegationViewSchema = view('DelegationView', {
  peer: z.string(),
  provider: z.string(),
  expires_at: z.number()
})
export type DelegationView = z.output<typeof delegationViewSchema>

export const doctorCheckSchema = view('DoctorCheck', {
  name: z.string().describe('What was looked at, e.g. `upstream bb-sse-ticker`.'),
  result: z.enum(['ok', 'warn', 'fail']).describe('`warn`: works, and somebody should know.'),
  message: z.string(),
  hint: z.string().optional()
})
export type DoctorCheck = z.output<typeof doctorCheckSchema>

export const doctorViewSchema = view('DoctorView', {
  ok: z.boolean(),
  checks: list(doctorCheckSchema)
})
export type DoctorView = z.output<typeof doctorViewSchema>

export const callHeadSchema = view(
  'CallHead',
  {
    request_id: z.string(),
    api: z.string(),
    owner: z.string(),
    status: z.number(),
    headers: list(z.tuple([z.string(), z.string()]).readonly()),
    price: z.string(),
    charged: z.string(),
    ms: z.number().describe('Milliseconds: the whole, then where they went.'),
    timing: z
      .object({
        lookup: z.number().describe('Finding the API.'),
        pay: z
          .number()
          .describe('Promising the price: a signature now and then, and a deposit where a channel is opened.'),
        net: z.number().describe('On the way to the owner and back.'),
        owner: z.number().describe('At the owner, upstream not counted.'),
        upstream: z.number()
      })
      .describe('Milliseconds of each part.') satisfies z.ZodType<CallTiming>
  },
  "The response's head, told before its body."
)
export type CallHead = z.output<typeof callHeadSchema>

/**
 * `POST /call` answers in lines of JSON (`application/x-ndjson`), so that a stream shows as it comes: one head, any number of
 * data, then end or error. What fails before the head is a problem document.
 */
export const callEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('head'), ...callHeadSchema.shape }),
  z.object({ type: z.literal('data'), base64: z.string() }),
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('error'), problem: z.record(z.string(), z.unknown()) })
])
export type CallEvent = z.output<typeof callEventSchema>
