import { limits, utf8 } from '../../lib/index.ts'
import type { JsonSchema } from '../../lib/interface/index.ts'

/** The input schema of a tool; its root is always an object. */
export interface InputSchema extends JsonSchema {
  readonly type: 'object'
}

const ANY: InputSchema = { type: 'object' }
/** With `x-mcp-header`, clients would copy arguments into headers. The other keywords name schemas, and two tools could use the same name. */
const NOT_SHOWN = new Set(['$schema', '$id', '$anchor', '$dynamicAnchor', 'x-mcp-header'])
/** Keywords whose members have names that the API chose. */
const OF_NAMES = new Set(['properties', '$defs', 'definitions'])

/**
 * A published schema, adapted for agents. Schemas are untrusted: one that a client cannot read would make the client reject all tools.
 * Undefined if it is too large.
 */
export function inputSchema(published: JsonSchema | undefined): InputSchema | undefined {
  if (published === undefined) return ANY
  if (utf8(JSON.stringify(published)).byteLength > limits.MCP_SCHEMA_BYTES_MAX) return undefined
  const { properties, required, ...rest } = cleaned(published) as Record<string, unknown>
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  return {
    ...rest,
    type: 'object',
    ...(isObject(properties) ? { properties: mapped(properties, (schema) => (isObject(schema) ? schema : {})) } : {}),
    ...(names.length === 0 ? {} : { required: names })
  }
}

/** @param areNames - the API, not JSON Schema, chose the member names */
function cleaned(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((item) => cleaned(item))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name, member]) => {
    // Drop external references: a client that follows one would fetch an untrusted address.
    const isElsewhere = name === '$ref' && typeof member === 'string' && !member.startsWith('#')
    return areNames || (!NOT_SHOWN.has(name) && !isElsewhere)
  })
  return Object.fromEntries(kept.map(([name, member]) => [name, cleaned(member, !areNames && OF_NAMES.has(name))]))
}

/**
 * The part of a published response schema that can be checked safely: types, members and items, without patterns, references and choices.
 * Checking takes time linear in the response size, whatever the schema. Undefined if it describes no object.
 */
export function responseSchema(published: JsonSchema | undefined): InputSchema | undefined {
  if (published === undefined) return undefined
  let nodes = 0
  const definitions = isObject(published['$defs']) ? published['$defs'] : {}

  function tree(schema: unknown, depth: number): JsonSchema {
    if (!isObject(schema) || depth > limits.MCP_SCHEMA_DEPTH_MAX || ++nodes > limits.MCP_SCHEMA_NODES_MAX) return {}
    const { $ref } = schema
    if (typeof $ref === 'string') {
      const name = $ref.startsWith('#/$defs/') ? $ref.slice('#/$defs/'.length) : undefined
      return name !== undefined && Object.hasOwn(definitions, name) ? tree(definitions[name], depth + 1) : {}
    }
    const { type, description, properties, items, required } = schema
    const names = isObject(properties) ? Object.keys(properties) : []
    const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
    return {
      ...(isType(type) ? { type } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      ...(names.length > 0 ? { properties: mapped(properties as object, (each) => tree(each, depth + 1)) } : {}),
      ...(isObject(items) ? { items: tree(items, depth + 1) } : {}),
      ...(needed.length > 0 ? { required: needed } : {})
    }
  }
  const root = tree(published, 0)
  const isShown = root['type'] === 'object' && utf8(JSON.stringify(root)).byteLength <= limits.MCP_SCHEMA_BYTES_MAX
  return isShown ? { ...root, type: 'object' } : undefined
}

/** Whether a value matches a schema made by `responseSchema`. */
export function fits(value: unknown, schema: JsonSchema): boolean {
  const { type, properties, items, required } = schema
  if (isType(type) && ![type].flat().some((name) => isOf(name, value))) return false
  if (Array.isArray(value)) return !isObject(items) || value.every((item) => fits(item, items))
  if (!isObject(value)) return true
  if (Array.isArray(required) && !required.every((name) => Object.hasOwn(value, String(name)))) return false
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

function mapped(members: object, map: (member: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, member]): [string, unknown] => [name, map(member)]))
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
