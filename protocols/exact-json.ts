import { parseJson } from './json.ts'

/** With ES2026's `rawJSON`, which TypeScript's es2025 library does not know yet. */
const Json = JSON as typeof JSON & {
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}

/**
 * A JSON document whose numbers keep the digits they were written with, however many: `JSON.stringify` writes them so, `textOf`
 * reads them so, and `plainly` makes ordinary numbers of them.
 * @throws SoukError `invalid_request`
 */
export function exactly(text: string): unknown {
  return parseJson(text, (_key, value, context) =>
    typeof value === 'number' && context?.source !== undefined && context.source !== String(value)
      ? Json.rawJSON(context.source)
      : value
  )
}

/** The same value with ordinary numbers. */
export function plainly(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** A string, number or boolean as text; undefined for anything else. */
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
