import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { asSoukError, isSoukError, SoukError, toProblem, utf8 } from '../../lib/index.ts'
import { paymentRequired, settlementState } from './calls/payment-headers.ts'
import { rateHeaders, refusedBy } from './calls/rate-headers.ts'
import { sendWhole, type RequestContext } from './request-context.ts'

const CONTENT_TYPE = 'application/problem+json'
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
  const error = asSoukError(thrown)
  if (error.code === 'internal_error') {
    context.log.error('a request failed unexpectedly', {
      request_id: context.requestIdText,
      cause: error.cause ?? error
    })
  }
  if (res.headersSent || res.destroyed) {
    res.destroy()
    return
  }
  const headers = ['Content-Type', CONTENT_TYPE, ...more]
  if (error.retryAfterMs !== undefined) headers.push('Retry-After', String(Math.ceil(error.retryAfterMs / 1000)))
  if (error.status === 401) headers.push('WWW-Authenticate', CHALLENGE)
  if (error.status === 405) headers.push('Allow', allow)
  headers.push(...paymentRequired(context, error), ...settlementState(error), ...rateHeaders(refusedBy(error)))
  sendWhole(context, error.status, headers, utf8(JSON.stringify(toProblem(error, context.requestIdText))))
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

/**
 * Responds on the bare socket when Node’s parser rejects a request, because no request object exists then. If a response is under way, this
 * closes the connection instead: the client would take other bytes as part of that response.
 */
export function sendParserProblem(cause: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  // Node's own handler of this event reads the same property: https://github.com/nodejs/node/blob/v24.x/lib/_http_server.js
  // oxlint-disable-next-line eslint/no-underscore-dangle
  const current = (socket as { _httpMessage?: ServerResponse | null })._httpMessage
  if (cause.code === 'ECONNRESET' || !socket.writable || current?.headersSent === true) {
    socket.destroy()
    return
  }
  const error = parserError(cause.code)
  const body = JSON.stringify(toProblem(error, requestId))
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\nX-Request-Id: ${requestId}\r\n` +
      `Content-Type: ${CONTENT_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  )
}

function parserError(code: string | undefined): SoukError {
  if (code === 'HPE_HEADER_OVERFLOW') return new SoukError('request_too_large', 'The header fields are too large.')
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new SoukError('request_too_large', 'The chunk extensions are too large.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new SoukError('invalid_request', 'The request did not arrive in time.')
  return new SoukError('invalid_request', 'This is not a well-formed HTTP request.')
}
