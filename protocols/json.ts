import { EMPTY_BYTES } from '../lib/base/bytes.ts'
import { SoukError } from '../lib/base/errors.ts'
import { JSON_DEPTH_MAX, REQUEST_BYTES_CEILING } from '../lib/base/limits.ts'
import type { Headers, Payload } from '../lib/interface/payload.ts'

/** `[` and `{` differ in this bit only, and so do `]` and `}`. */
const CASE_BIT = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d
const QUOTE = 0x22
const BACKSLASH = 0x5c

const decoder = new TextDecoder('utf-8', { fatal: true })

/** `application/json` and the `+json` types (RFC 6839 §3.1), whatever their parameters. */
const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json\s*(?:;|$)/i

export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType.trim())
}

export function headerOf(headers: Headers, name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1]
}

/**
 * A body that has to be known before the upstream is reached. What a listing allows is enforced where the call came in;
 * here is only the bound that no listing may pass.
 *
 * @throws SoukError `request_too_large`
 */
export async function wholeBody(body: Payload): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of body) {
    total += chunk.byteLength
    if (total > REQUEST_BYTES_CEILING) throw new SoukError('request_too_large')
    chunks.push(chunk)
  }
  return chunks.length <= 1 ? (chunks[0] ?? EMPTY_BYTES) : Buffer.concat(chunks)
}

/**
 * The text of a JSON body that is safe to hand on: UTF-8, and no deeper than `JSON_DEPTH_MAX`.
 * @throws SoukError `unsupported_media_type`, `invalid_request`
 */
export function jsonText(bytes: Uint8Array, contentType: string | undefined): string {
  if (contentType !== undefined && !isJsonType(contentType)) {
    throw new SoukError('unsupported_media_type', 'Send the body as application/json.')
  }
  checkDepth(bytes)
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new SoukError('invalid_request', 'The body is not UTF-8.', { cause })
  }
}

/** @throws SoukError `invalid_request` */
export function parseJson(
  text: string,
  reviver?: (key: string, value: unknown, context?: { source?: string }) => unknown
): unknown {
  try {
    return JSON.parse(text, reviver)
  } catch (cause) {
    throw new SoukError('invalid_request', 'The body is not valid JSON.', { cause })
  }
}

/** Counts brackets outside strings, so that depth is known before anything recursive sees the document. */
function checkDepth(bytes: Uint8Array): void {
  let depth = 0
  let quoted = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (quoted) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) quoted = false
    } else if (byte === QUOTE) {
      quoted = true
    } else if ((byte | CASE_BIT) === OPEN) {
      if (++depth > JSON_DEPTH_MAX) {
        throw new SoukError('invalid_request', `The body is nested deeper than ${JSON_DEPTH_MAX} levels.`)
      }
    } else if ((byte | CASE_BIT) === CLOSE) {
      depth--
    }
  }
}
