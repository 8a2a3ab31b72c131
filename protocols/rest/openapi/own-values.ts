import { isObject, textOf } from '../../exact-json.ts'

const NUMBER = /^-?\d+(?:\.\d+)?$/

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: isObject,
  null: (value) => value === null
}

export function isOfType(value: unknown, type: unknown): boolean {
  return [type].flat().some((one) => TYPES[String(one)]?.(value))
}

/**
 * A schema whose `enum` and `const` have values of its `type`. Many documents list others, which no value fits: `enum: [1, 2]` of a
 * string, because YAML needs quotes there, `["true", "false"]` of a boolean, or those of the items in the schema of the array.
 */
export function withOwnValues(schema: Record<string, unknown>): Record<string, unknown> {
  return withOwnExamples(withOwnEnum(schema))
}

/** A schema whose default and examples have its type. Forms and tools fill in others, and the call would be refused. */
function withOwnExamples(schema: Record<string, unknown>): Record<string, unknown> {
  const { type, default: usual, examples, ...rest } = schema
  if (type === undefined || (usual === undefined && examples === undefined)) return schema
  const types = [type].flat().map(String)
  const own = ownValue(usual, types)
  const shown = [examples].flat().flatMap((one) => ownValue(one, types) ?? [])
  return {
    ...rest,
    type,
    ...(own === undefined ? {} : { default: own }),
    ...(shown.length === 0 ? {} : { examples: shown })
  }
}

function withOwnEnum(schema: Record<string, unknown>): Record<string, unknown> {
  const { type, enum: listed, const: only, items, ...rest } = schema
  if (type === undefined || (!Array.isArray(listed) && only === undefined)) return schema
  const types = [type].flat().map(String)
  const values: unknown[] = Array.isArray(listed) ? listed : [only]
  const own = values.map((value) => ownValue(value, types))
  if (own.some((value) => value !== undefined)) {
    const fitting = own.map((value, at) => value ?? values[at])
    return Array.isArray(listed) ? { ...schema, enum: [...new Set(fitting)] } : { ...schema, const: fitting[0] }
  }
  if (!Array.isArray(listed) || !types.includes('array') || !isObject(items)) {
    // The values say more than the type.
    const { type: _, ...untyped } = schema
    return untyped
  }
  const areOpen = items['enum'] === undefined && items['$ref'] === undefined
  return { ...rest, type, items: areOpen ? withOwnEnum({ ...items, enum: listed }) : items }
}

/** The value in one of the types; undefined if it has none of them. */
function ownValue(value: unknown, types: readonly string[]): unknown {
  if (isOfType(value, types)) return value
  const text = textOf(value)
  if (text === undefined) return undefined
  if (types.includes('string')) return text
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  const isOwn = types.some((type) => type === 'number' || (type === 'integer' && Number.isInteger(Number(text))))
  return isOwn && NUMBER.test(text) ? Number(text) : undefined
}
