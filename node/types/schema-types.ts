import { limits } from '../../lib/index.ts'
import { comment, literal, property, type TypeNames } from './names.ts'

type Schema = Readonly<Record<string, unknown>>
/** The schemas that `#/$defs/…` refers to. */
type Scope = ReadonlyMap<string, Definition>

/** A named schema. */
interface Definition {
  readonly name: string
  readonly schema: unknown
  readonly scope: Scope
}

/** The source of a type. `open`: an object of which nothing more is known. */
interface Type {
  readonly text: string
  readonly kind?: 'union' | 'open'
}

interface Place {
  readonly indent: string
  readonly depth: number
  readonly scope: Scope
  /** A property of the outermost object that is left out. */
  readonly without?: string | undefined
}

const UNKNOWN: Type = { text: 'unknown' }

/**
 * TypeScript types of JSON Schemas (draft 2020-12). The schemas are strangers' documents: every name is quoted, and every text is a
 * comment. What types cannot say is `unknown` or left out.
 */
export class SchemaTypes {
  readonly #names: TypeNames
  readonly #shared = new Map<string, Definition>()
  /** Named types that other types refer to, in the order of their declaration. */
  readonly #used = new Set<Definition>()
  /** Characters written. Past the limit, types are `unknown`. */
  #chars = 0

  /** @param definitions schemas that all operations share */
  constructor(names: TypeNames, definitions: Readonly<Record<string, unknown>>) {
    this.#names = names
    this.#define(definitions, this.#shared)
  }

  /**
   * The type of one schema, which may have definitions of its own.
   * @param without a property that is left out
   */
  of(schema: unknown, indent: string, without?: string): string {
    const own = isObject(schema) && isObject(schema['$defs']) ? schema['$defs'] : {}
    const scope = new Map(this.#shared)
    this.#define(own, scope)
    return this.#type(schema, { indent, depth: 0, scope, without }).text
  }

  /** Declarations of the named types. */
  declarations(): string[] {
    const cut = new Set<Definition>()
    const seen = new Set<Definition>()
    // The set grows as declarations name further types.
    return Array.from(this.#used, (definition) => {
      cutCycles(definition, seen, cut)
      const { name, schema, scope } = definition
      const { text } = cut.has(definition) ? UNKNOWN : this.#type(schema, { indent: '', depth: 0, scope })
      return `${describe(schema, '')}export type ${name} = ${text}\n`
    })
  }

  /** Adds definitions to the scope in which they refer to each other. */
  #define(definitions: Readonly<Record<string, unknown>>, scope: Map<string, Definition>): void {
    for (const [key, schema] of Object.entries(definitions))
      scope.set(key, { name: this.#names.add(key), schema, scope })
  }

  #type(schema: unknown, place: Place): Type {
    if (schema === false) return { text: 'never' }
    if (!isObject(schema) || place.depth > limits.TYPES_DEPTH_MAX || this.#chars > limits.TYPES_CHARS_MAX)
      return UNKNOWN
    const type = intersection([
      this.#reference(schema, place),
      this.#own(schema, place),
      ...this.#combined(schema, place)
    ])
    // The text of nested types counts again at each level, which is on the safe side.
    this.#chars += type.text.length
    return type
  }

  #reference(schema: Schema, { scope }: Place): Type {
    const definition = referred(schema, scope)
    if (definition === undefined) return UNKNOWN
    this.#used.add(definition)
    return { text: definition.name, ...(mayBeUnion(definition.schema) ? { kind: 'union' } : {}) }
  }

  /** The type by all keywords that name no other schema of the same value. */
  #own(schema: Schema, place: Place): Type {
    if (Object.hasOwn(schema, 'const')) return literalType(schema['const'])
    const { enum: values, type } = schema
    if (Array.isArray(values) && values.length > 0 && values.length <= limits.TYPES_ALTERNATIVES_MAX)
      return union(values.map(literalType))
    const types = Array.isArray(type) ? (type as unknown[]) : type === undefined ? impliedBy(schema) : [type]
    if (types.length === 0) return UNKNOWN
    const all = types.slice(0, JSON_TYPES).map((each) => this.#typed(each, schema, place))
    return union(schema['nullable'] === true ? [...all, { text: 'null' }] : all)
  }

  #typed(type: unknown, schema: Schema, place: Place): Type {
    if (type === 'object') return this.#object(schema, place)
    if (type === 'array') return this.#array(schema, place)
    if (type === 'integer') return { text: 'number' }
    return type === 'string' || type === 'number' || type === 'boolean' || type === 'null' ? { text: type } : UNKNOWN
  }

  #object({ properties, required, additionalProperties: rest, patternProperties }: Schema, place: Place): Type {
    const inner = { ...place, indent: `${place.indent}  `, depth: place.depth + 1, without: undefined }
    const needed = new Set<unknown>(Array.isArray(required) ? required : [])
    const known = new Map<string, unknown>(isObject(properties) ? Object.entries(properties) : [])
    for (const name of needed) if (typeof name === 'string' && !known.has(name)) known.set(name, true)
    if (place.without !== undefined) known.delete(place.without)
    const members = [...known].map(([name, schema]) => {
      const { text } = this.#type(schema, inner)
      return `${describe(schema, inner.indent)}${inner.indent}${property(name)}${needed.has(name) ? '' : '?'}: ${text}\n`
    })
    if (members.length === 0 && isObject(rest)) return { text: `{ [name: string]: ${this.#type(rest, inner).text} }` }
    if (members.length === 0) {
      const isClosed = rest === false && !isObject(patternProperties)
      return isClosed ? { text: '{ [name: string]: never }' } : { text: '{ [name: string]: unknown }', kind: 'open' }
    }
    // Every property has to fit an index signature.
    if (rest === true || isObject(rest) || isObject(patternProperties))
      members.push(`${inner.indent}[name: string]: unknown\n`)
    return { text: `{\n${members.join('')}${place.indent}}` }
  }

  #array({ items, prefixItems }: Schema, place: Place): Type {
    const inner = { ...place, depth: place.depth + 1, without: undefined }
    const first: unknown[] = Array.isArray(prefixItems) ? prefixItems : []
    const all = items === false && first.length > 0 ? first : [...first, items]
    if (all.length > limits.TYPES_ALTERNATIVES_MAX) return { text: 'unknown[]' }
    const { text, kind } = union(all.map((item) => this.#type(item, inner)))
    return { text: kind === 'union' || text.includes(' & ') ? `(${text})[]` : `${text}[]` }
  }

  #combined({ allOf, anyOf, oneOf }: Schema, place: Place): Type[] {
    const inner = { ...place, depth: place.depth + 1 }
    const eachOf = (schemas: readonly unknown[]) => schemas.map((schema) => this.#type(schema, inner))
    const parts = Array.isArray(allOf) ? eachOf(allOf) : []
    for (const alternatives of [anyOf, oneOf]) {
      if (!Array.isArray(alternatives) || alternatives.length > limits.TYPES_ALTERNATIVES_MAX) continue
      if (alternatives.length > 0) parts.push(union(eachOf(alternatives)))
    }
    return parts
  }
}

/** Types that JSON has, so that a list of more repeats some. */
const JSON_TYPES = 7

function describe(schema: unknown, indent: string): string {
  return isObject(schema) ? comment(schema['description'], indent, limits.TYPES_COMMENT_CHARS_MAX) : ''
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const DEFINITION = '#/$defs/'

function referred({ $ref }: Schema, scope: Scope): Definition | undefined {
  return typeof $ref === 'string' && $ref.startsWith(DEFINITION) ? scope.get($ref.slice(DEFINITION.length)) : undefined
}

/** Keywords that imply a type where none is given. */
function impliedBy({ properties, required, additionalProperties, items, prefixItems }: Schema): string[] {
  if (isObject(properties) || Array.isArray(required) || isObject(additionalProperties)) return ['object']
  return items !== undefined || Array.isArray(prefixItems) ? ['array'] : []
}

function literalType(value: unknown): Type {
  if (typeof value === 'string') return { text: literal(value) }
  if (typeof value === 'number' && Number.isFinite(value)) return { text: String(value) }
  return typeof value === 'boolean' || value === null ? { text: String(value) } : UNKNOWN
}

function union(types: readonly Type[]): Type {
  if (types.some(({ text }) => text === 'unknown')) return UNKNOWN
  const [first, ...others] = new Map(types.map((type) => [type.text, type])).values()
  if (first === undefined) return UNKNOWN
  if (others.length === 0) return first
  return { text: [first, ...others].map(({ text }) => text).join(' | '), kind: 'union' }
}

/** The compiler multiplies the alternatives of unions, so only the first union is kept. */
function intersection(types: readonly Type[]): Type {
  const all = types.filter(({ text }) => text !== 'unknown')
  const closed = all.some(({ kind }) => kind !== 'open') ? all.filter(({ kind }) => kind !== 'open') : all.slice(0, 1)
  const firstUnion = closed.find(({ kind }) => kind === 'union')
  const kept = closed.filter((type) => type.kind !== 'union' || type === firstUnion)
  const [first = UNKNOWN] = kept
  const texts = new Set(kept.map(({ text, kind }) => (kind === 'union' ? `(${text})` : text)))
  return texts.size <= 1 ? first : { text: [...texts].join(' & ') }
}

/** Whether a named type may be a union. */
function mayBeUnion(schema: unknown): boolean {
  return isObject(schema) && ['anyOf', 'oneOf', 'enum', 'allOf', '$ref'].some((keyword) => keyword in schema)
}

/**
 * An alias must not refer to itself but inside an object or an array. Of each circle, and of long chains, one definition is cut.
 */
function cutCycles(start: Definition, seen: Set<Definition>, cut: Set<Definition>): void {
  const path = new Set<Definition>()
  const waiting: Array<{ readonly definition: Definition; readonly next: Definition[] }> = []
  const enter = (definition: Definition) => {
    seen.add(definition)
    path.add(definition)
    waiting.push({ definition, next: aliased(definition) })
  }
  if (!seen.has(start)) enter(start)
  for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
    const next = top.next.pop()
    if (next === undefined) {
      path.delete(top.definition)
      waiting.pop()
    } else if (path.has(next) || waiting.length > limits.TYPES_DEPTH_MAX) cut.add(top.definition)
    else if (!seen.has(next)) enter(next)
  }
}

/** Definitions that a definition refers to outside of objects and arrays. */
function aliased({ schema, scope }: Definition): Definition[] {
  const found: Definition[] = []
  const look = (value: unknown, depth: number): void => {
    if (!isObject(value) || depth > limits.TYPES_DEPTH_MAX) return
    const definition = referred(value, scope)
    if (definition !== undefined) found.push(definition)
    for (const schemas of [value['allOf'], value['anyOf'], value['oneOf']]) {
      if (Array.isArray(schemas)) for (const each of schemas) look(each, depth + 1)
    }
  }
  look(schema, 0)
  return found
}
