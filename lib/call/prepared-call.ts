import { type ApiId, type ApiRef, parseApiRef } from '../base/api-name.ts'
import { EMPTY_BYTES, utf8 } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import { isExtraHeader } from '../base/extra-header.ts'
import { givenUp } from '../base/given-up.ts'
import { UPSTREAM_TIMEOUT_MS } from '../base/limits/call.ts'
import { malformed } from '../base/malformed.ts'
import { parseUsdc } from '../base/money.ts'
import type { HashedRequest } from '../base/request-hash.ts'
import type { RequestIds } from '../base/request-id.ts'
import { writeJson, type WrittenJson } from '../base/write-json.ts'
import type { Attempt, Call, CallTerms } from '../interface/call.ts'
import type { ApiDescription } from '../interface/adapter.ts'
import type { Resolution } from '../interface/directory.ts'
import type { Headers, Payload } from '../interface/payload.ts'
import type { CallInit } from '../interface/souk.ts'
import type { Order } from '../interface/payment-scheme.ts'
import type { KeyUse } from './used-keys.ts'

const JSON_HEADERS: Headers = [
  ['content-type', 'application/json'],
  ['accept', 'application/json']
]

/** The parts of a call that are the same for every owner. */
export interface PreparedCall {
  readonly init: CallInit
  /** Present for a call under a plan. */
  readonly terms: CallTerms | undefined
  readonly ref: ApiRef
  readonly requestId: Uint8Array
  readonly body: Payload
  /** True once a streamed body was read: then no other owner can be tried. */
  readonly isSpent: () => boolean
  readonly maxPrice: bigint | undefined
  /** Absent: nobody can cancel the call. */
  readonly signal: AbortSignal | undefined
  readonly startedAt: number
  readonly deadlineAt: number
  /** True once an owner may have charged the call. It stays true, whatever other owners respond. */
  isChargeUnknown: boolean
  /** Owners that refused the call. Undefined: none yet. */
  refusedBy: Set<string> | undefined
}

/** @throws SoukError `invalid_request`, and the reason of an aborted signal */
export function prepareCall(init: CallInit, clock: Clock, requestIds: RequestIds, terms?: CallTerms): PreparedCall {
  const { timeoutMs = UPSTREAM_TIMEOUT_MS, requestId = requestIds.next(), signal } = init
  if (signal?.aborted === true) throw givenUp(signal)
  const startedAt = clock.elapsed()
  const { body, isSpent } = readOnce(payloadOf(init.body))
  return {
    init,
    terms,
    ref: typeof init.api === 'string' ? parseApiRef(init.api) : init.api,
    requestId,
    body,
    isSpent,
    maxPrice: terms?.maxPrice ?? (init.maxPrice === undefined ? undefined : parseUsdc(init.maxPrice)),
    signal,
    startedAt,
    deadlineAt: startedAt + timeoutMs,
    isChargeUnknown: false,
    refusedBy: undefined
  }
}

/** The payment order for one owner. */
export function orderFor({ requestId, maxPrice, terms }: PreparedCall, { signed }: Resolution, owner: string): Order {
  const { id, manifest } = signed
  return {
    requestId,
    api: id,
    owner,
    revision: manifest.revision,
    price: terms?.price ?? manifest.price,
    isFee: terms?.isFee === true,
    maxPrice,
    payout: manifest.payout
  }
}

/** The parts of a call that differ per owner and per attempt. */
export interface CallExtras {
  readonly authorization?: Uint8Array | undefined
  readonly api?: ApiDescription
  readonly keyUse?: KeyUse | undefined
  readonly events?: number
}

/** The call for one owner. */
export function callFor(
  { init, requestId, body, maxPrice, deadlineAt, terms }: PreparedCall,
  order: Order,
  now: number,
  { authorization, api, keyUse, events }: CallExtras = {}
): Call {
  const { idempotencyKey, traceparent, payment } = init
  return {
    requestId,
    api: order.api,
    method: init.method ?? 'POST',
    path: init.path ?? '',
    headers: withOffered(init.headers ?? JSON_HEADERS, init.offeredHeaders, api),
    body,
    timeoutMs: Math.max(1, deadlineAt - now),
    revision: order.revision,
    maxPrice,
    authorization,
    idempotencyKey,
    keyFirstAt: keyUse?.keyFirstAt,
    keyAnswered: keyUse?.keyAnswered,
    traceparent,
    payment,
    consumer: consumerOf(init, order.api),
    service: terms?.service,
    subscription: terms?.subscription,
    events
  }
}

/** The request as its owner hashes it. */
export function sentAs(call: Call, { isBodyApart }: Extract<Attempt, { fate: 'answered' }>): HashedRequest {
  return isBodyApart === true ? { ...call, body: undefined } : call
}

/** The calling account's pseudonym at the API's provider. */
export function consumerOf({ consumer }: CallInit, api: ApiId): Uint8Array | undefined {
  return consumer?.(api.slice(api.indexOf('@') + 1))
}

/** Providers are untrusted: a listing may name any header, so only headers without secrets are sent. */
function withOffered(
  headers: Headers,
  offered: Headers = [],
  { requestHeaders = [] }: Partial<ApiDescription> = {}
): Headers {
  if (offered.length === 0 || requestHeaders.length === 0) return headers
  const sent = offered.filter(([name]) => requestHeaders.includes(name.toLowerCase()) && isExtraHeader(name))
  return [...headers, ...sent]
}

const neverSpent = () => false

function readOnce(body: Payload): { body: Payload; isSpent: () => boolean } {
  if (body instanceof Uint8Array) return { body, isSpent: neverSpent }
  let isSpent = false
  return {
    body: {
      [Symbol.asyncIterator]() {
        isSpent = true
        return body[Symbol.asyncIterator]()
      }
    },
    isSpent: () => isSpent
  }
}

function payloadOf(body: unknown): Payload {
  if (body === undefined) return EMPTY_BYTES
  if (body instanceof Uint8Array) return body
  if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
    return body as AsyncIterable<Uint8Array>
  const written = jsonOf(body)
  if ('json' in written) return utf8(written.json)
  throw malformed('body', `The body cannot be converted to JSON: ${written.reason}`)
}

function jsonOf(body: unknown): WrittenJson {
  try {
    return writeJson(body)
  } catch (cause) {
    throw malformed('body', 'The body cannot be converted to JSON: its `toJSON` or a getter threw an error.', cause)
  }
}
