import { decodeMessage, encodeMessage } from 'protons-runtime'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import type { RateLimit } from '../../base/gcra.ts'
import { toHex } from '../../base/hex.ts'
import { JSON_DEPTH_MAX } from '../../base/limits/call.ts'
import { OPERATIONS_MAX, TAGS_MAX } from '../../base/limits/names.ts'
import { PLANS_MAX } from '../../base/limits/plans.ts'
import { EXTRA_HEADERS_MAX } from '../../base/limits/upstream.ts'
import type { JsonSchema, Operation } from '../../interface/adapter.ts'
import type { Deprecation, ListingState, Manifest, SelfReport } from '../../interface/manifest.ts'
import type { Plan } from '../../interface/plan.ts'
import {
  append,
  bytesTag,
  codec,
  readSafeInteger,
  varintTag,
  writeBytes,
  writeInteger,
  writeText
} from '../../base/wire.ts'
import { deprecationCodec, planCodec } from './plan-codec.ts'
import { rateLimitCodec } from './rate-limit-codec.ts'
import { selfReportCodec } from './self-report-codec.ts'

/**
 * `souk.Manifest` and `souk.Operation` of `docs/reference/souk-directory.proto`. JSON Schemas are encoded as JSON
 * texts.
 */

interface OperationMessage {
  name: string
  description?: string
  input?: string
  output?: string
}

const operationCodec = codec<OperationMessage>({
  start: () => ({ name: '' }),
  write(value, writer) {
    writeText(writer, 1, value.name)
    // Explicit presence: an empty value is written, an absent one is not.
    if (value.description !== undefined) writer.uint32(bytesTag(2)).string(value.description)
    if (value.input !== undefined) writer.uint32(bytesTag(3)).string(value.input)
    if (value.output !== undefined) writer.uint32(bytesTag(4)).string(value.output)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.name = reader.string()
    else if (tag === bytesTag(2)) value.description = reader.string()
    else if (tag === bytesTag(3)) value.input = reader.string()
    else if (tag === bytesTag(4)) value.output = reader.string()
    else return false
    return true
  }
})

interface DescribedMessage {
  root: Uint8Array
  documents: number
  operations: number
  sdlParts: number
}

/** `souk.DescriptionRoot`. */
const describedCodec = codec<DescribedMessage>({
  start: () => ({ root: EMPTY_BYTES, documents: 0, operations: 0, sdlParts: 0 }),
  write(value, writer) {
    writeBytes(writer, 1, value.root)
    writeInteger(writer, 2, value.documents)
    writeInteger(writer, 3, value.operations)
    writeInteger(writer, 4, value.sdlParts)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.root = reader.bytes()
    else if (tag === varintTag(2)) value.documents = readSafeInteger(reader)
    else if (tag === varintTag(3)) value.operations = readSafeInteger(reader)
    else if (tag === varintTag(4)) value.sdlParts = readSafeInteger(reader)
    else return false
    return true
  }
})

interface ManifestMessage {
  name: string
  provider: string
  protocol: string
  description: string
  tags: string[]
  price: bigint
  currency: string
  idempotent: boolean
  operations: OperationMessage[]
  sdl?: string
  state: string
  revision: number
  issuedAt: number
  expiresAt: number
  payout?: Uint8Array
  selfReport?: SelfReport
  rateLimit?: RateLimit
  plans: Plan[]
  subscriptionOnly: boolean
  major?: number
  deprecation?: Deprecation
  eventPrice?: bigint
  eventsIncluded?: number
  requestHeaders: string[]
  described?: DescribedMessage
}

const manifestCodec = codec<ManifestMessage>({
  start: () => ({
    name: '',
    provider: '',
    protocol: '',
    description: '',
    tags: [],
    price: 0n,
    currency: '',
    idempotent: false,
    operations: [],
    requestHeaders: [],
    state: '',
    revision: 0,
    issuedAt: 0,
    expiresAt: 0,
    plans: [],
    subscriptionOnly: false
  }),
  write(value, writer) {
    writeText(writer, 1, value.name)
    writeText(writer, 2, value.provider)
    writeText(writer, 3, value.protocol)
    writeText(writer, 4, value.description)
    for (const tag of value.tags) writer.uint32(bytesTag(5)).string(tag)
    writeInteger(writer, 6, value.price)
    writeText(writer, 7, value.currency)
    if (value.idempotent) writer.uint32(varintTag(8)).bool(true)
    for (const operation of value.operations) {
      writer.uint32(bytesTag(9))
      operationCodec.encode(operation, writer)
    }
    if (value.sdl !== undefined) writer.uint32(bytesTag(10)).string(value.sdl)
    writeText(writer, 11, value.state)
    writeInteger(writer, 12, value.revision)
    writeInteger(writer, 13, value.issuedAt)
    writeInteger(writer, 14, value.expiresAt)
    if (value.payout !== undefined) writer.uint32(bytesTag(15)).bytes(value.payout)
    if (value.selfReport !== undefined) {
      writer.uint32(bytesTag(16))
      selfReportCodec.encode(value.selfReport, writer)
    }
    for (const plan of value.plans) {
      writer.uint32(bytesTag(20))
      planCodec.encode({ ...plan, overage: [...plan.overage] }, writer)
    }
    if (value.subscriptionOnly) writer.uint32(varintTag(21)).bool(true)
    writeInteger(writer, 22, value.major ?? 0)
    if (value.deprecation !== undefined) {
      writer.uint32(bytesTag(23))
      deprecationCodec.encode(value.deprecation, writer)
    }
    if (value.rateLimit !== undefined) {
      writer.uint32(bytesTag(30))
      rateLimitCodec.encode(value.rateLimit, writer)
    }
    if (value.eventPrice !== undefined) writer.uint32(varintTag(40)).uint64(value.eventPrice)
    if (value.eventsIncluded !== undefined) writer.uint32(varintTag(41)).uint32(value.eventsIncluded)
    for (const name of value.requestHeaders) writer.uint32(bytesTag(42)).string(name)
    if (value.described !== undefined) {
      writer.uint32(bytesTag(43))
      describedCodec.encode(value.described, writer)
    }
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.name = reader.string()
    else if (tag === bytesTag(2)) value.provider = reader.string()
    else if (tag === bytesTag(3)) value.protocol = reader.string()
    else if (tag === bytesTag(4)) value.description = reader.string()
    else if (tag === bytesTag(5)) append(value.tags, reader.string(), TAGS_MAX)
    else if (tag === varintTag(6)) value.price = reader.uint64()
    else if (tag === bytesTag(7)) value.currency = reader.string()
    else if (tag === varintTag(8)) value.idempotent = reader.bool()
    else if (tag === bytesTag(9)) {
      append(value.operations, operationCodec.decode(reader, reader.uint32()), OPERATIONS_MAX)
    } else if (tag === bytesTag(10)) value.sdl = reader.string()
    else if (tag === bytesTag(11)) value.state = reader.string()
    else if (tag === varintTag(12)) value.revision = readSafeInteger(reader)
    else if (tag === varintTag(13)) value.issuedAt = readSafeInteger(reader)
    else if (tag === varintTag(14)) value.expiresAt = readSafeInteger(reader)
    else if (tag === bytesTag(15)) value.payout = reader.bytes()
    else if (tag === bytesTag(16)) value.selfReport = selfReportCodec.decode(reader, reader.uint32())
    else if (tag === bytesTag(30)) value.rateLimit = rateLimitCodec.decode(reader, reader.uint32())
    else if (tag === bytesTag(20)) append(value.plans, planCodec.decode(reader, reader.uint32()), PLANS_MAX)
    else if (tag === varintTag(21)) value.subscriptionOnly = reader.bool()
    else if (tag === varintTag(22)) value.major = readSafeInteger(reader)
    else if (tag === bytesTag(23)) value.deprecation = deprecationCodec.decode(reader, reader.uint32())
    else if (tag === varintTag(40)) value.eventPrice = reader.uint64()
    else if (tag === varintTag(41)) value.eventsIncluded = readSafeInteger(reader)
    else if (tag === bytesTag(42)) append(value.requestHeaders, reader.string(), EXTRA_HEADERS_MAX)
    else if (tag === bytesTag(43)) value.described = describedCodec.decode(reader, reader.uint32())
    else return false
    return true
  }
})

/** Deterministic: the same manifest always gives the same bytes. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const { api, payout, events, plans = [], payPerCall, ...rest } = manifest
  const value: ManifestMessage = {
    ...rest,
    tags: [...manifest.tags],
    requestHeaders: [...(api.requestHeaders ?? [])],
    plans: [...plans],
    subscriptionOnly: payPerCall === false,
    operations: api.operations.map(({ name, description, input, output }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      ...(input === undefined ? {} : { input: JSON.stringify(input) }),
      ...(output === undefined ? {} : { output: JSON.stringify(output) })
    })),
    ...(api.sdl === undefined ? {} : { sdl: api.sdl }),
    ...(api.described && { described: { ...api.described, root: Buffer.from(api.described.root.slice(2), 'hex') } }),
    ...(payout === undefined ? {} : { payout: Buffer.from(payout.slice(2), 'hex') }),
    ...(events && { eventPrice: events.price, eventsIncluded: events.included })
  }
  return encodeMessage(value, manifestCodec)
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
    payout,
    eventPrice,
    eventsIncluded = 0,
    plans,
    subscriptionOnly,
    ...rest
  } = decodeMessage(bytes, manifestCodec)
  return {
    ...rest,
    ...(payout === undefined ? {} : { payout: toHex(payout) }),
    ...(eventPrice === undefined ? {} : { events: { price: eventPrice, included: eventsIncluded } }),
    protocol: rest.protocol,
    currency: rest.currency as 'USDC',
    state: rest.state as ListingState,
    ...(plans.length === 0 ? {} : { plans }),
    ...(subscriptionOnly ? { payPerCall: false } : {}),
    api: {
      operations: operations.map(operationOf),
      ...(sdl === undefined ? {} : { sdl }),
      ...(requestHeaders.length === 0 ? {} : { requestHeaders }),
      ...(described && { described: { ...described, root: toHex(described.root) } })
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
