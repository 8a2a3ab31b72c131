import { OPENAPI_EXAMPLE_CHARS_MAX, OPENAPI_EXAMPLE_MEMBERS_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject, textOf } from '../../exact-json.ts'

/** The characters around a value in JSON: quotes, a colon and a comma. */
const BETWEEN = 4

/**
 * The first example of a schema, a parameter or a media type. All versions of OpenAPI write examples in another way; `x-example` is
 * the usual extension of 2.0. Undefined without one, and for a large one.
 */
export function exampleIn(given: JsonObject): unknown {
  const found = foundIn(given)
  return isSmall(found) ? found : undefined
}

/** The members of the example of a body, each as small as an example of its own. Undefined if it is no object. */
export function bodyExampleIn(media: JsonObject): JsonObject | undefined {
  const found = foundIn(media)
  if (!isObject(found)) return undefined
  return Object.fromEntries(
    Object.entries(found)
      .slice(0, OPENAPI_EXAMPLE_MEMBERS_MAX)
      .filter(([, one]) => isSmall(one))
  )
}

function foundIn({ example, examples, ...others }: JsonObject): unknown {
  const all: readonly unknown[] = Array.isArray(examples)
    ? examples
    : isObject(examples)
      ? Object.values(examples).map(valueOf)
      : []
  return example ?? others['x-example'] ?? all[0]
}

function isSmall(value: unknown): boolean {
  return charsLeft(value, OPENAPI_EXAMPLE_CHARS_MAX) >= 0
}

/** A schema with the text and the example that its parameter gives, where it has none of its own. */
export function annotated(schema: JsonSchema, given: JsonObject): JsonSchema {
  const { description, deprecated } = given
  return {
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    ...(deprecated === true ? { deprecated } : {}),
    ...withExample(schema, exampleIn(given))
  }
}

export function withExample(schema: JsonSchema, example: unknown): JsonSchema {
  return example === undefined || schema['examples'] !== undefined ? schema : { ...schema, examples: [example] }
}

/** The value of an Example Object. One that is a reference or an address is not shown. */
function valueOf(example: unknown): unknown {
  return isObject(example) ? example['value'] : undefined
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
