import { isDeepStrictEqual } from 'node:util'
import { SoukError } from '../base/errors.ts'
import type { RateLimit } from '../base/gcra.ts'
import {
  FAILURES_PER_CONSUMER_MAX,
  FAILURES_PER_CONSUMER_MS,
  IN_FLIGHT_PER_API_MAX,
  IN_FLIGHT_PER_CONSUMER_MAX,
  OVERLOAD_PAUSE_MS
} from '../base/limits/admission.ts'
import { REQUEST_BYTES_MAX } from '../base/limits/call.ts'
import { outdatedTerms } from '../base/outdated-terms.ts'
import type { Adapter } from '../interface/adapter.ts'
import type { IncomingCall } from '../interface/call.ts'
import type { Manifest, SignedManifest } from '../interface/manifest.ts'
import type { PaymentScheme } from '../interface/payment-scheme.ts'
import type { Plan } from '../interface/plan.ts'
import type { CallLimits } from './call-limiter.ts'

/** Terms of a listing that only its owner uses. They are not in the manifest. */
export interface ServingTerms {
  readonly requestBytesMax: number
  /** Passes sub-paths and methods other than POST to the adapter. */
  readonly forwardsPaths: boolean
  /** Concurrent calls of one consumer. */
  readonly inFlightPerConsumer: number
  /** Failed calls of one consumer. */
  readonly failuresPerConsumer: RateLimit
}

/** An API that this node serves. */
export interface ServedApi {
  readonly signed: SignedManifest
  readonly adapter: Adapter
  readonly terms: ServingTerms
  /** The revision from which on its price, payout and way to pay are as now. Calls for older ones are refused. */
  readonly pricedSince?: number
}

/** `ServedApi.pricedSince` of a new revision. After a restart the current revision, so that callers look it up once. */
export function pricedSince(next: Manifest, before: ServedApi | undefined): number {
  const isSame = before !== undefined && isDeepStrictEqual(paymentTerms(before.signed.manifest), paymentTerms(next))
  return isSame ? (before.pricedSince ?? next.revision) : next.revision
}

function paymentTerms({ price, payout, events, payPerCall }: Manifest): unknown {
  return { price, payout, events, payPerCall }
}

export const DEFAULT_TERMS: ServingTerms = {
  requestBytesMax: REQUEST_BYTES_MAX,
  forwardsPaths: false,
  inFlightPerConsumer: IN_FLIGHT_PER_CONSUMER_MAX,
  failuresPerConsumer: { calls: FAILURES_PER_CONSUMER_MAX, perMs: FAILURES_PER_CONSUMER_MS }
}

/** The limits of a call: the plan's, and the listing's for those the plan does not set. */
export function limitsOf({ signed, terms }: ServedApi, plan?: Plan): CallLimits {
  // The prefix keeps a plan named `default` apart from the listing's own limit.
  const policy = plan?.rateLimit === undefined ? 'default' : `plan-${plan.id}`
  return {
    policy,
    rateLimit: plan?.rateLimit ?? signed.manifest.rateLimit,
    inFlightMax: plan?.inFlightMax ?? terms.inFlightPerConsumer,
    failureLimit: terms.failuresPerConsumer
  }
}

/**
 * Checks whether a call may run, before any payment or upstream request.
 * @throws SoukError, mostly `notAccepted`: another owner may still accept it
 */
export function admit(
  api: ServedApi,
  call: IncomingCall,
  inFlight: number,
  { runsNothing }: Pick<PaymentScheme, 'runsNothing'>
): void {
  const { manifest } = api.signed
  const { service, subscription, maxPrice } = call
  // The plan service checks calls about subscriptions. A subscription can be cancelled in any state of the API.
  if (service !== undefined) return
  if (manifest.state === 'retired') throw new SoukError('api_retired')
  if (manifest.state !== 'published' && manifest.state !== 'deprecated') {
    throw new SoukError('api_paused', undefined, { notAccepted: true })
  }
  if (!takes(api, call) && !(call.payment !== undefined && runsNothing?.(call.payment) === true)) {
    throw new SoukError('method_not_allowed', 'This API accepts POST only, without a sub-path.')
  }
  if (subscription === undefined) {
    const { pricedSince: since = 0 } = api
    const isOld = call.revision > 0 && call.revision < since
    if (isOld && call.payment === undefined) throw outdatedTerms(since)
    if (manifest.payPerCall === false) throw new SoukError('subscription_required', undefined, { notAccepted: true })
    if (maxPrice !== undefined && manifest.price > maxPrice) throw new SoukError('price_exceeds_limit')
  }
  if (call.body instanceof Uint8Array && call.body.length > api.terms.requestBytesMax) throw tooLarge(api)
  if (inFlight >= IN_FLIGHT_PER_API_MAX) {
    throw new SoukError('overloaded', 'This API has too many running calls.', {
      notAccepted: true,
      retryAfterMs: OVERLOAD_PAUSE_MS
    })
  }
}

function takes({ terms, adapter }: ServedApi, { method, path, headers }: IncomingCall): boolean {
  const isPlain = method === 'POST' && path === ''
  return isPlain || terms.forwardsPaths || adapter.takes?.(method, path, headers) === true
}

/** A body that fails once it exceeds the listing's limit. */
export function boundedBody(api: ServedApi, body: IncomingCall['body']): IncomingCall['body'] {
  return body instanceof Uint8Array ? body : boundedStream(api, body)
}

async function* boundedStream(api: ServedApi, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > api.terms.requestBytesMax) throw tooLarge(api)
    yield chunk
  }
}

function tooLarge(api: ServedApi): SoukError {
  return new SoukError('request_too_large', `This API accepts at most ${api.terms.requestBytesMax} bytes.`)
}
