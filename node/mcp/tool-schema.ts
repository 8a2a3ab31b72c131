import { createHash } from 'node:crypto'
import { limits, utf8 } from '../../lib/index.ts'
import type { JsonSchema } from '../../lib/interface/index.ts'

/** The input schema of a tool; its root is always an object. */
export interface InputSchema extends JsonSchema {
  readonly type: 'object'
}

const ANY: InputSchema = { type: 'object' }

/** Argument names that all model vendors accept. */
const ARGUMENT = /^[a-zA-Z0-9_.-]+$/
const HASH_CHARS = 8

/** An argument's name in a tool: the API's own where vendors accept it, else a similar one with a hash. */
function argumentName(name: string): string {
  if (ARGUMENT.test(name) && name.length <= limits.MCP_ARGUMENT_CHARS_MAX && name !== '__proto__') return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS)
  const head = name.replaceAll(/[^a-zA-Z0-9_.-]+/g, '_').slice(0, limits.MCP_ARGUMENT_CHARS_MAX - HASH_CHARS - 1)
  return `${head}_${hash}`
}

/** The arguments of a tool call under the API's own names. */
export function withOwnNames(given: Readonly<Record<string, unknown>>, published: JsonSchema | undefined) {
  const own = new Map(Object.keys(topOf(published ?? {}).properties).map((name) => [argumentName(name), name]))
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [own.get(name) ?? name, value]))
}

/**
 * A published schema in the form that all model vendors accept: one object at the top, without references, patterns and
 * schema identifiers, of bounded depth. Schemas are untrusted: one that a client cannot read would make it reject all
 * tools. Undefined if it is too large.
 */
export function inputSchema(published: JsonSchema | undefined, bytesMax: number): InputSchema | undefined {
  if (published === undefined) return ANY
  const tree = new SchemaTree(published, ARGUMENT_KEYWORDS, bytesMax)
  const { properties, required, description } = topOf(published)
  const shown = Object.entries(properties).filter(([name, schema]) => !isOperationName(name, schema))
  const members = shown.map(([name, schema]): [string, JsonSchema] => {
    const [argument, member] = [argumentName(name), tree.of(schema, 1)]
    if (argument === name) return [name, member]
    const about = typeof member['description'] === 'string' ? ` ${member['description']}` : ''
    return [argument, { ...member, description: `${name.slice(0, TEXT_CHARS)}.${about}` }]
  })
  const names = new Set(shown.map(([name]) => name))
  const needed = required.filter((name) => names.has(name)).map(argumentName)
  const schema: InputSchema = {
    type: 'object',
    ...(typeof description === 'string' ? { description: description.slice(0, TEXT_CHARS) } : {}),
    ...(members.length === 0 ? {} : { properties: Object.fromEntries(members) }),
    ...(needed.length === 0 ? {} : { required: needed })
  }
  return utf8(JSON.stringify(schema)).byteLength <= limits.MCP_SCHEMA_BYTES_MAX ? schema : undefined
}

/** A SOAP request's `operation`, which the tool adds itself. */
function isOperationName(name: string, schema: unknown): boolean {
  return name === 'operation' && isObject(schema) && typeof schema['const'] === 'string'
}

interface Top {
  readonly properties: Readonly<Record<string, unknown>>
  readonly required: readonly string[]
  readonly description: unknown
}

/** The members of an object schema. Of alternatives at the top, all members, and those required by every one. */
function topOf(root: JsonSchema): Top {
  const properties = new Map<string, unknown>()
  let left: number = limits.MCP_SCHEMA_DEPTH_MAX * 4
  const requiredBy = (schema: unknown): Set<string> => {
    const needed = new Set<string>()
    if (!isObject(schema) || --left < 0) return needed
    const { $ref, allOf, properties: own, required } = schema
    if (typeof $ref === 'string') for (const name of requiredBy(definitionOf(root, $ref))) needed.add(name)
    if (isObject(own)) {
      for (const [name, member] of Object.entries(own)) if (!properties.has(name)) properties.set(name, member)
    }
    for (const name of Array.isArray(required) ? required : []) if (typeof name === 'string') needed.add(name)
    for (const part of Array.isArray(allOf) ? allOf : []) for (const name of requiredBy(part)) needed.add(name)
    for (const choices of [schema['anyOf'], schema['oneOf']]) {
      if (!Array.isArray(choices) || choices.length === 0) continue
      const [first = new Set<string>(), ...others] = choices.map(requiredBy)
      for (const name of first) if (others.every((other) => other.has(name))) needed.add(name)
    }
    return needed
  }
  const required = requiredBy(root)
  return {
    properties: Object.fromEntries(properties),
    required: [...required].filter((name) => properties.has(name)),
    description: root['description']
  }
}

function definitionOf(root: JsonSchema, reference: string): unknown {
  const { $defs } = root
  const name = reference.startsWith('#/$defs/') ? reference.slice('#/$defs/'.length) : undefined
  return name !== undefined && isObject($defs) && Object.hasOwn($defs, name) ? $defs[name] : undefined
}

/** Characters of a member's description. */
const TEXT_CHARS = 500
/** Keywords whose values are numbers or flags. */
const RESPONSE_KEYWORDS: ReadonlySet<string> = new Set()
const ARGUMENT_KEYWORDS: ReadonlySet<string> = new Set(
  (
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems ' +
    'format default deprecated'
  ).split(' ')
)

/** The parts of a schema that are copied. */
interface Shown {
  /** Its keywords, without schemas. */
  readonly own: JsonSchema
  /** Of `own` and the names of its properties. */
  readonly bytes: number
  readonly properties: ReadonlyArray<readonly [name: string, schema: unknown]>
  readonly choices: ReadonlyArray<readonly [keyword: string, schemas: readonly unknown[]]>
}

/** Copies the parts of an untrusted schema that are safe to show and to check, in bounded size and depth. */
class SchemaTree {
  readonly #root: JsonSchema
  readonly #keywords: ReadonlySet<string>
  /** Read once: a schema with a million names may be referred to a thousand times. */
  readonly #shown = new Map<JsonSchema, Shown>()
  #nodes = 0
  #bytesLeft: number

  /** @param keywords - kept with a simple value. Without any, the schema is a response's: choices, enumerations and `required` are left out */
  constructor(root: JsonSchema, keywords: ReadonlySet<string>, bytesMax: number) {
    this.#root = root
    this.#keywords = keywords
    this.#bytesLeft = bytesMax
  }

  get #isResponse(): boolean {
    return this.#keywords.size === 0
  }

  of(schema: unknown, depth: number): JsonSchema {
    if (!isObject(schema) || depth > limits.MCP_SCHEMA_DEPTH_MAX || ++this.#nodes > limits.MCP_SCHEMA_NODES_MAX)
      return {}
    if (this.#bytesLeft < 0) return {}
    const { $ref } = schema
    if (typeof $ref === 'string') return this.of(definitionOf(this.#root, $ref), depth + 1)
    const shown = this.#shown.get(schema) ?? this.#read(schema)
    this.#shown.set(schema, shown)
    this.#bytesLeft -= shown.bytes
    return { ...shown.own, ...this.#below(schema, shown, depth) }
  }

  #below({ items, additionalProperties: more }: JsonSchema, { properties, choices }: Shown, depth: number): JsonSchema {
    const below = (each: unknown) => this.of(each, depth + 1)
    const member = (each: unknown) => (this.#isResponse ? orNull(below(each)) : below(each))
    return {
      ...(properties.length > 0
        ? { properties: Object.fromEntries(properties.map(([name, each]) => [name, member(each)])) }
        : {}),
      ...(isObject(items) ? { items: below(items) } : {}),
      ...(!this.#isResponse && isObject(more) ? { additionalProperties: below(more) } : {}),
      ...Object.fromEntries(choices.map(([keyword, all]) => [keyword, all.map(below)]))
    }
  }

  #read(schema: JsonSchema): Shown {
    const { type, description, properties, required } = schema
    // Many APIs leave a required member out, or send null for it. A paid response must not fail for that.
    const needed =
      Array.isArray(required) && !this.#isResponse ? required.filter((name) => typeof name === 'string') : []
    const own = {
      ...(isType(type) ? { type } : {}),
      ...(typeof description === 'string' ? { description: description.slice(0, TEXT_CHARS) } : {}),
      ...this.#simple(schema),
      ...(needed.length > 0 ? { required: needed.slice(0, limits.MCP_SCHEMA_NODES_MAX) } : {})
    }
    const named = isObject(properties) ? Object.entries(properties).slice(0, limits.MCP_SCHEMA_NODES_MAX) : []
    const bytes = named.reduce((sum, [name]) => sum + name.length, JSON.stringify(own).length)
    return { own, bytes, properties: named, choices: this.#choicesOf(schema) }
  }

  #choicesOf(schema: JsonSchema): Shown['choices'] {
    if (this.#isResponse) return []
    return ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
      const all = schema[keyword]
      // Vendors accept `anyOf` alone.
      const shown = keyword === 'oneOf' ? 'anyOf' : keyword
      return Array.isArray(all) && all.length > 0 ? [[shown, all.slice(0, limits.MCP_SCHEMA_CHOICES_MAX)] as const] : []
    })
  }

  #simple(schema: JsonSchema): JsonSchema {
    if (this.#isResponse) return {}
    const kept = Object.entries(schema).filter(([name, value]) => this.#keywords.has(name) && isScalar(value))
    const { enum: given, const: constant } = schema
    const values = Array.isArray(given)
      ? given.filter(isScalar).slice(0, limits.MCP_SCHEMA_CHOICES_MAX)
      : isScalar(constant)
        ? [constant]
        : []
    return { ...Object.fromEntries(kept), ...(values.length === 0 ? {} : { enum: values }) }
  }
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type } = schema
  return type === undefined ? schema : { ...schema, type: [...new Set([type, 'null'].flat())] }
}

const isScalar = (value: unknown): value is string | number | boolean =>
  (typeof value === 'string' && value.length <= TEXT_CHARS) || typeof value === 'number' || typeof value === 'boolean'

/**
 * The part of a published response schema that can be checked safely: types, members and items, without patterns, references and choices.
 * Members may be absent or null. Checking takes time linear in the response size, whatever the schema. Undefined if it describes no object.
 */
export function responseSchema(published: JsonSchema | undefined): InputSchema | undefined {
  if (published === undefined) return undefined
  const root = new SchemaTree(published, RESPONSE_KEYWORDS, limits.MCP_SCHEMA_BYTES_MAX).of(published, 0)
  const isShown = root['type'] === 'object' && utf8(JSON.stringify(root)).byteLength <= limits.MCP_SCHEMA_BYTES_MAX
  return isShown ? { ...root, type: 'object' } : undefined
}

/** Whether a value matches a schema made by `responseSchema`. */
export function fits(value: unknown, schema: JsonSchema): boolean {
  const { type, properties, items } = schema
  if (isType(type) && ![type].flat().some((name) => isOf(name, value))) return false
  if (Array.isArray(value)) return !isObject(items) || value.every((item) => fits(item, items))
  if (!isObject(value)) return true
  if (!isObject(properties)) return true
  return Object.entries(properties).every(([name, member]) => {
    return !Object.hasOwn(value, name) || fits(value[name], member as JsonSchema)
  })
}

const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

function isType(type: unknown): type is string | readonly string[] {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type]
  return names.length > 0 && names.every((name) => typeof name === 'string' && TYPES.has(name))
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'integer') return Number.isInteger(value)
  return type === 'object' ? isObject(value) : typeof value === type
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
