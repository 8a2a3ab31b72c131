import { types } from 'node:util'
import { LOGGED_REASON_CHARS_MAX } from './limits/process.ts'

/** The JSON of a value, or the reason why JSON cannot hold it. Completes "cannot be sent as JSON: ". */
export type WrittenJson = { readonly json: string } | { readonly reason: string }

/**
 * Writes a value as JSON. `JSON.stringify` writes `{}` for a Map or a generator, and drops functions, without an error: the
 * receiver would pay for an empty object. Here they have a reason. As usual, a member without value is omitted, an object with
 * `toJSON` is what that returns, and an instance of a class is its fields. No value at all is `null`.
 */
export function writeJson(value: unknown): WrittenJson {
  try {
    const lost = lostIn(value, new Set())
    if (lost !== undefined) return { reason: reasonOf(lost).slice(0, LOGGED_REASON_CHARS_MAX) }
    return { json: JSON.stringify(value) ?? 'null' }
  } catch (error) {
    if (error instanceof RangeError) return { reason: 'it is nested too deeply or too large.' }
    throw error
  }
}

/** What JSON would lose, and its place: the innermost key first. Most values lose nothing, so the place is written last. */
interface Lost {
  readonly what: string
  readonly place: Array<string | number>
}

/** The first part that JSON would lose. */
function lostIn(value: unknown, around: Set<object>): Lost | undefined {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    return { what: `has the type ${typeof value}`, place: [] }
  if (typeof value !== 'object' || value === null) return undefined
  if ('toJSON' in value && typeof value.toJSON === 'function') return undefined
  if (around.has(value)) return { what: 'refers to itself', place: [] }
  if (isEmptied(value)) return { what: `has the type ${kindOf(value)}`, place: [] }
  around.add(value)
  const lost = Array.isArray(value) ? lostInItems(value, around) : lostInMembers(value, around)
  around.delete(value)
  return lost
}

function lostInItems(items: readonly unknown[], around: Set<object>): Lost | undefined {
  for (let at = 0; at < items.length; at++) {
    const lost = lostIn(items[at], around)
    if (lost !== undefined) return (lost.place.push(at), lost)
  }
  return undefined
}

function lostInMembers(object: object, around: Set<object>): Lost | undefined {
  for (const key of Object.keys(object)) {
    const lost = lostIn((object as Readonly<Record<string, unknown>>)[key], around)
    if (lost !== undefined) return (lost.place.push(key), lost)
  }
  return undefined
}

function reasonOf({ what, place }: Lost): string {
  if (place.length === 0) return `the value ${what}.`
  const path = place
    .toReversed()
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
  return `\`${path.replace(/^\./, '')}\` ${what}.`
}

/** The contents are not in fields of the object, so JSON would not have them. */
function isEmptied(value: object): boolean {
  if (Array.isArray(value) || types.isBoxedPrimitive(value)) return false
  if (value instanceof Error || types.isMap(value) || types.isSet(value)) return true
  // JSON would number their bytes.
  if (ArrayBuffer.isView(value)) return true
  return !isPlain(value) && Object.keys(value).length === 0
}

/** Also for objects of other realms, such as those of `node:vm`. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function kindOf(value: object): string {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  const { constructor } = value as { readonly constructor?: { readonly name?: unknown } }
  return tag === 'Object' ? String(constructor?.name) : tag
}
