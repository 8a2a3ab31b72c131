import type { JsonSchema } from '../../lib/interface/adapter.ts'
import { isObject } from '../exact-json.ts'
import type { RestBody, RestOperation, RestParameter } from './openapi-operations.ts'
import { dereferenced, type Definitions, definitionsOf } from './openapi-schemas.ts'

/** Where a field of a call goes. */
export type Place =
  | { readonly kind: 'parameter'; readonly parameter: RestParameter }
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'body' }

/** The fields of a call of one operation. */
export interface Fields {
  /** By the names a call may use, the plain ones and those with their place in front: `id`, `path.id`. */
  readonly places: ReadonlyMap<string, Place>
  /** Names that could mean several places. */
  readonly ambiguous: ReadonlySet<string>
  /** Fields that are nowhere described become members of the body. */
  readonly takesMore: boolean
  /** JSON Schema of the fields by the names they are published with. */
  readonly schema: JsonSchema
}

/** Taken by the call itself. */
const RESERVED: ReadonlySet<string> = new Set(['operation', 'body'])

/**
 * Each field goes where its name says; a name that several places have needs the place in front. The members of a body that is a
 * plain object are fields of their own; any other body is the field `body`.
 */
export function fieldsOf(operation: RestOperation, definitions: Definitions): Fields {
  const { parameters, body } = operation
  const members = body === undefined ? undefined : membersOf(body.schema, definitions)
  const all: Array<{ name: string; place: Place; where: string; schema: unknown; required: boolean }> = []
  for (const parameter of parameters) {
    const { name, in: where, schema, required } = parameter
    all.push({ name, place: { kind: 'parameter', parameter }, where, schema, required })
  }
  for (const [name, schema] of Object.entries(members?.properties ?? {})) {
    const required = body?.required === true && members?.required.includes(name) === true
    all.push({ name, place: { kind: 'property', name }, where: 'body', schema, required })
  }
  const places = new Map<string, Place>()
  const ambiguous = new Set<string>()
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  for (const { name, place, where, schema, required: isRequired } of all) {
    const isPlain = !RESERVED.has(name) && all.filter((other) => other.name === name).length === 1
    const published = isPlain ? name : `${where}.${name}`
    if (!isPlain && !RESERVED.has(name)) ambiguous.add(name)
    if (isPlain) places.set(name, place)
    places.set(`${where}.${name}`, place)
    properties[published] = schema
    if (isRequired) required.push(published)
  }
  if (body !== undefined) {
    places.set('body', { kind: 'body' })
    if (members === undefined) {
      properties['body'] = body.schema
      if (body.required) required.push('body')
    }
  }
  const takesMore = members?.takesMore === true
  const schema = {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: takesMore
  }
  return { places, ambiguous, takesMore, schema: withDefinitions(schema, definitions) }
}

/** A schema with the definitions it needs. */
export function withDefinitions(schema: JsonSchema, definitions: Definitions): JsonSchema {
  const $defs = definitionsOf([schema], definitions)
  return Object.keys($defs).length === 0 ? schema : { ...schema, $defs }
}

interface Members {
  readonly properties: Readonly<Record<string, unknown>>
  readonly required: readonly string[]
  readonly takesMore: boolean
}

/** Those of a body that is one plain object, however it is put together; undefined for any other. */
function membersOf(schema: RestBody['schema'], definitions: Definitions, depth = 0): Members | undefined {
  const { type, properties, required, additionalProperties, allOf, anyOf, oneOf, not } = dereferenced(
    schema,
    definitions
  )
  const isChoice = anyOf !== undefined || oneOf !== undefined || not !== undefined
  const isOther = type !== undefined && type !== 'object'
  if (isChoice || isOther || depth > 8) return undefined
  const parts: Members[] = []
  for (const part of Array.isArray(allOf) ? (allOf as JsonSchema[]) : []) {
    const members = membersOf(part, definitions, depth + 1)
    if (members === undefined) return undefined
    parts.push(members)
  }
  if (!isObject(properties) && parts.length === 0 && type !== 'object') return undefined
  return {
    properties: Object.assign({}, ...parts.map((part) => part.properties), properties) as Members['properties'],
    required: [...parts.flatMap((part) => part.required), ...(Array.isArray(required) ? (required as string[]) : [])],
    takesMore: additionalProperties !== false && parts.every((part) => part.takesMore)
  }
}
