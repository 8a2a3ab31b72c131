import { SoukError } from '../../../lib/base/errors.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject, textOf } from '../../exact-json.ts'
import { type Definitions, dereferenced, REF } from './openapi-schemas.ts'

const NAME = /^[\p{L}_][\p{L}\p{N}_.-]*$/u
const UNWRITABLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u
const DEPTH_MAX = 64
/** Compositions within each other. Each may double the work. */
const COMPOSED_MAX = 8

interface Described {
  readonly schema: JsonSchema
  /** From `xml.name`, else the name of the referenced schema. */
  readonly name: string | undefined
  readonly xml: JsonObject
}

/**
 * Writes JSON as XML by the `xml` objects of its schema: names, namespaces, attributes and wrapped lists (OpenAPI 3.1, section
 * 4.8.26).
 * @throws SoukError `invalid_request` for a value that XML cannot hold
 */
export function writeXml(value: unknown, schema: JsonSchema, definitions: Definitions, fallback = 'root'): string {
  const described = describe(schema, definitions)
  const text = element(described.name ?? fallback, value, { described, definitions, depth: 0 })
  return `<?xml version="1.0" encoding="UTF-8"?>\n${text}`
}

interface Place {
  readonly described: Described
  readonly definitions: Definitions
  readonly depth: number
}

function element(name: string, value: unknown, place: Place): string {
  const { described, definitions, depth } = place
  if (depth > DEPTH_MAX) throw refuse('The body is nested too deeply for XML.')
  const below = (one: JsonSchema): Place => ({ described: describe(one, definitions), definitions, depth: depth + 1 })
  if (Array.isArray(value)) {
    const items = below(itemsOf(described.schema))
    const content = value.map((one) => element(items.described.name ?? name, one, items))
    return tagged(name, described, [], content.join(''))
  }
  if (!isObject(value)) return tagged(name, described, [], value === null ? '' : escaped(textOf(value) ?? ''))
  const attributes: string[] = []
  const children: string[] = []
  for (const [key, one] of Object.entries(value)) {
    if (one === null) continue
    const inner = below(memberOf(described.schema, key, definitions))
    const text = textOf(one)
    if (inner.described.xml['attribute'] === true && text !== undefined) {
      attributes.push(` ${qualified(own(inner.described) ?? key, inner.described)}="${escaped(text)}"`)
    } else children.push(member(key, one, inner))
  }
  return tagged(name, described, attributes, children.join(''))
}

function member(key: string, value: unknown, place: Place): string {
  const { described, definitions, depth } = place
  const name = own(described) ?? key
  if (!Array.isArray(value)) return element(name, value, place)
  const items = describe(itemsOf(described.schema), definitions)
  // The name of a list names its wrapper; a list without one has no element of its own.
  const content = value.map((one) =>
    element(own(items) ?? name, one, { described: items, definitions, depth: depth + 1 })
  )
  return described.xml['wrapped'] === true ? tagged(name, described, [], content.join('')) : content.join('')
}

function tagged(name: string, described: Described, attributes: readonly string[], content: string): string {
  const { namespace, prefix } = described.xml
  const tag = qualified(name, described)
  const declared = typeof prefix === 'string' && prefix !== '' ? `xmlns:${prefix}` : 'xmlns'
  const all = [...(typeof namespace === 'string' ? [` ${declared}="${escaped(namespace)}"`] : []), ...attributes].join(
    ''
  )
  return content === '' ? `<${tag}${all}/>` : `<${tag}${all}>${content}</${tag}>`
}

function qualified(name: string, { xml }: Described): string {
  const { prefix } = xml
  return typeof prefix === 'string' && prefix !== '' ? `${checked(prefix)}:${checked(name)}` : checked(name)
}

function itemsOf({ items }: JsonSchema): JsonSchema {
  return isObject(items) ? items : {}
}

/** The schema of a member of an object, which may be composed of parts. */
function memberOf(schema: JsonSchema, name: string, definitions: Definitions, depth = 0): JsonSchema {
  const { properties, additionalProperties } = schema
  if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name] as JsonSchema
  for (const keyword of ['allOf', 'oneOf', 'anyOf']) {
    const parts = schema[keyword]
    if (!Array.isArray(parts) || depth > COMPOSED_MAX) continue
    for (const part of parts.filter(isObject)) {
      const found = memberOf(dereferenced(part, definitions), name, definitions, depth + 1)
      if (Object.keys(found).length > 0) return found
    }
  }
  return isObject(additionalProperties) ? additionalProperties : {}
}

/** The name that a schema states for itself. */
function own({ xml }: Described): string | undefined {
  return typeof xml['name'] === 'string' ? xml['name'] : undefined
}

function describe(given: JsonSchema, definitions: Definitions): Described {
  let at = given
  let name: string | undefined
  // A schema that may be null is the alternative of another and null.
  for (let hops = 0; hops < DEPTH_MAX; hops++) {
    const { $ref, anyOf } = at
    const [first] = Array.isArray(anyOf) ? (anyOf as unknown[]) : []
    if (typeof $ref === 'string') {
      name ??= $ref.slice(REF.length)
      at = definitions[$ref.slice(REF.length)] ?? {}
    } else if (isObject(first) && (anyOf as unknown[]).length === 2 && at['properties'] === undefined) at = first
    else break
  }
  const xml = isObject(at['xml']) ? at['xml'] : {}
  return { schema: at, xml, name: typeof xml['name'] === 'string' ? xml['name'] : name }
}

function checked(name: string): string {
  if (NAME.test(name)) return name
  throw refuse(`XML has no element named ${JSON.stringify(name.slice(0, 80))}.`)
}

function escaped(text: string): string {
  if (UNWRITABLE.test(text)) throw refuse('The body has a character that XML cannot hold.')
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
