import { limits, utf8 } from '../../lib/index.ts'
import type { JsonSchema } from '../../lib/interface/index.ts'

/** What a tool takes; at its root always an object. */
export interface InputSchema extends JsonSchema {
  readonly type: 'object'
}

const ANY: InputSchema = { type: 'object' }
/** `x-mcp-header` would have clients copy arguments into headers; the others name schemas, of which two tools may use one name. */
const NOT_SHOWN = new Set(['$schema', '$id', '$anchor', '$dynamicAnchor', 'x-mcp-header'])
/** Keywords whose members are names of the API's. */
const OF_NAMES = new Set(['properties', '$defs', 'definitions'])

/**
 * A published schema as agents are shown it. A stranger wrote it: one form that a client cannot read would cost it all tools of all
 * APIs. Undefined where it is too large to be shown.
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

/** @param areNames - its members are named by the API, and not by JSON Schema */
function cleaned(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((item) => cleaned(item))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name, member]) => {
    // A client that followed a reference elsewhere would fetch what a stranger tells it to.
    const isElsewhere = name === '$ref' && typeof member === 'string' && !member.startsWith('#')
    return areNames || (!NOT_SHOWN.has(name) && !isElsewhere)
  })
  return Object.fromEntries(kept.map(([name, member]) => [name, cleaned(member, !areNames && OF_NAMES.has(name))]))
}

/**
 * What of a published schema of responses can be promised: a tree of types, members and items, without patterns, references and choices.
 * Looking at a response by it takes time in proportion to the response, whatever a stranger published. Undefined where no object comes out.
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

/** Whether a value is as a schema made by `responseSchema` says. */
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
