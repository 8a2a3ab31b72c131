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

/**
 * Checks that every ingress can return a response: valid HTTP status and headers, and JSON nested no deeper than
 * parsers support. It runs before the charge, because a consumer does not pay for an undeliverable response. A streamed
 * body is charged by its head, so only the head is checked.
 *
 * @throws SoukError `upstream_invalid_response`
 */
export function checkDeliverable({ status, headers, body }: AdapterReply): void {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw undeliverable('The API returned a status that HTTP does not define.')
  }
  for (const [name, value] of headers) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) {
      throw undeliverable('The API returned an invalid HTTP header.')
    }
  }
  if (body instanceof Uint8Array && isJson(headers) && nestsDeeperThan(body, RESPONSE_JSON_DEPTH_MAX)) {
    throw undeliverable(`The API returned JSON nested deeper than ${RESPONSE_JSON_DEPTH_MAX} levels.`)
  }
}

function isJson(headers: Headers): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'content-type' && JSON_TYPE.test(value))
}

function undeliverable(detail: string): SoukError {
  return new SoukError('upstream_invalid_response', detail, { source: 'upstream' })
}
