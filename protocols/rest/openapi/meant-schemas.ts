import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject } from '../../exact-json.ts'
import { composedOf, JOINED } from './composed-schema.ts'
import { type Definitions, dereferenced, subschemasOf, withSubschemas } from './openapi-schemas.ts'
import type { RestApi } from './rest-api.ts'

/**
 * The schemas as the generators and authors of documents mean them. By JSON Schema, hardly any object fits types that inherit from each
 * other by `allOf`, as Swashbuckle and NSwag write them, and many values fit no `oneOf`:
 *
 * - Each part has `additionalProperties: false`, so it excludes the fields of the others. The parts are opened, and the whole is
 *   closed by `unevaluatedProperties`.
 * - A base type with a discriminator stands for its variants, which have further fields. It is opened too.
 * - The discriminator is in the base type only. The alternatives get it as well.
 * - Values fit several alternatives of `oneOf`, such as a base type beside its variants, or a text beside a list of texts. It becomes
 *   `anyOf`, unless each alternative requires a field of its own.
 * - The `type` beside the alternatives excludes some of them, such as `type: object` beside a text or an object. It is removed.
 */
export function asMeant({ operations, definitions }: RestApi): RestApi {
  const roots = operations.flatMap(({ parameters, body, output }) => [
    ...parameters.map(({ schema }) => schema),
    body?.schema,
    output
  ])
  const changes = changesOf([...roots, ...Object.values(definitions)].filter(isObject), definitions)
  if (changes.size === 0) return { operations, definitions }
  const changed = (schema: JsonSchema): JsonSchema => {
    const copy = withSubschemas(schema, (one) => (isObject(one) ? changed(one) : one))
    return changes.get(schema)?.reduce((last, change) => change(last), copy) ?? copy
  }
  return {
    operations: operations.map((operation) => {
      const { parameters, body, output } = operation
      return {
        ...operation,
        parameters: parameters.map((one) => ({ ...one, schema: changed(one.schema) })),
        ...(body === undefined ? {} : { body: { ...body, schema: changed(body.schema) } }),
        ...(output === undefined ? {} : { output: changed(output) })
      }
    }),
    definitions: Object.fromEntries(Object.entries(definitions).map(([name, one]) => [name, changed(one)]))
  }
}

type Change = (schema: JsonSchema) => JsonSchema

const opened: Change = ({ additionalProperties: _, ...schema }) => schema
const closed: Change = (schema) => ({ ...schema, unevaluatedProperties: false })
const untyped: Change = ({ type: _, ...schema }) => schema
const loosened: Change = ({ oneOf, ...schema }) => ({ ...schema, anyOf: oneOf })

function changesOf(schemas: readonly JsonSchema[], definitions: Definitions): ReadonlyMap<JsonSchema, Change[]> {
  const toOpen = new Set<JsonSchema>()
  const toClose = new Set<JsonSchema>()
  /** Parts of others, which stay open. */
  const parts = new Set<JsonSchema>()
  const changes = new Map<JsonSchema, Change[]>()
  const waiting = [...schemas]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const one of subschemasOf(at)) if (isObject(one)) waiting.push(one)
    if (isBase(at)) {
      parts.add(at)
      if (isClosed(at)) toOpen.add(at)
    }
    const excluding = excludingParts(at, definitions)
    if (excluding.length > 0) {
      for (const part of composedOf(at, definitions, JOINED)) if (part !== at) parts.add(part)
      for (const part of excluding) toOpen.add(part)
      toClose.add(at)
    }
    const ofAlternatives = alternativeChanges(at, definitions)
    if (ofAlternatives.length > 0) changes.set(at, ofAlternatives)
  }
  const add = (schema: JsonSchema, change: Change) => changes.set(schema, [...(changes.get(schema) ?? []), change])
  for (const schema of toOpen) add(schema, opened)
  for (const schema of toClose) if (!parts.has(schema)) add(schema, closed)
  return changes
}

/** The closed parts of a schema, if one of them excludes fields of the others. */
function excludingParts(schema: JsonSchema, definitions: Definitions): readonly JsonSchema[] {
  if (!Array.isArray(schema['allOf'])) return []
  const strict = composedOf(schema, definitions, JOINED).filter(isClosed)
  if (strict.length === 0) return []
  const names = new Set(composedOf(schema, definitions).flatMap(namesIn))
  return strict.some((part) => namesIn(part).length < names.size) ? strict : []
}

function alternativeChanges(schema: JsonSchema, definitions: Definitions): Change[] {
  const { oneOf, anyOf, discriminator } = schema
  const branches = [oneOf ?? anyOf].flat().filter(isObject)
  const lines = branches.map((branch) => composedOf(dereferenced(branch, definitions), definitions, JOINED))
  const changes: Change[] = []
  if (oneOf !== undefined && anyOf === undefined && !areExclusive(lines)) changes.push(loosened)
  if (lines.some((line) => line.some((part) => excludes(schema, part)))) changes.push(untyped)
  const bases = lines.map((line) => line.find(isBase)?.['discriminator'])
  const [first] = bases
  if (first !== undefined && !isObject(discriminator) && bases.every((one) => one === first))
    changes.push((one) => ({ ...one, discriminator: first }))
  return changes
}

/** Whether no value has a type of both schemas. */
function excludes({ type: one }: JsonSchema, { type: other }: JsonSchema): boolean {
  if (one === undefined || other === undefined) return false
  const [these, those] = [typesOf(one), typesOf(other)]
  return !these.some((type) => those.includes(type))
}

/** Each integer is a number. */
function typesOf(type: unknown): unknown[] {
  return [type].flat().map((one: unknown) => (one === 'integer' ? 'number' : one))
}

/** Whether each alternative, given with the parts that it consists of, requires a field that no other one requires. */
function areExclusive(alternatives: ReadonlyArray<readonly JsonSchema[]>): boolean {
  const required = alternatives.map(
    (parts) => new Set(parts.flatMap(({ required: names }) => (names as string[] | undefined) ?? []))
  )
  const counts = new Map<string, number>()
  for (const name of required.flatMap((names) => [...names])) counts.set(name, (counts.get(name) ?? 0) + 1)
  return required.every((names) => [...names].some((name) => counts.get(name) === 1))
}

/** Whether the schema has a discriminator, but no list of the variants that it tells apart. */
function isBase({ discriminator, oneOf, anyOf }: JsonSchema): boolean {
  return isObject(discriminator) && oneOf === undefined && anyOf === undefined
}

function isClosed({ additionalProperties, patternProperties }: JsonSchema): boolean {
  return additionalProperties === false && patternProperties === undefined
}

function namesIn({ properties }: JsonSchema): string[] {
  return isObject(properties) ? Object.keys(properties) : []
}
