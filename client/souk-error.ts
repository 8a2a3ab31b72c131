import type { ErrorCode, ErrorSource, Problem } from '../lib/base/errors.ts'

/**
 * Errors that the client itself finds, beside those of an ingress:
 * - `api_error`: the API responded with an error status. `status` and `body` are the API's.
 * - `ingress_unreachable`: no response. Wrong address, no network, or CORS does not allow this page.
 * - `timed_out`: no response within `timeoutMs`, and none of the ingress about that time limit either.
 * - `response_broken`: the response broke off.
 * - `unexpected_response`: a response that no ingress sends, or one that cannot be read as asked.
 */
export type ClientErrorCode =
  | 'api_error'
  | 'ingress_unreachable'
  | 'timed_out'
  | 'response_broken'
  | 'unexpected_response'

export interface SoukErrorInit {
  readonly status?: number
  readonly source?: ErrorSource | 'client'
  readonly retryable?: boolean
  /** Default `'0'`. */
  readonly charged?: string | null
  readonly notAccepted?: boolean
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly headers?: Headers | undefined
  readonly body?: unknown
  readonly cause?: unknown
}

/**
 * A failed call. Match on `code`; `message` is written for people.
 *
 * @example
 * ```ts
 * import { createClient, SoukError } from 'souk/client'
 *
 * const fetch = () => Promise.reject(new TypeError('no network'))
 * const client = createClient({ ingress: 'https://ingress.example', fetch })
 * const error = await client.call('weather', 'forecast').catch((thrown: unknown) => thrown)
 * console.log(error instanceof SoukError && [error.code, error.charged]) // [ 'ingress_unreachable', null ]
 * ```
 */
export class SoukError extends Error {
  override readonly name = 'SoukError'
  /** A code of docs/reference/errors.md, or of `ClientErrorCode`. A newer ingress may send further ones. */
  readonly code: ErrorCode | ClientErrorCode | (string & Record<never, never>)
  /** HTTP status; 0 without a response. */
  readonly status: number
  /** The part that caused the error. */
  readonly source: ErrorSource | 'client'
  /** The same call may succeed later. */
  readonly retryable: boolean
  /** Decimal USDC; null if it is unknown whether the call was charged. The receipts show it later. */
  readonly charged: string | null
  /** The call was refused before anything happened. */
  readonly notAccepted: boolean
  readonly requestId: string | undefined
  /** Time to wait before a retry, if the ingress or the API named one. */
  readonly retryAfterMs: number | undefined
  /** Headers of the response, if there was one. */
  readonly headers: Headers | undefined
  /** The problem document (RFC 9457), or the body of the API's error response. */
  readonly body: unknown

  constructor(code: SoukError['code'], message: string, init: SoukErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause })
    this.code = code
    this.status = init.status ?? 0
    this.source = init.source ?? 'client'
    this.retryable = init.retryable ?? false
    this.charged = init.charged === undefined ? '0' : init.charged
    this.notAccepted = init.notAccepted ?? false
    this.requestId = init.requestId
    this.retryAfterMs = init.retryAfterMs
    this.headers = init.headers
    this.body = init.body
  }
}

/** True for every `SoukError`, also from another copy of this package. */
export function isSoukError(error: unknown): error is SoukError {
  return error instanceof Error && error.name === 'SoukError' && 'code' in error && 'charged' in error
}

/** The error of a response that is no success. Reads its body. */
export async function errorOf(response: Response): Promise<SoukError> {
  const { headers, status } = response
  const text = await response.text().catch(() => '')
  const body = jsonOrText(text)
  const seen = {
    status,
    headers,
    body,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterMs(headers)
  }
  if (headers.get('souk-error-source') === 'upstream') {
    const charged = headers.get('souk-charged')
    return new SoukError('api_error', `The API responded with ${status}.`, { ...seen, source: 'upstream', charged })
  }
  if (!isProblem(body)) {
    const detail = `${status} without a problem document. Is this the address of a Souk ingress?`
    return new SoukError('unexpected_response', detail, { ...seen, charged: null, retryable: status >= 500 })
  }
  const { code, detail, source, retryable, amount_charged: charged, request_id, not_accepted } = body
  return new SoukError(code, detail, {
    ...seen,
    source,
    retryable,
    charged,
    requestId: request_id,
    notAccepted: not_accepted === true
  })
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string'
}

/** RFC 9110 §10.2.3 allows a date too; an ingress sends seconds, and so do most APIs. */
function retryAfterMs(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after')
  return seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : undefined
}

/** Parsed JSON; other text unchanged. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
