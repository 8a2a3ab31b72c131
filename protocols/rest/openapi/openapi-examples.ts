import { OPENAPI_EXAMPLE_CHARS_MAX, OPENAPI_EXAMPLE_MEMBERS_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject, textOf } from '../../exact-json.ts'

/** The target of a reference; empty without one. */
export type Find = (given: unknown) => JsonObject

/** The characters around a value in JSON: quotes, a colon and a comma. */
const BETWEEN = 4
/** A longer text is not read as JSON. */
const JSON_CHARS_MAX = OPENAPI_EXAMPLE_CHARS_MAX * OPENAPI_EXAMPLE_MEMBERS_MAX

/**
 * The first example of a schema, a parameter or a media type. All versions of OpenAPI write examples in another way; `x-example` is
 * the usual extension of 2.0. Undefined without one, and for a large one.
 */
export function exampleIn(given: JsonObject, find?: Find): unknown {
  const found = foundIn(given, find)
  return isSmall(found) ? found : undefined
}

/**
 * The members of the example of a body or of its schema, each as small as an example of its own. Undefined if it is no object.
 */
export function bodyExampleIn(media: JsonObject, find: Find): JsonObject | undefined {
  const found = objectIn(foundIn(media, find)) ?? objectIn(foundIn(find(media['schema']), find))
  if (found === undefined) return undefined
  return Object.fromEntries(
    Object.entries(found)
      .slice(0, OPENAPI_EXAMPLE_MEMBERS_MAX)
      .filter(([, one]) => isSmall(one))
  )
}

/** An object, which some documents write as a JSON text. */
function objectIn(found: unknown): JsonObject | undefined {
  if (isObject(found)) return found
  if (typeof found !== 'string' || found.length > JSON_CHARS_MAX || !/^\s*\{/.test(found)) return undefined
  try {
    const read: unknown = JSON.parse(found)
    return isObject(read) ? read : undefined
  } catch {
    return undefined
  }
}

function foundIn({ example, examples, ...others }: JsonObject, find?: Find): unknown {
  const own = example ?? others['x-example']
  if (own !== undefined && own !== null) return own
  if (Array.isArray(examples)) return examples[0] as unknown
  return isObject(examples) ? valueOf(Object.values(examples)[0], find) : undefined
}

function isSmall(value: unknown): boolean {
  return charsLeft(value, OPENAPI_EXAMPLE_CHARS_MAX) >= 0
}

/** A schema with the text and the example that its parameter gives, where it has none of its own. */
export function annotated(schema: JsonSchema, given: JsonObject, find: Find): JsonSchema {
  const { description, deprecated } = given
  return {
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    ...(deprecated === true ? { deprecated } : {}),
    ...withExample(schema, exampleIn(given, find))
  }
}

export function withExample(schema: JsonSchema, example: unknown): JsonSchema {
  return example === undefined || schema['examples'] !== undefined ? schema : { ...schema, examples: [example] }
}

/** The value of an Example Object. One that is only an address is not shown. */
function valueOf(example: unknown, find?: Find): unknown {
  if (!isObject(example)) return undefined
  return (find === undefined ? example : find(example))['value']
}

/** The limit less the characters of a value as JSON. Stops when it is below zero, because a YAML alias can repeat a value a billion times. */
function charsLeft(value: unknown, limit: number): number {
  const text = textOf(value)
  if (text !== undefined) return limit - text.length - BETWEEN
  if (typeof value !== 'object' || value === null) return limit - BETWEEN
  let left = limit
  for (const [name, one] of Object.entries(value)) {
    if (left < 0) return left
    left = charsLeft(one, left - name.length - BETWEEN)
  }
  return left
}
