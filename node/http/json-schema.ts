import { z } from 'zod'

/** JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown }

export interface DescribedSchema {
  readonly schema: JsonSchema
  /** Schemas that it refers to as `#/$defs/<name>`. */
  readonly definitions: Readonly<Record<string, JsonSchema>>
}

/** A schema for documents. @param io - `input`: what clients send; `output`: what they receive */
export function describeSchema(schema: z.ZodType, io: 'input' | 'output'): DescribedSchema {
  const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: plain })
  const definitions = Object.entries($defs).filter(([name]) => !ANY_JSON.test(name))
  return {
    schema: withoutAnyJson(rest) as JsonSchema,
    definitions: Object.fromEntries(definitions.map(([name, each]) => [name, withoutAnyJson(each) as JsonSchema]))
  }
}

/** Removes keywords that only repeat the rules of JSON and JavaScript. */
function plain({
  zodSchema,
  jsonSchema
}: {
  readonly zodSchema: unknown
  readonly jsonSchema: z.core.JSONSchema.BaseSchema
}): void {
  delete jsonSchema.readOnly
  delete jsonSchema.propertyNames
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  // Keep `additionalProperties` only for objects that refuse unknown members.
  const isOpen = zodSchema instanceof z.ZodObject && zodSchema.def.catchall === undefined
  if (isOpen && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
}

/** `z.json()` becomes a recursive definition with such a name. An empty schema means the same. */
const ANY_JSON = /^__schema\d+$/

function withoutAnyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAnyJson)
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...rest } = value as { readonly $ref?: unknown }
  const isAny = typeof $ref === 'string' && ANY_JSON.test($ref.slice('#/$defs/'.length))
  const members = Object.entries(isAny ? rest : value)
  return Object.fromEntries(members.map(([key, member]) => [key, withoutAnyJson(member)]))
}
