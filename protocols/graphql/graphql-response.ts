import { nestsDeeperThan } from '../../lib/base/json-text.ts'
import { RESPONSE_JSON_DEPTH_MAX } from '../../lib/base/limits/call.ts'

/** A well-formed GraphQL response (specification, section 7.1): a map with `data`, `errors` or both. */
export interface GraphqlResponse {
  /** Null or absent after an error that left no data. */
  readonly data?: object | null
  /** Its items are not checked. */
  readonly errors?: ReadonlyArray<{ readonly message?: unknown } | null>
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a response; undefined if the bytes are not one, or nest deeper than `RESPONSE_JSON_DEPTH_MAX`: parsing deep brackets takes a
 * hundred times as long as counting them.
 */
export function responseIn(bytes: Uint8Array): GraphqlResponse | undefined {
  if (nestsDeeperThan(bytes, RESPONSE_JSON_DEPTH_MAX)) return undefined
  try {
    return responseOf(decoder.decode(bytes))
  } catch {
    return undefined
  }
}

/** Parses a response; undefined if the JSON text is not one. */
export function responseOf(text: string): GraphqlResponse | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { data, errors } = value as Record<string, unknown>
  if (data === undefined && errors === undefined) return undefined
  if (data != null && (typeof data !== 'object' || Array.isArray(data))) return undefined
  if (errors !== undefined && !Array.isArray(errors)) return undefined
  return value
}
