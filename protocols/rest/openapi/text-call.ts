import { type Definitions, dereferenced } from './openapi-schemas.ts'
import { exactly, isObject, type JsonObject } from '../../exact-json.ts'

/** Marks a call whose values are texts of a query, which its operation's schemas give their types. */
const TEXTS: unique symbol = Symbol('texts')

/** A query as a call: `?operation=follow&symbol=BTC`. A repeated name is a list. */
export function textCall(query: string): JsonObject {
  const call: Record<string | typeof TEXTS, unknown> = { [TEXTS]: true }
  for (const [name, text] of new URLSearchParams(query.replace(/^\?/, ''))) {
    const before = Object.hasOwn(call, name) ? call[name] : undefined
    const value = before === undefined ? text : [...(Array.isArray(before) ? (before as unknown[]) : [before]), text]
    // Not an assignment, because `__proto__` is a valid name.
    Object.defineProperty(call, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return call
}

export function isTextCall(call: JsonObject): boolean {
  return Object.hasOwn(call, TEXTS)
}

/** The text as the type of its schema, where it is JSON of that type. The check of the call reports others. */
export function typed(value: unknown, schema: unknown, definitions: Definitions): unknown {
  const { type, items } = isObject(schema) ? dereferenced(schema, definitions) : {}
  const types = Array.isArray(type) ? (type as unknown[]) : [type]
  if (types.includes('array') && (Array.isArray(value) || !String(value).startsWith('['))) {
    return (Array.isArray(value) ? (value as unknown[]) : [value]).map((one) => typed(one, items, definitions))
  }
  if (typeof value !== 'string' || type === undefined || types.includes('string')) return value
  try {
    return exactly(value)
  } catch {
    return value
  }
}
