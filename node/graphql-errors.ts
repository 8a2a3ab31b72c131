import type { CallReply } from '../lib/interface/index.ts'

/** A longer response than this has data. */
const CHARS_MAX = 64 * 1024
/** The beginning of a result that may have no data. */
const START = /^\s*\{\s*"(?:errors"|data"\s*:\s*null\b)/

/**
 * Whether a response is a GraphQL result with errors and no data. Its HTTP status says nothing: with `application/json` it is 200.
 * Nearly all other responses differ in their first characters, so this takes a microsecond.
 */
export function hasErrorsOnly({ status, body }: Pick<CallReply, 'status' | 'body'>): boolean {
  if (status >= 400 || !(body instanceof Uint8Array) || body.length > CHARS_MAX) return false
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (!START.test(bytes.toString('latin1', 0, CHARS_COMPARED))) return false
  try {
    const { data, errors } = JSON.parse(bytes.toString()) as { readonly data?: unknown; readonly errors?: unknown }
    return data == null && Array.isArray(errors) && errors.length > 0
  } catch {
    return false
  }
}

const CHARS_COMPARED = 64

/** Shown in place of an error code for such a response. */
export const GRAPHQL_ERRORS = 'graphql_errors'
