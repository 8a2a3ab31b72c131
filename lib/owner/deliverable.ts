import { discard } from '../base/discard.ts'
import { SoukError } from '../base/errors.ts'
import { nestsDeeperThan } from '../base/json-text.ts'
import { RESPONSE_JSON_DEPTH_MAX } from '../base/limits/call.ts'
import type { AdapterReply } from '../interface/adapter.ts'
import type { Headers } from '../interface/payload.ts'

/** RFC 9110 §5.6.2: token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** RFC 9110 §5.5: field-value, with obs-text. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json\b/i

/** Statuses of an API that clients would take for those of the ingress, and so pay, or fail. */
const MISUNDERSTOOD: ReadonlyMap<number, string> = new Map([
  [402, 'The API behind this listing requires a payment of its own.'],
  [407, 'The API behind this listing requires credentials for a proxy.']
])

/**
 * Checks that every ingress can return a response: a valid HTTP status that clients understand, valid headers, and JSON nested no
 * deeper than parsers support. It runs before the charge, because a consumer does not pay for an undeliverable response. A
 * streamed body is charged by its head, so only the head is checked. The body of a refused response is abandoned.
 *
 * @throws SoukError `upstream_invalid_response`
 */
export function checkDeliverable(reply: AdapterReply): void {
  const problem = problemOf(reply)
  if (problem === undefined) return
  discard(reply.body)
  throw new SoukError('upstream_invalid_response', problem, { source: 'upstream' })
}

function problemOf({ status, headers, body }: AdapterReply): string | undefined {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    return 'The API returned a status that HTTP does not define.'
  }
  if (headers.some(([name, value]) => !HEADER_NAME.test(name) || !HEADER_VALUE.test(value))) {
    return 'The API returned an invalid HTTP header.'
  }
  if (body instanceof Uint8Array && isJson(headers) && nestsDeeperThan(body, RESPONSE_JSON_DEPTH_MAX)) {
    return `The API returned JSON nested deeper than ${RESPONSE_JSON_DEPTH_MAX} levels.`
  }
  return MISUNDERSTOOD.get(status)
}

function isJson(headers: Headers): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'content-type' && JSON_TYPE.test(value))
}
