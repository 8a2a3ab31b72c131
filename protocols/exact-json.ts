import { parseExactly, rawNumber } from '../lib/base/exact-json.ts'
import { parseJson } from './json.ts'

/** `isRawJSON` of ES2026, which TypeScript's es2025 library lacks. */
const Json = JSON as typeof JSON & {
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}

/**
 * Parses JSON and keeps the digits of its numbers. `JSON.stringify` writes them as they were, `textOf` reads them, and `plainly`
 * converts them to ordinary numbers.
 * @throws SoukError `invalid_request`
 */
export function exactly(text: string): unknown {
  return parseJson(text, (json) => parseExactly(json, rawNumber))
}

/** The same value with ordinary numbers. */
export function plainly(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** A string, number or boolean as text; undefined for other values. */
export function textOf(value: unknown): string | undefined {
  if (Json.isRawJSON(value)) return value.rawJSON
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

export type JsonObject = { readonly [name: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Json.isRawJSON(value)
}
