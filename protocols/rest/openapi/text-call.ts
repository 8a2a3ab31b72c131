import { setMember } from '../../../lib/base/set-member.ts'
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
    setMember(call, name, value)
  }
  return call
}

export function isTextCall(call: JsonObject): boolean {
  return Object.hasOwn(call, TEXTS)
}

/**
 * The text as the type of its schema, where it is JSON of that type. The check of the call reports others. A repeated name is a list;
 * an item that is itself a list has to be JSON.
 */
export function typed(value: unknown, schema: unknown, definitions: Definitions): unknown {
  const { types, items } = typeOf(schema, definitions)
  const isList = types.includes('array') && (Array.isArray(value) || !String(value).startsWith('['))
  if (!isList) return parsed(value, types)
  const item = typeOf(items, definitions).types
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map((one) => parsed(one, item))
}

function typeOf(schema: unknown, definitions: Definitions): { types: readonly unknown[]; items?: unknown } {
  const { type, items } = isObject(schema) ? dereferenced(schema, definitions) : {}
  return { types: type === undefined ? [] : [type].flat(), items }
}

function parsed(value: unknown, types: readonly unknown[]): unknown {
  if (typeof value !== 'string' || types.length === 0 || types.includes('string')) return value
  try {
    return exactly(value)
  } catch {
    return value
  }
}
