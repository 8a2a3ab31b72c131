import { JSON_DEPTH_MAX } from '../../base/limits/call.ts'
import { OPERATIONS_MAX, TAGS_MAX } from '../../base/limits/names.ts'
import { PLANS_MAX } from '../../base/limits/plans.ts'
import { EXTRA_HEADERS_MAX } from '../../base/limits/upstream.ts'
import { bool, hex, list, optional, text, textAs, uint32, uint53, uint64 } from '../../base/wire/field.ts'
import { message, type MessageOf, nested } from '../../base/wire/message.ts'
import type { JsonSchema, Operation } from '../../interface/adapter.ts'
import type { ListingState, Manifest } from '../../interface/manifest.ts'
import { DEPRECATION, PLAN, RATE_LIMIT } from './plan-codec.ts'

export const OPERATION = message('Operation', '', {
  name: text(1),
  description: optional(text(2)),
  input: optional(text(3, 'A JSON Schema (draft 2020-12) as a JSON text: an object, nested at most 64 deep.')),
  output: optional(text(4, 'The same.'))
})
type OperationMessage = MessageOf<typeof OPERATION>

export const DESCRIPTION_ROOT = message(
  'DescriptionRoot',
  'Root of the documents that describe an API (docs/reference/protocol-directory.md).',
  {
    root: hex(1, 32, 'SHA-256, 32 bytes.'),
    documents: uint32(2, 'Leaves of the tree, at most 65,536.'),
    operations: uint32(3, 'At most 2,000.'),
    sdlParts: uint32(4, 'GraphQL only, at most 128.')
  }
)

export const SELF_REPORT = message(
  'SelfReport',
  `An owner's own statistics about its API, rounded in coarse steps. They are not verifiable: display them, and do not
  rank by them.`,
  {
    until: uint53(1, 'End of the measured time: at most issued_at.'),
    days: uint32(2, 'Length of that time, 1 to 31.'),
    calls: uint53(3, 'Lower bound of the number of calls, 1 to 10^12. Errors of the caller are not counted.'),
    goodPerMille: uint32(4, 'Lower bound of successful calls per thousand.'),
    p50Ms: optional(
      uint32(
        5,
        `Median time of successful calls from arrival to response head, 1 to 600,000 milliseconds. Absent without a
        successful call.`
      )
    ),
    p95Ms: optional(uint32(6, 'The 95th percentile of the same.'))
  }
)

export const MANIFEST_MESSAGE = message('Manifest', 'The signed description of an API. The provider key signs it.', {
  name: text(1, '[a-z0-9][a-z0-9-]{0,62}'),
  provider: text(2, 'Peer id of the key that signs this, base58btc.'),
  protocol: text(3, 'REST, SOAP or GraphQL.'),
  description: text(4, 'At most 2,000 UTF-16 code units, without control characters but tab and line ends.'),
  tags: list(text(5, 'At most 16, of 1 to 32 UTF-16 code units, none twice.'), TAGS_MAX),
  price: uint64(6, 'Price of one call in USDC atoms (10^-6 USDC), at most 10^15.'),
  currency: textAs<'USDC'>(7, 'USDC'),
  idempotent: bool(8, 'To repeat a call at another owner does no harm.'),
  operations: list(nested(OPERATION, 9, 'At most 2,000, no name twice.'), OPERATIONS_MAX),
  sdl: optional(text(10, 'GraphQL only: the schema in SDL.')),
  state: textAs<ListingState>(11, 'draft, published, paused, deprecated or retired.'),
  revision: uint53(12, '1 or more. It increases with every change.'),
  issuedAt: uint53(13),
  expiresAt: uint53(14, 'At most 30 days after issued_at.'),
  payout: optional(
    hex(15, 20, 'Address that receives the provider’s share, 20 bytes. Absent where the provider takes no money.')
  ),
  selfReport: nested(SELF_REPORT, 16),
  plans: list(nested(PLAN, 20, 'At most 16, no id twice.'), PLANS_MAX),
  subscriptionOnly: bool(
    21,
    'Callers need a subscription, and at least one plan is present. False: callers may pay per call.'
  ),
  major: optional(
    uint53(
      22,
      'Increases with breaking changes. A subscription is bound to one. At most 1,000. Absent: 1; else 2 or more.'
    )
  ),
  deprecation: nested(DEPRECATION, 23, 'Present since the listing was deprecated.'),
  rateLimit: nested(RATE_LIMIT, 30, 'Of each consumer, at each node that serves the API. Absent: none.'),
  eventPrice: optional(
    uint64(
      40,
      `REST and GraphQL: price of each event of a stream in USDC atoms, in addition to the price of the call that opens
      it.`
    )
  ),
  eventsIncluded: optional(uint32(41, 'Events that the opening call includes. Absent: all.')),
  requestHeaders: list(
    text(42, 'Further headers of a consumer’s request that the API receives, in lower case.'),
    EXTRA_HEADERS_MAX
  ),
  described: nested(
    DESCRIPTION_ROOT,
    43,
    'These documents describe the operations. Then operations has at most names, and sdl is absent.'
  )
})
type ManifestMessage = MessageOf<typeof MANIFEST_MESSAGE>

/** Deterministic: the same manifest always gives the same bytes. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const { api, events, plans = [], payPerCall, ...rest } = manifest
  const value: ManifestMessage = {
    ...rest,
    requestHeaders: api.requestHeaders ?? [],
    plans,
    subscriptionOnly: payPerCall === false,
    operations: api.operations.map(({ name, description, input, output }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      ...(input === undefined ? {} : { input: JSON.stringify(input) }),
      ...(output === undefined ? {} : { output: JSON.stringify(output) })
    })),
    ...(api.sdl === undefined ? {} : { sdl: api.sdl }),
    ...(api.described && { described: api.described }),
    ...(events && { eventPrice: events.price, eventsIncluded: events.included })
  }
  return MANIFEST_MESSAGE.encode(value)
}

/** Decodes the structure only; `checkManifest` checks the values. Throws any error of the decoder. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  return manifestIn(bytes, toOperation)
}

/** Decodes a manifest that was checked before. Its schemas are parsed at first use: a page of 100 listings shows none of them. */
export function decodeCheckedManifest(bytes: Uint8Array): Manifest {
  return manifestIn(bytes, toLazyOperation)
}

function manifestIn(bytes: Uint8Array, operationOf: (message: OperationMessage) => Operation): Manifest {
  const {
    operations,
    sdl,
    requestHeaders,
    described,
    eventPrice,
    eventsIncluded = 0,
    plans,
    subscriptionOnly,
    ...rest
  } = MANIFEST_MESSAGE.decode(bytes)
  return {
    ...rest,
    ...(eventPrice === undefined ? {} : { events: { price: eventPrice, included: eventsIncluded } }),
    ...(plans.length === 0 ? {} : { plans }),
    ...(subscriptionOnly ? { payPerCall: false } : {}),
    api: {
      operations: operations.map(operationOf),
      ...(sdl === undefined ? {} : { sdl }),
      ...(requestHeaders.length === 0 ? {} : { requestHeaders }),
      ...(described && { described })
    }
  }
}

function toOperation({ name, description, input, output }: OperationMessage): Operation {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(input === undefined ? {} : { input: parseSchema(input) }),
    ...(output === undefined ? {} : { output: parseSchema(output) })
  }
}

function toLazyOperation({ input, output, ...rest }: OperationMessage): Operation {
  for (const [name, text] of Object.entries({ input, output })) {
    if (text !== undefined) defineOnce(rest, name, () => parseSchema(text))
  }
  return rest
}

/** An ordinary property, except that its value is made when it is first read. */
function defineOnce(target: object, name: string, make: () => unknown): void {
  Object.defineProperty(target, name, {
    enumerable: true,
    configurable: true,
    get() {
      const value = make()
      Object.defineProperty(target, name, { enumerable: true, value })
      return value
    }
  })
}

function parseSchema(text: string): JsonSchema {
  const schema: unknown = JSON.parse(text)
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new TypeError('A JSON Schema must be an object.')
  }
  return schema as JsonSchema
}

/** Whether a JSON value nests at most `JSON_DEPTH_MAX` deep. Stops at that depth. */
export function isShallow(value: unknown, depthMax = JSON_DEPTH_MAX): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depthMax > 0 && Object.values(value).every((member) => isShallow(member, depthMax - 1))
}
