import { asSoukError, isSoukError, SoukError, utf8 } from '../../lib/index.ts'
import { PROBLEM_TYPE } from '../http/parser-problem.ts'
import { problemOf } from '../http/problem-of.ts'
import { shownError } from '../http/shown-error.ts'
import { paymentRequired, settlementState } from './calls/payment-headers.ts'
import { rateHeaders, refusedBy } from './calls/rate-headers.ts'
import { sendWhole, type RequestContext } from './request-context.ts'

/** RFC 9110 §15.5.2: a 401 must name a scheme. No registered scheme covers a key in its own header. */
const CHALLENGE = 'Souk-Key header="X-Consumer-Key"'

/**
 * Responds with a problem document (RFC 9457), or closes the connection if the response has begun. `allow` lists the methods for
 * `method_not_allowed`; every API accepts POST.
 * @param more - further headers
 */
export function sendProblem(
  context: RequestContext,
  thrown: unknown,
  allow = 'POST',
  more: readonly string[] = []
): void {
  const { res } = context
  const error = shownError(thrown)
  // Another node logs its own errors.
  if (error.code === 'internal_error' && error.source !== 'owner' && error.source !== 'upstream') {
    context.log.error('a request failed unexpectedly', {
      request_id: context.requestIdText,
      cause: error.cause ?? error
    })
  }
  if (res.headersSent || res.destroyed) {
    res.destroy()
    return
  }
  const headers = ['Content-Type', PROBLEM_TYPE, 'Cache-Control', 'no-store', ...more]
  if (error.retryAfterMs !== undefined) headers.push('Retry-After', String(Math.ceil(error.retryAfterMs / 1000)))
  if (error.status === 401) headers.push('WWW-Authenticate', CHALLENGE)
  if (error.status === 405) headers.push('Allow', allow)
  headers.push(...paymentRequired(context, error), ...settlementState(error), ...rateHeaders(refusedBy(error)))
  sendWhole(context, error.status, headers, utf8(JSON.stringify(problemOf(error, context.requestIdText))))
}

/** Maps Fastify’s errors to codes of the table. Fastify’s texts echo the input, so they are not sent. */
export function fromFastify(error: unknown): SoukError {
  if (isSoukError(error)) return error
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown }
  if (code === 'FST_ERR_BAD_URL') return new SoukError('invalid_request', 'The path of the URL is malformed.')
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') {
    return new SoukError('request_too_large', 'A segment of the path is longer than any valid name.')
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new SoukError('unsupported_media_type', 'The Content-Type header is malformed.')
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new SoukError('invalid_request', undefined, { cause: error })
  }
  return asSoukError(error)
}
