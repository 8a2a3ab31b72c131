import { limits } from '../../../lib/index.ts'
import type { JsonSchema, Manifest } from '../../../lib/interface/index.ts'
import { descriptorOf } from '../../../protocols/protocol-descriptors.ts'
import { SAMPLE_APIS } from '../../demo/sample-apis.ts'

/** An example body for an API: the input of its first operation, derived from its schema. */
export function exampleBody({ name, protocol, api }: Manifest): Readonly<Record<string, unknown>> {
  const sample = SAMPLE_APIS.find((known) => known.name === name && known.protocol === protocol)
  if (sample !== undefined) return sample.body
  const { request, unnamedOperation } = descriptorOf(protocol) ?? {}
  if (request !== undefined) return request.example
  const [operation] = api.operations
  if (operation === undefined) return {}
  const named = operation.name === unnamedOperation ? {} : { operation: operation.name }
  const made = operation.input === undefined ? {} : new ExampleMaker(operation.input).make()
  const body = { ...named, ...(isObject(made) ? made : {}) }
  return JSON.stringify(body).length > limits.EXAMPLE_CHARS_MAX ? named : body
}

const MEMBERS_SHOWN = 3

class ExampleMaker {
  readonly #root: JsonSchema
  #nodes = 0

  constructor(root: JsonSchema) {
    this.#root = root
  }

  make(): unknown {
    return this.#value(this.#root, limits.EXAMPLE_DEPTH_MAX, '')
  }

  #value(schema: unknown, depth: number, name: string): unknown {
    if (!isObject(schema) || depth === 0 || ++this.#nodes > limits.EXAMPLE_SCHEMAS_MAX) return null
    const given = givenIn(schema)
    if (given !== undefined) return given
    if (typeof schema['$ref'] === 'string') return this.#value(this.#found(schema['$ref']), depth - 1, name)
    for (const choice of ['oneOf', 'anyOf', 'allOf']) {
      const all = schema[choice]
      if (Array.isArray(all) && all.length > 0 && !isCondition(schema, all[0]))
        return this.#value(all[0], depth - 1, name)
    }
    const type = typeOf(schema)
    if (type === 'object') return this.#object(schema, depth)
    if (type === 'array') return schema['items'] === undefined ? [] : [this.#value(schema['items'], depth - 1, name)]
    return scalar(type, schema, name)
  }

  #object(schema: JsonSchema, depth: number): Record<string, unknown> {
    const { properties } = schema
    if (!isObject(properties)) return {}
    const wanted = requiredIn(schema)
    const names = wanted.length > 0 ? wanted : Object.keys(properties).slice(0, MEMBERS_SHOWN)
    const known = names.filter((name) => Object.hasOwn(properties, name))
    return Object.fromEntries(known.map((name) => [name, this.#value(properties[name], depth - 1, name)]))
  }

  #found(reference: string): unknown {
    const { $defs } = this.#root
    const name = reference.startsWith('#/$defs/') ? reference.slice('#/$defs/'.length) : undefined
    return name !== undefined && isObject($defs) && Object.hasOwn($defs, name) ? $defs[name] : undefined
  }
}

/** True if the alternatives of an object only say which of its members go together. */
function isCondition({ properties }: JsonSchema, alternative: unknown): boolean {
  return isObject(properties) && isObject(alternative) && !('type' in alternative) && !('$ref' in alternative)
}

/** The required members, and those of the first alternative. */
function requiredIn(schema: JsonSchema): string[] {
  const names: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const others = ['oneOf', 'anyOf', 'allOf'].flatMap((choice) => {
    const all: unknown = schema[choice]
    const first: unknown = Array.isArray(all) ? all[0] : undefined
    return isCondition(schema, first) && isObject(first) ? requiredIn(first) : []
  })
  return [...names.filter((name) => typeof name === 'string'), ...others]
}

/** The example value that the schema itself provides. */
function givenIn(schema: JsonSchema): unknown {
  const { examples, enum: choices } = schema
  if ('const' in schema) return schema['const']
  if ('default' in schema) return schema['default']
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if ('example' in schema) return schema['example']
  return Array.isArray(choices) && choices.length > 0 ? choices[0] : undefined
}

function typeOf({ type, properties }: JsonSchema): string {
  const found: unknown = Array.isArray(type) ? type.find((each) => each !== 'null') : type
  return typeof found === 'string' ? found : properties === undefined ? 'string' : 'object'
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'someone@example.org',
  uri: 'https://example.org/',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1'
}

function scalar(type: string, { minimum, format }: JsonSchema, name: string): unknown {
  if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? minimum : 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  return known ?? (name === '' ? 'text' : name)
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
