import { SoukError } from '../../../lib/base/errors.ts'
import { OPENAPI_DEPTH_MAX, OPENAPI_SCHEMAS_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject, textOf } from '../../exact-json.ts'
import type { OpenapiDocument } from './openapi-document.ts'
import { exampleIn } from './openapi-examples.ts'
import { withFittingRules } from './listed-values.ts'
import { withOwnValues } from './own-values.ts'
import { ASSERTIONS } from './schema-keywords.ts'

export type Definitions = Readonly<Record<string, JsonSchema>>

const KEPT: ReadonlySet<string> = new Set(
  (
    'type enum const format pattern title description default deprecated readOnly writeOnly required multipleOf maximum minimum ' +
    'exclusiveMaximum exclusiveMinimum maxLength minLength maxItems minItems uniqueItems maxProperties minProperties ' +
    'minContains maxContains dependentRequired contentEncoding contentMediaType xml'
  ).split(' ')
)
/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
export const ONE =
  'items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties'.split(' ')
export const MANY = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
export const NAMED = ['properties', 'patternProperties', 'dependentSchemas']

export const REF = '#/$defs/'

/**
 * Converts the schemas of an OpenAPI document to JSON Schema (2020-12). Referenced schemas, including cycles, become definitions.
 */
export class Schemas {
  readonly #document: OpenapiDocument
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()
  readonly #defs = new Map<string, JsonSchema>()
  /** Named but not yet converted. */
  readonly #waiting: Array<readonly [name: string, target: unknown]> = []
  /** References without a target. */
  readonly #lost = new Set<string>()
  readonly #dynamic = new Set<string>()
  #seen = 0

  constructor(document: OpenapiDocument) {
    this.#document = document
  }

  /** Each referenced schema once, by name. */
  definitions(): Definitions {
    // Iterative, because a chain of references may be as long as the document.
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      const [name, target] = next
      this.#defs.set(name, this.convert(target))
    }
    return Object.fromEntries(this.#defs)
  }

  /** Sentences about references that are not followed. */
  get warnings(): readonly string[] {
    const lost = [...this.#lost].map(
      (reference) =>
        `The reference ${shownReference(reference)} has no target: any value is accepted in its place. Correct it, or add its file.`
    )
    const dynamic = [...this.#dynamic].map(
      (reference) =>
        `The $dynamicRef ${shownReference(reference)} is not followed: any value is accepted in its place. Use $ref if you can.`
    )
    return [...lost, ...dynamic]
  }

  /** @throws SoukError `invalid_request` for too many or too deep schemas */
  convert(schema: unknown, depth = 0): JsonSchema {
    if (++this.#seen > OPENAPI_SCHEMAS_MAX) {
      throw new SoukError('invalid_request', `The OpenAPI document has more than ${OPENAPI_SCHEMAS_MAX} schemas.`)
    }
    if (depth > OPENAPI_DEPTH_MAX) {
      throw new SoukError(
        'invalid_request',
        `A schema of the OpenAPI document is nested deeper than ${OPENAPI_DEPTH_MAX} levels.`
      )
    }
    if (schema === false) return { not: {} }
    if (!isObject(schema)) return {}
    const { $ref: reference } = schema
    const isOld = this.#document.version === '2.0' || this.#document.version === '3.0'
    const members = isOld && typeof reference === 'string' ? {} : this.#members(schema, depth)
    const converted =
      typeof reference === 'string'
        ? // Before 3.1, siblings of a reference are ignored.
          { ...this.#define(reference), ...members }
        : valid(isOld ? modernised(members) : members)
    return isNullable(schema) ? { anyOf: [converted, { type: 'null' }] } : converted
  }

  #members(schema: JsonObject, depth: number): Record<string, unknown> {
    const members: Record<string, unknown> = {}
    const below = (value: unknown) => this.convert(value, depth + 1)
    for (const [keyword, value] of Object.entries(schema)) {
      if (KEPT.has(keyword)) members[keyword] = value
      else if (keyword === '$dynamicRef' && typeof value === 'string') this.#dynamic.add(value)
      else if (keyword === 'example' || keyword === 'examples') members['examples'] = examplesOf(schema)
      else if (keyword === 'discriminator') members[keyword] = this.#discriminator(value)
      else if (ONE.includes(keyword)) members[keyword] = typeof value === 'boolean' ? value : below(value)
      else if (MANY.includes(keyword) && Array.isArray(value) && value.length > 0) members[keyword] = value.map(below)
      else if (NAMED.includes(keyword) && isObject(value)) {
        members[keyword] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, below(one)]))
      }
    }
    return members
  }

  /** With the names of definitions in place of references. In 2.0, a discriminator is only a name. */
  #discriminator(given: unknown): JsonObject | undefined {
    const { propertyName, mapping } = isObject(given) ? given : { propertyName: given }
    if (typeof propertyName !== 'string') return undefined
    const branches = Object.entries(isObject(mapping) ? mapping : {}).flatMap(([value, target]) => {
      if (typeof target !== 'string' || target === '') return []
      // The name of a schema, which may look like an address, else a reference (3.1, section 4.8.25).
      const reference = [`#/components/schemas/${target}`, target].find(
        (one) => this.#document.references.target(one) !== undefined
      )
      return reference === undefined ? [] : [[value, this.#define(reference)['$ref']] as const]
    })
    return { propertyName, ...(branches.length === 0 ? {} : { mapping: Object.fromEntries(branches) }) }
  }

  #define(reference: string): JsonSchema {
    const known = this.#names.get(reference)
    if (known !== undefined) return { $ref: REF + known }
    const name = this.#nameFor(reference)
    this.#names.set(reference, name)
    const target = this.#document.references.target(reference)
    if (target === undefined) this.#lost.add(reference)
    this.#waiting.push([name, target])
    return { $ref: REF + name }
  }

  #nameFor(reference: string): string {
    const last = reference.slice(reference.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_.-]/g, '_') || 'schema'
    let name = last
    for (let at = 2; this.#taken.has(name); at++) name = `${last}_${at}`
    this.#taken.add(name)
    return name
  }
}

export function shownReference(reference: string): string {
  return JSON.stringify(reference.replace(/^file:\/\/\//, '').slice(0, 200))
}

/** The schemas in the keywords of a schema, which may also be booleans. */
export function subschemasOf(schema: JsonSchema): unknown[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (ONE.includes(keyword)) return [value]
    if (MANY.includes(keyword) && Array.isArray(value)) return value as unknown[]
    return NAMED.includes(keyword) && isObject(value) ? Object.values(value) : []
  })
}

/** A copy of a schema with other schemas in its keywords. */
export function withSubschemas(
  schema: JsonSchema,
  change: (value: unknown, keyword: string) => unknown
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (ONE.includes(keyword)) return [keyword, change(value, keyword)]
      if (MANY.includes(keyword) && Array.isArray(value)) return [keyword, value.map((one) => change(one, keyword))]
      if (!NAMED.includes(keyword) || !isObject(value)) return [keyword, value]
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one, keyword)]))]
    })
  )
}

/** The definitions that schemas need, directly or indirectly. */
export function definitionsOf(schemas: readonly unknown[], all: Definitions): Definitions {
  const needed = new Map<string, JsonSchema>()
  const waiting: unknown[] = [...schemas]
  while (waiting.length > 0) {
    const at = waiting.pop()
    if (typeof at !== 'object' || at === null) continue
    for (const [key, value] of Object.entries(at)) {
      if (key !== '$ref' || typeof value !== 'string') {
        waiting.push(value)
        continue
      }
      const name = value.slice(REF.length)
      const definition = all[name]
      if (definition === undefined || needed.has(name)) continue
      needed.set(name, definition)
      waiting.push(definition)
    }
  }
  return Object.fromEntries(needed)
}

/** Follows a schema's references to the schema itself. */
export function dereferenced(schema: JsonSchema, all: Definitions): JsonSchema {
  let at = schema
  for (let hops = 0; hops < OPENAPI_DEPTH_MAX && typeof at['$ref'] === 'string'; hops++) {
    const next = all[at['$ref'].slice(REF.length)]
    if (next === undefined) break
    at = next
  }
  return at
}

/** `nullable` of 3.0, which many documents also have beside references, and after an update to 3.1. */
function isNullable({ nullable, 'x-nullable': extension, type }: JsonObject): boolean {
  return (nullable === true || extension === true) && ![type].flat().includes('null')
}

/** A schema of a file. Documents of 2.0, such as Azure's, also have objects of the format `file`. */
export function isFileSchema({ type, format, properties }: JsonObject): boolean {
  if (type === 'file') return true
  return (format === 'binary' || format === 'file') && (type !== 'object' || properties === undefined)
}

/** Converts the syntax of OpenAPI 2.0 and 3.0 that differs from JSON Schema. */
function modernised(members: Record<string, unknown>): Record<string, unknown> {
  if (isFileSchema(members)) Object.assign(members, { type: 'string', format: 'binary' })
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum']
  ] as const) {
    if (typeof members[flag] !== 'boolean') continue
    const isExclusive = members[flag]
    delete members[flag]
    if (isExclusive && members[bound] !== undefined) {
      members[flag] = members[bound]
      delete members[bound]
    }
  }
  return members
}

/** The first example, if it is one value: examples of whole objects are those of their members. */
function examplesOf(schema: JsonObject): unknown[] | undefined {
  const example = exampleIn(schema)
  return textOf(example) === undefined ? undefined : [example]
}

const BOUNDS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties']
] as const

/** Removes keywords with values that JSON Schema does not allow, which consumers' tools would reject, and bounds that exclude all. */
function valid(members: Record<string, unknown>): JsonSchema {
  for (const [keyword, value] of Object.entries(members)) {
    if (Object.hasOwn(ASSERTIONS, keyword) && ASSERTIONS[keyword]?.(value) === false) delete members[keyword]
  }
  for (const [least, most] of BOUNDS) {
    if (!(Number(members[least]) > Number(members[most]))) continue
    delete members[least]
    delete members[most]
  }
  return withFittingRules(withOwnValues(members))
}
