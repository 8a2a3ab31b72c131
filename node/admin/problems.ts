import { finished } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type ErrorCode, isSoukError, limits, SoukError, toProblem } from '../../lib/index.ts'
import { PROBLEM_TYPE } from '../http/parser-problem.ts'
import { shownError } from '../http/shown-error.ts'
import { invalidText } from '../../protocols/invalid-text.ts'
import type { Log } from '../log.ts'

/** Error codes and texts for the errors of Fastify. */
const FASTIFY_CODES: Readonly<Record<string, { code: ErrorCode; detail: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'request_too_large',
    detail: `The request body is larger than ${limits.ADMIN_BODY_BYTES_MAX} bytes.`
  },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'invalid_request', detail: 'The body is empty; send JSON.' },
  // Fastify gives the same code for both.
  FST_ERR_CTP_INVALID_JSON_BODY: {
    code: 'invalid_request',
    detail: 'The body is not JSON, or has the member "__proto__" or "constructor.prototype", which are not accepted.'
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'unsupported_media_type', detail: 'Send content-type: application/json.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: 'invalid_request', detail: 'The content-length is wrong.' },
  FST_ERR_BAD_URL: { code: 'invalid_request', detail: 'The URL is not valid.' }
}

/** Returns each error as a problem document (RFC 9457) with a code of the error table. Texts of other libraries go only to the log. */
export function answerWithProblems(app: FastifyInstance, log: Log): void {
  app.setErrorHandler(async (thrown, request, reply) => {
    const error = translate(thrown)
    if (error.code === 'internal_error') {
      // The route, not the URL: a query can contain anything.
      log.error('an admin request failed', {
        request_id: request.id,
        route: request.routeOptions.url,
        cause: error.cause
      })
    }
    // Read the whole request first. A client that is still sending would see a closed connection instead of this response.
    if (error.code === 'request_too_large') await finished(request.raw.resume()).catch(() => undefined)
    return send(error, request, reply)
  })
  const refuse = ({ method, url }: FastifyRequest): never => {
    throw new SoukError('operation_not_found', `The admin API has no ${method} ${url.slice(0, 80)}.`)
  }
  app.setNotFoundHandler(refuse)
  // Before Fastify looks at the body: it has rules of its own for the Content-Type.
  app.addHook('onRequest', async (request) => {
    if (request.is404) refuse(request)
  })
}

/** Fastify refuses malformed URLs before it runs any hook or handler of this app. */
export function refuseRequest(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  void send(translate(thrown), request, reply)
}

function send(error: SoukError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(error.status).type(PROBLEM_TYPE).send(toProblem(error, request.id))
}

function translate(thrown: unknown): SoukError {
  if (isSoukError(thrown)) return shownError(thrown)
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const known = FASTIFY_CODES[code]
  return known === undefined ? shownError(thrown) : new SoukError(known.code, known.detail, { cause: thrown })
}

/**
 * Validates input from a client.
 * @throws SoukError `invalid_request`, with every error in the member `invalid`.
 */
export function parse<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value, { error: invalidText })
  if (result.success) return result.data
  const invalid = result.error.issues.map((issue) => ({ field: issue.path.join('.'), message: issue.message }))
  const [first] = invalid
  const detail =
    first === undefined ? undefined : first.field === '' ? first.message : `${first.field}: ${first.message}`
  throw new SoukError('invalid_request', detail, { members: { invalid } })
}
