import { isRawNumber } from '../json.ts'

/**
 * Reads JSON Schemas (draft 2020-12) for forms. Schemas come from other providers and may be invalid or hostile. Unsupported parts
 * become "any JSON", and limits bound references and nesting.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }
export type Schema = { readonly [keyword: string]: unknown }

/** The type of one value, after references are resolved. */
export interface Shape {
  readonly kind: 'const' | 'enum' | 'boolean' | 'number' | 'string' | 'array' | 'object' | 'choice' | 'any'
  /** The schema with its top-level `$ref` and `allOf` resolved. */
  readonly schema: Schema
  readonly isNullable: boolean
  /** Alternatives of a `choice`. */
  readonly choices: readonly Schema[]
}

export interface Member {
  readonly name: string
  readonly schema: unknown
  readonly isRequired: boolean
}

/** Limit of references and `allOf` parts resolved for one schema. */
const HOPS_MAX = 64
/** Limit of values in an example, and in the initial value of a form. */
const VALUES_MAX = 400
/** Limit of nesting in an example, and in a form. Deeper objects are entered as JSON. */
export const DEPTH_MAX = 8
/** Limit of fields in a form. Objects with more members are entered as JSON. */
const MEMBERS_MAX = 150
const NONE: Schema = {}

export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value)
}

function at(root: Schema, reference: string): unknown {
  let found: unknown = root
  for (const step of reference.startsWith('#/') ? reference.slice(2).split('/') : [null]) {
    const key = step?.replaceAll('~1', '/').replaceAll('~0', '~')
    if (key === undefined || !isObject(found) || !Object.hasOwn(found, key)) return undefined
    found = found[key]
  }
  return found
}

/** Remaining steps of a walk. A few bytes of references can expand to millions of members. */
interface Budget {
  left: number
}

function resolved(given: unknown, root: Schema, budget: Budget = { left: HOPS_MAX }): Schema {
  if (!isObject(given) || budget.left-- <= 0) return NONE
  const { $ref, allOf, ...own } = given
  const parts: readonly unknown[] = Array.isArray(allOf) ? allOf : []
  const others = [...(typeof $ref === 'string' ? [at(root, $ref)] : []), ...parts]
  return others.reduceRight<Schema>((all, one) => merged(resolved(one, root, budget), all), own)
}

/** Merges two schemas that both apply. For keywords in both, `over` wins. */
function merged(under: Schema, over: Schema): Schema {
  const properties = { ...(under['properties'] as Schema | undefined), ...(over['properties'] as Schema | undefined) }
  const required = [...namesIn(under['required']), ...namesIn(over['required'])]
  return {
    ...under,
    ...over,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required })
  }
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}

/** True if the alternatives of an object only say which of its members go together. */
function hasOnlyConditions({ properties, oneOf, anyOf }: Schema): boolean {
  const choices: readonly unknown[] = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : []
  return (
    isObject(properties) &&
    choices.every((one) => isObject(one) && one['type'] === undefined && one['$ref'] === undefined)
  )
}

export function shapeOf(given: unknown, root: Schema): Shape {
  const schema = resolved(given, root)
  const { oneOf, anyOf } = hasOnlyConditions(schema) ? NONE : schema
  const choices = (Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : []).map((one) => resolved(one, root))
  const real = choices.filter((one) => one['type'] !== 'null')
  const isNullable = real.length < choices.length
  const [only] = real
  if (only !== undefined && real.length === 1) {
    const { oneOf: _, anyOf: __, ...own } = schema
    return { ...shapeOf(merged(only, own), root), isNullable }
  }
  if (real.length > 1) return { kind: 'choice', schema, isNullable, choices: real }
  const types = Array.isArray(schema['type']) ? (schema['type'] as unknown[]) : [schema['type']]
  const kind = kindOf(
    schema,
    types.filter((type) => type !== 'null')
  )
  return { kind, schema, isNullable: types.includes('null'), choices: [] }
}

function kindOf(schema: Schema, types: readonly unknown[]): Shape['kind'] {
  if ('const' in schema) return 'const'
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return 'enum'
  if (types.length > 1) return types.includes('string') ? 'string' : 'any'
  if (types[0] === 'integer' || types[0] === 'number') return 'number'
  if (types[0] === 'boolean' || types[0] === 'string' || types[0] === 'array') return types[0]
  return isObject(schema['properties']) ? 'object' : 'any'
}

/** Members of an object, in the order of its schema. Undefined if they exceed `MEMBERS_MAX`. */
export function membersOf({ properties, required }: Schema): readonly Member[] | undefined {
  const needed = new Set(namesIn(required))
  const all = isObject(properties) ? Object.entries(properties) : []
  return all.length > MEMBERS_MAX
    ? undefined
    : all.map(([name, schema]) => ({ name, schema, isRequired: needed.has(name) }))
}

/** Initial value of a form: constants, defaults and examples of required members. Undefined if there are none. */
export function startOf(given: unknown, root: Schema): Json | undefined {
  return started(given, root, 0, { left: VALUES_MAX })
}

function started(given: unknown, root: Schema, depth: number, budget: Budget): Json | undefined {
  const { kind, schema, choices } = shapeOf(given, root)
  if (kind === 'const') return schema['const'] as Json
  const known = schema['default'] ?? exampleIn(schema)
  if (known !== undefined) return known as Json
  if (depth > DEPTH_MAX || budget.left-- <= 0) return undefined
  if (kind === 'choice') return started(choices[0], root, depth + 1, budget)
  if (kind === 'array') return []
  if (kind !== 'object') return undefined
  const needed = (membersOf(schema) ?? []).filter(({ isRequired }) => isRequired)
  return objectOf(needed.map(({ name, schema: one }) => [name, started(one, root, depth + 1, budget)]))
}

/** An example value to edit: all required members, and the optional ones near the top. */
export function exampleOf(given: unknown, root: Schema): Json {
  return exampled(given, root, 0, { left: VALUES_MAX })
}

function exampled(given: unknown, root: Schema, depth: number, budget: Budget): Json {
  const { kind, schema, choices } = shapeOf(given, root)
  const known = schema['const'] ?? schema['default'] ?? exampleIn(schema)
  if (known !== undefined) return known as Json
  if (depth > DEPTH_MAX || budget.left-- <= 0) return null
  const below = (one: unknown) => exampled(one, root, depth + 1, budget)
  switch (kind) {
    case 'enum':
      return (schema['enum'] as Json[])[0] ?? null
    case 'boolean':
      return true
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1
    case 'string':
      return textFor(schema['format'])
    case 'array':
      return [below(schema['items'])]
    case 'choice':
      return below(choices[0])
    case 'object':
      return objectOf(
        (membersOf(schema) ?? [])
          .filter((member) => member.isRequired || depth < 3)
          .map((member) => [member.name, below(member.schema)])
      )
    default:
      return {}
  }
}

function exampleIn({ examples }: Schema): unknown {
  return Array.isArray(examples) ? examples[0] : undefined
}

const TEXTS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'ann@example.org',
  uri: 'https://example.org/',
  uuid: '00000000-0000-4000-8000-000000000000'
}

function textFor(format: unknown): string {
  return (typeof format === 'string' ? TEXTS[format] : undefined) ?? 'text'
}

function objectOf(entries: ReadonlyArray<readonly [string, Json | undefined]>): JsonObject {
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

/** Copies an object with one member changed or removed. */
export function withMember(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  return objectOf(Object.entries({ ...object, [name]: value as Json }))
}

/** A short name of a value's type, for tables. */
export function typeName(given: unknown, root: Schema, depth = 0): string {
  const { kind, schema, choices } = shapeOf(given, root)
  switch (kind) {
    case 'const':
      return JSON.stringify(schema['const'])
    case 'enum':
      return 'one of a list'
    case 'number':
      return schema['type'] === 'integer' ? 'whole number' : 'number'
    case 'string':
      return typeof schema['format'] === 'string' ? schema['format'] : 'text'
    case 'array':
      return depth > 2 ? 'list' : `list of ${typeName(schema['items'], root, depth + 1)}`
    case 'choice':
      return depth > 2 ? 'several' : choices.map((one) => typeName(one, root, depth + 1)).join(' or ')
    case 'boolean':
      return 'true or false'
    case 'object':
      return 'object'
    default:
      return 'any JSON'
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The constraints of a value, in words. */
export function rulesOf(schema: Schema): string[] {
  const said = (word: string, keyword: string, unit = ''): string[] =>
    schema[keyword] === undefined ? [] : [`${word} ${textOf(schema[keyword]).slice(0, 80)}${unit}`]
  return [
    ...said('at least', 'minimum'),
    ...said('more than', 'exclusiveMinimum'),
    ...said('at most', 'maximum'),
    ...said('less than', 'exclusiveMaximum'),
    ...said('at least', 'minLength', ' characters'),
    ...said('at most', 'maxLength', ' characters'),
    ...said('at least', 'minItems', ' items'),
    ...said('at most', 'maxItems', ' items'),
    ...said('matches', 'pattern')
  ]
}
