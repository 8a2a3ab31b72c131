import { OPERATION_FIELDS_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject } from '../../exact-json.ts'
import { type Flag, isFlagged, withoutRequired } from './directed-schema.ts'
import { withExample } from './openapi-examples.ts'
import type { RestBody, RestOperation, RestParameter } from './rest-api.ts'
import { dereferenced, type Definitions, definitionsOf } from './openapi-schemas.ts'

/** The place of a call's field in the request. */
export type Place =
  | { readonly kind: 'parameter'; readonly parameter: RestParameter }
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'body'; readonly member?: BodyMember }

/** The kind of a body's own member `body`: one that may be an object is easily confused with the body. */
export type BodyMember = 'object' | 'other'

/** The fields of a call of one operation. */
export interface Fields {
  /** By every name that a call may use: plain, or with the place in front, such as `id` and `path.id`. */
  readonly places: ReadonlyMap<string, Place>
  /** Names that several places share. */
  readonly ambiguous: ReadonlySet<string>
  /** True if undescribed fields become members of the body. */
  readonly takesMore: boolean
  /** The JSON Schema of the fields by their published names, without definitions. */
  readonly schema: JsonSchema
}

/** Published pairs of a body's members, of which one needs the other. More are only checked in calls. */
const DEPENDENT_PAIRS_MAX = 256

/** Names that the call itself uses. */
const RESERVED: ReadonlySet<string> = new Set(['operation', 'body'])

/**
 * Each field goes to the place of its name. A name that several places share needs the place in front. The members of a body that
 * is a plain object are fields of their own; any other body is the field `body`.
 */
export function fieldsOf(operation: RestOperation, definitions: Definitions): Fields {
  const { parameters, body } = operation
  const members = body === undefined ? undefined : membersOf(body.schema, definitions)
  const all: Array<{ name: string; place: Place; where: string; schema: unknown; required: boolean | 'with body' }> = []
  for (const parameter of parameters) {
    const { name, in: where, schema, required } = parameter
    all.push({ name, place: { kind: 'parameter', parameter }, where, schema, required })
  }
  for (const [name, given] of members?.properties ?? []) {
    const schema = isObject(given) ? withExample(given, body?.example?.[name]) : given
    const isSent = !isFlagged(schema, 'readOnly', definitions)
    const isNeeded = isSent && members?.required.has(name) === true
    const required = isNeeded && (body?.required === true || 'with body')
    all.push({ name, place: { kind: 'property', name }, where: 'body', schema, required })
  }
  const places = new Map<string, Place>()
  const ambiguous = new Set<string>()
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  const inBody: string[] = []
  const neededInBody: string[] = []
  const uses = new Map<string, number>()
  for (const { name } of all) uses.set(name, (uses.get(name) ?? 0) + 1)
  for (const { name, place, where, schema, required: isRequired } of all) {
    const isPlain = !RESERVED.has(name) && uses.get(name) === 1
    const published = isPlain ? name : `${where}.${name}`
    if (!isPlain && !RESERVED.has(name)) ambiguous.add(name)
    if (isPlain) places.set(name, place)
    places.set(`${where}.${name}`, place)
    properties[published] = schema
    if (where === 'body') inBody.push(published)
    if (isRequired === true) required.push(published)
    if (isRequired === 'with body') neededInBody.push(published)
  }
  if (body !== undefined) {
    const member = members?.properties.get('body')
    places.set('body', {
      kind: 'body',
      ...(member === undefined ? {} : { member: mayBeObject(member, definitions) ? 'object' : 'other' })
    })
    if (members === undefined) {
      properties['body'] = body.schema
      if (body.required) required.push('body')
    }
  }
  const { takesMore = false, patterns = {} } = members ?? {}
  const hasPatterns = Object.keys(patterns).length > 0
  const schema = {
    type: 'object',
    properties,
    ...(hasPatterns ? { patternProperties: patterns } : {}),
    ...(required.length === 0 ? {} : { required }),
    ...dependentOn(inBody, neededInBody),
    additionalProperties: takesMore
  }
  return { places, ambiguous, takesMore: takesMore || hasPatterns, schema }
}

/** A body that may be left out needs its required members once it has any. */
function dependentOn(inBody: readonly string[], needed: readonly string[]): JsonSchema {
  if (inBody.length * needed.length > DEPENDENT_PAIRS_MAX) return {}
  const others = inBody.map((name) => [name, needed.filter((one) => one !== name)] as const)
  const dependent = others.filter(([, names]) => names.length > 0)
  return dependent.length === 0 ? {} : { dependentRequired: Object.fromEntries(dependent) }
}

function mayBeObject(schema: unknown, definitions: Definitions): boolean {
  if (!isObject(schema)) return true
  const { type } = dereferenced(schema, definitions)
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
}

/** A schema with the definitions that it needs. @param flag - members with it are not required: `readOnly` in a request */
export function withDefinitions(schema: JsonSchema, definitions: Definitions, flag: Flag): JsonSchema {
  const own = withoutRequired(schema, flag, definitions)
  const needed = Object.entries(definitionsOf([own], definitions))
  if (needed.length === 0) return own
  return {
    ...own,
    $defs: Object.fromEntries(needed.map(([name, one]) => [name, withoutRequired(one, flag, definitions)]))
  }
}

interface Members {
  readonly properties: ReadonlyMap<string, unknown>
  readonly required: ReadonlySet<string>
  /** Schemas of further members, by patterns of their names. */
  readonly patterns: JsonSchema
  readonly takesMore: boolean
}

/** The members of a body that is one plain object, even if composed of parts; undefined for any other body. */
function membersOf(schema: RestBody['schema'], definitions: Definitions): Members | undefined {
  const properties = new Map<string, unknown>()
  const required = new Set<string>()
  const patterns: Record<string, unknown> = {}
  let takesMore = true
  let isObjects = false
  // Each part counts once, however many references it has.
  const seen = new Set<JsonSchema>()
  const waiting = [schema]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const part = dereferenced(at, definitions)
    if (seen.has(part)) continue
    seen.add(part)
    const isChoice = part['anyOf'] !== undefined || part['oneOf'] !== undefined || part['not'] !== undefined
    const isOther = part['type'] !== undefined && part['type'] !== 'object'
    const parts = Array.isArray(part['allOf']) ? (part['allOf'] as JsonSchema[]) : []
    const isPlain = isObject(part['properties']) || parts.length > 0 || part['type'] === 'object'
    if (isChoice || isOther || !isPlain) return undefined
    isObjects = true
    // A schema's own properties come first, so they override those of its parts.
    const own = Object.entries(isObject(part['properties']) ? part['properties'] : {})
    if (own.length > OPERATION_FIELDS_MAX) return undefined
    for (const [name, one] of own) if (!properties.has(name)) properties.set(name, one)
    for (const name of Array.isArray(part['required']) ? (part['required'] as string[]) : []) required.add(name)
    if (isObject(part['patternProperties'])) Object.assign(patterns, part['patternProperties'])
    takesMore &&= part['additionalProperties'] !== false && part['unevaluatedProperties'] !== false
    if (properties.size > OPERATION_FIELDS_MAX) return undefined
    for (const one of parts) waiting.push(one)
  }
  // A call is checked for a required member that the document does not describe, so it has to be published.
  if (takesMore) for (const name of required) if (!properties.has(name)) properties.set(name, {})
  return isObjects ? { properties, required, patterns, takesMore } : undefined
}
