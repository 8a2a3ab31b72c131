import { z } from 'zod'
import { isApiName, limits } from '../../lib/index.ts'
import type { CallTiming } from '../../lib/interface/index.ts'
import { PROTOCOL_NAMES } from '../../protocols/protocol-descriptors.ts'
import type { ProfileBackup } from '../profile/profile-backup.ts'
import { accountShape } from '../accounts/account-view.ts'
import { amount, list, peerId, view, viewWith } from '../http/schemas.ts'
import { callBody } from './call-body.ts'
import { nextPage } from './page.ts'
import { limitsShape, rateLimitViewSchema } from './subscriptions/rate-api.ts'
import { listingTermsViewSchema } from './subscriptions/subscription-api.ts'
import { upstreamShape } from './apis/upstream-input.ts'

/**
 * Inputs and responses of the admin API, under `/admin/v1`. Amounts are decimal USDC strings, times milliseconds since the
 * epoch, names snake_case as in problem documents.
 */

const timeoutMs = z.int().min(1).max(limits.UPSTREAM_TIMEOUT_MS_MAX)

export const registerSchema = z.strictObject({
  name: z
    .string()
    .refine(isApiName, `use a-z, 0-9 and "-", at most ${limits.API_NAME_CHARS_MAX} characters, first one not "-"`),
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
  replace: z.boolean().default(false).describe('The registration may change an API of the same name.'),
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
  body: callBody,
  method: z.string().optional(),
  path: z.string().optional(),
  stream: z.boolean().optional().describe('Requests Server-Sent Events.'),
  timeout_ms: timeoutMs.optional(),
  max_price: amount.optional(),
  idempotency_key: z.string().optional()
})
export type CallInput = z.input<typeof callSchema>

export const backupSchema = z.strictObject({ directory: z.string().min(1).max(4096) })

export const sessionInputSchema = z.strictObject({ code: z.string().max(40) })

export const delegateSchema = z.strictObject({ peer: peerId })

export const pinSchema = z.strictObject({ provider: peerId })

export const storeViewSchema = view(
  'StoreView',
  {
    free_bytes: z
      .number()
      .nullable()
      .describe("Free space on the profile's disk; null if the system does not report it."),
    shared: z
      .enum(['connected', 'away'])
      .nullable()
      .describe('State of the database that several processes share; null without one.'),
    refusal: z.string().nullable().describe('Error code of refused calls; null while the node accepts calls.')
  },
  'Storage of the node.'
)
export type StoreView = z.output<typeof storeViewSchema>

const reachabilityViewSchema = view(
  'ReachabilityView',
  {
    state: z.enum(['direct', 'relayed', 'private', 'none']),
    text: z.string().describe('The same in words.'),
    hint: z.string().nullable().describe('How to make the node easier to reach; null where nothing has to be done.'),
    addresses: list(z.string()).describe('Multiaddrs that peers dial.'),
    confirmed: z.boolean().describe('A peer has dialled the node at one of its addresses.'),
    relays: list(z.string()).describe('Peer ids of the relays in use.'),
    clock_ahead_ms: z
      .number()
      .nullable()
      .describe(
        "How far the machine's clock is ahead of its peers', negative if behind, 0 within five minutes; null if unknown."
      )
  },
  'How peers reach the node.'
)

export const statusViewSchema = view('StatusView', {
  version: z.string(),
  profile: z.string(),
  peer: z.string(),
  provider: z.string(),
  network: z.string(),
  restart_needed: z
    .string()
    .nullable()
    .describe(
      'Why the node must be restarted: its program was replaced, or a newer network file changes what it read at its start.'
    ),
  money: z.string(),
  admin: z.string(),
  ingress: z.string().nullable(),
  p2p: list(z.string()),
  reachability: reachabilityViewSchema,
  peers: z.number(),
  alone: z.boolean(),
  till: z
    .string()
    .describe('The payment scheme: `channel`, `metered` (calls are only counted), or `free` without a wallet.'),
  wallet: z.string().nullable().describe('Account that pays and sends transactions; null without a wallet.'),
  chain: z
    .string()
    .nullable()
    .describe('`connected`, or why the chain cannot be used; the node retries. Null if the node moves no money.'),
  payout: z.string().nullable().describe('Payout address of its own APIs.'),
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
    price_per_event: z.string().nullable().describe('Price of each event in a stream; null if events are free.'),
    events_included: z.number().nullable(),
    currency: z.literal('USDC'),
    idempotent: z.boolean(),
    rate_limit: rateLimitViewSchema.nullable().describe('Limit of each consumer; null for none.'),
    state: z.string(),
    revision: z.number(),
    operations: list(z.string()).describe('Names, or none if there are too many.'),
    operation_count: z.int()
  },
  'Public data of an API.'
)
export type ListingView = z.output<typeof listingViewSchema>

export const apiViewSchema = viewWith(
  listingViewSchema,
  'ApiView',
  {
    own: z.boolean().describe("False if the API is another provider's, served here too."),
    endpoint: z.string(),
    method: z.string().nullable(),
    timeout_ms: z.number().nullable(),
    has_auth: z.boolean().describe('True if the node has credentials for the upstream. They are never shown.'),
    registered_at: z.number(),
    published: z
      .object({
        asked: z.number(),
        stored: z.number()
      })
      .nullable()
      .describe('Peers that accepted the last announcement; null before the first.'),
    reach: z.string().describe('How consumers reach it, in words.'),
    in_flight: z.number(),
    calls: z.object({
      captured: z.number(),
      voided: z.number()
    }),
    metered: z.string().describe('`metered`: price of all successful calls. `charged`: amount actually charged.'),
    charged: z.string(),
    problem: z.string().nullable().describe('Why the API is not served, although it should be.'),
    warnings: list(z.string()).describe('Rules of the description or mapping that the node does not enforce.')
  },
  'An API served here, with the data only its provider sees.'
)
export type ApiView = z.output<typeof apiViewSchema>

export const registeredViewSchema = view('RegisteredView', {
  api: apiViewSchema,
  updated: z.boolean().describe('True if the name was registered before, so that this is a new revision.'),
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
  'Errors in a mapping. `at` is a JSON Pointer into the mapping.'
)
export type MappingCheckView = z.output<typeof mappingCheckViewSchema>

export const sessionViewSchema = view('SessionView', {
  entered: z.boolean().describe('True if this browser is signed in.'),
  profile: z.string().describe('Profile of this node, for the commands that the console shows.')
})

export const setupCodeViewSchema = view(
  'SetupCodeView',
  {
    code: z.string(),
    expires_at: z.number().describe('Milliseconds since the epoch.')
  },
  'A code that signs one browser in to the console. It works once.'
)
export type SetupCodeView = z.output<typeof setupCodeViewSchema>

export const accountViewSchema = view(
  'AccountView',
  {
    ...accountShape,
    created_at: z.number()
  },
  'A prepaid account.'
)
export type AccountView = z.output<typeof accountViewSchema>

export const accountsViewSchema = view('AccountsView', {
  accounts: list(accountViewSchema).describe('Newest first.'),
  next: nextPage,
  owed: z.string().describe('Sum of the balances of all accounts.')
})

export const openedAccountViewSchema = viewWith(
  accountViewSchema,
  'OpenedAccountView',
  {
    key: z.string(),
    key_id: z.string()
  },
  'Only this response shows the key.'
)

export const backupViewSchema = view(
  'ProfileBackup',
  {
    directory: z.string(),
    files: list(z.string()).describe('Names of its files.'),
    bytes: z.number()
  },
  'A backup directory. It is a complete profile with the same file names.'
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
  name: z.string().describe('Subject of the check, such as `upstream bb-sse-ticker`.'),
  result: z.enum(['ok', 'warn', 'fail']).describe('`warn`: works, but needs attention.'),
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
    ms: z.number().describe('Total time in milliseconds.'),
    timing: z
      .object({
        lookup: z.number().describe('Lookup of the API.'),
        pay: z.number().describe('Payment: sometimes a signature, and a deposit when a channel is opened.'),
        net: z.number().describe('Network time to the owner and back.'),
        owner: z.number().describe('Time at the owner, without the upstream.'),
        upstream: z.number()
      })
      .describe('Milliseconds of each part.') satisfies z.ZodType<CallTiming>,
    has_errors_only: z
      .boolean()
      .describe('The body is a GraphQL result with errors and no data. The status is then often 200.')
  },
  'Head of the response, sent before its body.'
)
export type CallHead = z.output<typeof callHeadSchema>

/**
 * `POST /call` responds with lines of JSON (`application/x-ndjson`), so that clients see a stream as it arrives: one head, any
 * number of data lines, then end or error. A failure before the head returns a problem document.
 */
export const callEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('head'), ...callHeadSchema.shape }),
  z.object({ type: z.literal('data'), base64: z.string() }),
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('error'), problem: z.record(z.string(), z.unknown()) })
])
export type CallEvent = z.output<typeof callEventSchema>
