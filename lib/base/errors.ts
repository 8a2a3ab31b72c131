/**
 * The table of all errors that consumers, providers and peers receive: HTTP status, title, and whether a retry may
 * help. `docs/reference/errors.md` is generated from it.
 *
 * Match on `code`, never on the class: an error may come from another process, a peer, or another copy of this package.
 */

/** The component that caused the error, or that reported it. */
export type ErrorSource = 'ingress' | 'owner' | 'upstream'

interface ErrorKind {
  /** HTTP status of the problem document. */
  readonly status: number
  /** Constant, safe text for the problem's `title`. */
  readonly title: string
  /** The same request may succeed later without changes. */
  readonly retryable: boolean
}

const kind = (status: number, title: string, retryable = false): ErrorKind => ({ status, title, retryable })

/**
 * Code → status, title, retryable. A call that ends with one of these errors is not charged, except where
 * `isChargeUnknown`.
 */
export const ERRORS = {
  invalid_request: kind(400, 'The request is not valid.'),
  payment_malformed: kind(400, 'The payment could not be read.'),
  key_missing: kind(401, 'The X-Consumer-Key header is missing.'),
  key_invalid: kind(401, 'The consumer key is not valid.'),
  key_expired: kind(401, 'The consumer key has expired.'),
  key_revoked: kind(401, 'The consumer key was revoked.'),
  key_disabled: kind(401, 'The consumer key is disabled.'),
  admin_token_invalid: kind(401, 'The admin token is missing or wrong.'),
  payment_required: kind(402, 'This call requires payment.'),
  insufficient_funds: kind(402, 'There is not enough balance for this call.'),
  payment_rejected: kind(402, 'The payment was rejected.'),
  price_exceeds_limit: kind(402, 'The price is above your limit.'),
  spend_cap_reached: kind(402, 'The spending cap is reached.'),
  subscription_required: kind(403, 'This API needs a subscription.'),
  subscription_inactive: kind(403, 'The subscription is not active.'),
  key_not_permitted: kind(403, 'The key does not permit this.'),
  ingress_not_allowed: kind(403, 'This ingress does not accept the request.'),
  api_not_found: kind(404, 'No such API.'),
  operation_not_found: kind(404, 'The API has no such operation.'),
  method_not_allowed: kind(405, 'The method is not allowed here.'),
  name_conflict: kind(409, 'Several providers use this name.'),
  api_exists: kind(409, 'An API with this name is already registered here.'),
  idempotency_in_flight: kind(409, 'A call with this idempotency key is still running.', true),
  payment_id_conflict: kind(409, 'The payment id was used for another request.'),
  api_retired: kind(410, 'This API was retired.'),
  request_expired: kind(410, 'The request is too old.'),
  request_too_large: kind(413, 'The request is too large.'),
  unsupported_media_type: kind(415, 'The content type is not supported.'),
  fee_not_accepted: kind(409, 'The fee was not accepted.'),
  description_incomplete: kind(422, 'Documents that the API’s description imports are missing.'),
  description_too_complex: kind(422, 'The API’s description is too complex.'),
  idempotency_mismatch: kind(422, 'The idempotency key was used for another request.'),
  upgrade_required: kind(426, 'This node accepts no connection of another protocol here.'),
  rate_limited: kind(429, 'Too many requests.', true),
  quota_exceeded: kind(429, 'The quota is used up.'),
  internal_error: kind(500, 'This node has an internal error.', true),
  backup_not_supported: kind(501, 'This store cannot back itself up.'),
  upstream_unreachable: kind(502, 'The API behind this listing cannot be reached.', true),
  upstream_invalid_response: kind(502, 'The API behind this listing returned an invalid response.'),
  response_too_large: kind(502, 'The response is too large.'),
  call_interrupted: kind(502, 'The call was interrupted; it may have reached the API.', true),
  soap_fault: kind(502, 'The SOAP service returned a fault.'),
  api_paused: kind(503, 'The API is paused by its provider.', true),
  owner_unreachable: kind(503, 'No node that serves this API can be reached.', true),
  overloaded: kind(503, 'This node is overloaded.', true),
  store_unavailable: kind(503, 'The database of this node cannot be used at the moment.', true),
  storage_full: kind(503, 'The disk of a node is full.', true),
  settlement_pending: kind(503, 'The payment is still being settled.', true),
  settlement_unavailable: kind(503, 'Payments cannot be settled at the moment.', true),
  lookup_timeout: kind(504, 'The API could not be found in time.', true),
  upstream_timeout: kind(504, 'The API behind this listing did not respond in time.', true)
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERRORS

/** Member of a failed repeat: the charge of its first attempt, as a decimal USDC string. */
export const CHARGE_MEMBER = 'charge'

/** `reason` of an `upstream_unreachable` whose request may have reached the API. */
export const CONNECTION_LOST = 'connection_lost'

/** Prefix of every problem `type` URI, followed by the code. */
export const PROBLEM_TYPE_BASE = 'https://souk.dev/problems/'

export interface SoukErrorOptions {
  /** The original error, for local logs only. Never sent to a peer or a client. */
  cause?: unknown
  /** The component that caused it. Default: set by the component that reports it. */
  source?: ErrorSource | undefined
  /** Replaces the table's status. Only `soap_fault` uses it: 400 for a Client/Sender fault. */
  status?: number | undefined
  /** Wait before a retry, in milliseconds. Becomes `Retry-After`. */
  retryAfterMs?: number | undefined
  /** Additional public members of the problem document, JSON values only, e.g. `{ candidates: [...] }`. */
  members?: Readonly<Record<string, unknown>> | undefined
  /** The owner did not accept the call: nothing happened, and another owner may be tried. */
  notAccepted?: boolean
  /** The call was sent and its outcome is unknown, so it may have been charged. */
  isChargeUnknown?: boolean
}

/**
 * An error with a stable code. `message` becomes the problem's `detail`: written for the caller, without secrets or
 * texts of internal exceptions.
 *
 * @example
 * ```ts
 * import { SoukError, toProblem } from 'souk'
 *
 * const error = new SoukError('rate_limited', 'Ten calls a second are allowed.', { retryAfterMs: 1_000 })
 * const { status, code, detail } = toProblem(error, 'request-1')
 * console.log(status, code) // 429 rate_limited
 * console.log(detail) // Ten calls a second are allowed.
 * ```
 */
export class SoukError extends Error {
  override readonly name = 'SoukError'
  readonly code: ErrorCode
  readonly status: number
  readonly source: ErrorSource | undefined
  readonly retryAfterMs: number | undefined
  readonly members: Readonly<Record<string, unknown>> | undefined
  readonly notAccepted: boolean
  readonly isChargeUnknown: boolean

  constructor(code: ErrorCode, detail?: string, options: SoukErrorOptions = {}) {
    super(detail ?? ERRORS[code].title, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = options.status ?? ERRORS[code].status
    this.source = options.source
    this.retryAfterMs = options.retryAfterMs
    this.members = options.members
    this.notAccepted = options.notAccepted ?? false
    this.isChargeUnknown = options.isChargeUnknown ?? false
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable
  }
}

/** A copy of the error for a call whose charge is unknown. */
export function withUnknownCharge(error: SoukError): SoukError {
  const { code, message, cause, source, status, retryAfterMs, members, notAccepted } = error
  return new SoukError(code, message, {
    cause,
    status,
    notAccepted,
    isChargeUnknown: true,
    source,
    retryAfterMs,
    members
  })
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code)
}

/** True for every error with a code of the table, also from another copy of this package. */
export function isSoukError(error: unknown): error is SoukError {
  return error instanceof Error && 'code' in error && 'status' in error && isErrorCode(error.code)
}

/** Any thrown value as a SoukError. An unknown error becomes `internal_error`; its text stays in the cause. */
export function asSoukError(error: unknown): SoukError {
  return isSoukError(error) ? error : new SoukError('internal_error', undefined, { cause: error })
}

/** RFC 9457 problem document, as sent with `content-type: application/problem+json`. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ErrorCode
  readonly request_id: string
  /** Null where the charge is unknown. The receipts show it later. */
  readonly charged: false | null
  /** Decimal USDC string. */
  readonly amount_charged: '0' | null
  readonly retryable: boolean
  readonly source: ErrorSource
  /** True if nothing happened: the same request can be sent again. Absent otherwise. */
  readonly not_accepted?: true
  readonly [member: string]: unknown
}

/** The public form of an error: code, safe text and public members, never the cause or the stack. */
export function toProblem(error: SoukError, requestId: string, source: ErrorSource = 'ingress'): Problem {
  return {
    ...error.members,
    type: PROBLEM_TYPE_BASE + error.code,
    title: ERRORS[error.code].title,
    status: error.status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    charged: error.isChargeUnknown ? null : false,
    amount_charged: error.isChargeUnknown ? null : '0',
    retryable: ERRORS[error.code].retryable,
    source: error.source ?? source,
    ...(error.notAccepted && !error.isChargeUnknown ? { not_accepted: true } : {})
  }
}
