import { utf8 } from '../../lib/base/bytes.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { UPSTREAM_METHODS } from '../../lib/interface/adapter.ts'
import { isObject, type JsonObject, textOf } from '../exact-json.ts'
import type { MappedCall } from './openapi/openapi-call.ts'
import { queryOf } from './query.ts'

const MEMBERS: ReadonlySet<string> = new Set(['method', 'path', 'query', 'headers', 'body'])
const METHODS: readonly string[] = UPSTREAM_METHODS
/** RFC 9110 §9.3: content of these methods has no meaning. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE'])

/** True if a call specifies its own request. */
export function isExplicit(call: JsonObject): boolean {
  return Object.hasOwn(call, 'method') || Object.hasOwn(call, 'path')
}

/**
 * `{"method", "path", "query", "headers", "body"}`, all optional: a request below the endpoint. The upstream client decides which
 * paths and headers are allowed.
 *
 * @throws SoukError `invalid_request`, `method_not_allowed`
 */
export function explicitCall(call: JsonObject): MappedCall {
  const stranger = Object.keys(call).find((name) => !MEMBERS.has(name))
  if (stranger !== undefined)
    throw refuse(`A call has no "${stranger.slice(0, 80)}". It can have ${[...MEMBERS].join(', ')}.`)
  const { method = 'GET', path = '', query = {}, headers = {}, body } = call
  if (typeof method !== 'string') throw refuse('"method" must be a string.')
  if (!METHODS.includes(method)) {
    throw new SoukError('method_not_allowed', `"method" must be one of ${METHODS.join(', ')}.`)
  }
  if (typeof path !== 'string' || (path !== '' && !path.startsWith('/')) || path.includes('?')) {
    throw refuse('"path" must start with "/"; its query is in "query".')
  }
  if (!isObject(query)) throw refuse('"query" must be a JSON object.')
  if (!isObject(headers)) throw refuse('"headers" must be a JSON object of strings.')
  if (body !== undefined && BODILESS.has(method)) throw refuse(`A ${method} request has no "body".`)
  const sent = Object.entries(headers).map(([name, value]): [string, string] => {
    if (typeof value !== 'string') throw refuse('"headers" must be a JSON object of strings.')
    return [name.toLowerCase(), value]
  })
  const type = sent.find(([name]) => name === 'content-type')?.[1]
  return {
    method,
    path: path + queryOf(query),
    headers: sent.filter(([name]) => name !== 'content-type'),
    ...(body === undefined ? {} : { body: written(body, type) })
  }
}

/** The body as JSON; or as plain text, if it is a string and the type is not JSON. */
function written(body: unknown, type: string | undefined): NonNullable<MappedCall['body']> {
  const text = textOf(body)
  const isText = type !== undefined && !/[/+]json\b/i.test(type) && text !== undefined
  return { bytes: utf8(isText ? text : JSON.stringify(body)), type: type ?? 'application/json' }
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
