import { text } from '../lib/base/bytes.ts'
import { collect } from '../lib/base/collect.ts'
import { SoukError } from '../lib/base/errors.ts'
import { checkJson } from '../lib/base/json-text.ts'
import { REQUEST_BYTES_CEILING } from '../lib/base/limits/call.ts'
import type { AdapterRequest } from '../lib/interface/adapter.ts'
import type { Headers } from '../lib/interface/payload.ts'

/** `application/json` and the `+json` types (RFC 6839 §3.1), with any parameters. `stream+json` is JSON lines (Spring). */
const JSON_TYPE = /^application\/(?!(?:x-)?stream\+)(?:[a-z0-9!#$&^_.+-]+\+)?json\s*(?:;|$)/i

export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType.trim())
}

export function headerOf(headers: Headers, name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1]
}

/**
 * Reads a whole body before the upstream is called. The ingress enforces the listing's limit; this enforces only the limit of all
 * listings.
 *
 * @throws SoukError `request_too_large`, `overloaded`
 */
export function wholeBody({ body, memory }: Pick<AdapterRequest, 'body' | 'memory'>): Promise<Uint8Array> {
  return collect(body, REQUEST_BYTES_CEILING, () => new SoukError('request_too_large'), memory)
}

/**
 * Checks a JSON body: valid JSON, UTF-8, and no deeper than `JSON_DEPTH_MAX`.
 * @throws SoukError `unsupported_media_type`, `invalid_request`
 */
export function checkJsonBody(bytes: Uint8Array, contentType: string | undefined): void {
  if (contentType !== undefined && !isJsonType(contentType)) {
    throw new SoukError('unsupported_media_type', 'Send the body as application/json.')
  }
  checkJson(bytes)
}

/**
 * The text of a JSON body, checked.
 * @throws SoukError `unsupported_media_type`, `invalid_request`
 */
export function jsonText(bytes: Uint8Array, contentType: string | undefined): string {
  checkJsonBody(bytes, contentType)
  return text(bytes)
}

/**
 * @param parse throws for a text that is not JSON
 * @throws SoukError `invalid_request`
 */
export function parseJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text)
  } catch (cause) {
    throw new SoukError('invalid_request', 'The body is not valid JSON.', { cause })
  }
}
