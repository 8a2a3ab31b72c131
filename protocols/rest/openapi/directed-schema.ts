import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject } from '../../exact-json.ts'
import { COMPOSING, composedOf, JOINED } from './composed-schema.ts'
import { type Definitions, dereferenced, withSubschemas } from './openapi-schemas.ts'

/** `readOnly` members are not required in requests, `writeOnly` members not in responses (OpenAPI 3.0, section 4.7.24.1). */
export type Flag = 'readOnly' | 'writeOnly'

const NONE: ReadonlySet<string> = new Set()

/** Schemas never change, so each is converted once. */
const KNOWN: Readonly<Record<Flag, WeakMap<JsonSchema, JsonSchema>>> = {
  readOnly: new WeakMap(),
  writeOnly: new WeakMap()
}

/** The schema without `required` for members with the flag. */
export function withoutRequired(schema: JsonSchema, flag: Flag, definitions: Definitions): JsonSchema {
  const known = KNOWN[flag].get(schema)
  if (known !== undefined) return known
  const converted = convert(schema, NONE, flag, definitions)
  KNOWN[flag].set(schema, converted)
  return converted
}

/** @param inherited - names with the flag in the schema that this one is a part of */
function convert(schema: JsonSchema, inherited: ReadonlySet<string>, flag: Flag, definitions: Definitions): JsonSchema {
  const names = new Set([...inherited, ...flaggedIn(schema, flag, definitions)])
  const converted = withSubschemas(schema, (value, keyword) => {
    if (!isObject(value)) return value
    const isPart = COMPOSING.includes(keyword) && names.size > 0
    return isPart ? convert(value, names, flag, definitions) : withoutRequired(value, flag, definitions)
  })
  if (!Array.isArray(schema['required'])) return converted
  const left = schema['required'].filter((name) => !names.has(String(name)))
  if (left.length > 0) return { ...converted, required: left }
  delete converted['required']
  return converted
}

/** Names with the flag in a schema and in the parts that it is composed of. */
function flaggedIn(schema: JsonSchema, flag: Flag, definitions: Definitions): string[] {
  return composedOf(schema, definitions, JOINED).flatMap(({ properties }) =>
    Object.entries(isObject(properties) ? properties : {}).flatMap(([name, one]) =>
      isFlagged(one, flag, definitions) ? [name] : []
    )
  )
}

export function isFlagged(schema: unknown, flag: Flag, definitions: Definitions): boolean {
  if (!isObject(schema)) return false
  if (schema[flag] === true) return true
  const target = dereferenced(schema, definitions)
  // A schema that may be null is the alternative of another and null.
  const { anyOf } = target
  const [first] = Array.isArray(anyOf) ? (anyOf as unknown[]) : []
  return target[flag] === true || (isObject(first) && first[flag] === true)
}
