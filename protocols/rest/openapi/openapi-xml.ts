import { SoukError } from '../../../lib/base/errors.ts'
import { OPENAPI_DEPTH_MAX, XML_BODY_DEPTH_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject, textOf } from '../../exact-json.ts'
import { composedOf } from './composed-schema.ts'
import { type Definitions, REF } from './openapi-schemas.ts'
import type { WrittenSize } from './written-size.ts'

const NAME = /^[\p{L}_][\p{L}\p{N}_.-]*$/u
const UNWRITABLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u

interface Described {
  readonly schema: JsonSchema
  /** From `xml.name`, else the name of the referenced schema. */
  readonly name: string | undefined
  readonly xml: JsonObject
}

interface XmlInit {
  readonly definitions: Definitions
  readonly size: WrittenSize
}

/**
 * Writes JSON as XML by the `xml` objects of its schema: names, namespaces, attributes and wrapped lists (OpenAPI 3.1, section
 * 4.8.26).
 * @throws SoukError `invalid_request` for a value that XML cannot hold; `request_too_large`
 */
export function writeXml(value: unknown, schema: JsonSchema, init: XmlInit, fallback = 'root'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XmlWriter(init).root(value, schema, fallback)}`
}

class XmlWriter {
  readonly #definitions: Definitions
  readonly #size: WrittenSize
  /** The schemas that each schema is composed of. The items of a list share theirs. */
  readonly #composed = new Map<JsonSchema, readonly JsonSchema[]>()

  constructor({ definitions, size }: XmlInit) {
    this.#definitions = definitions
    this.#size = size
  }

  root(value: unknown, schema: JsonSchema, fallback: string): string {
    const described = describe(schema, this.#definitions)
    return this.#element(described.name ?? fallback, value, described, 0)
  }

  #element(name: string, value: unknown, described: Described, depth: number): string {
    if (depth > XML_BODY_DEPTH_MAX) throw refuse('The body is nested too deeply for XML.')
    if (Array.isArray(value)) {
      const items = describe(itemsOf(described.schema), this.#definitions)
      const content = value.map((one) => this.#element(items.name ?? name, one, items, depth + 1))
      return this.#tagged(name, described, [], content)
    }
    if (!isObject(value))
      return this.#tagged(name, described, [], [value === null ? '' : this.#text(textOf(value) ?? '')])
    const attributes: string[] = []
    const children: string[] = []
    for (const [key, one] of Object.entries(value)) {
      if (one === null) continue
      const inner = this.#memberOf(described.schema, key)
      const text = textOf(one)
      if (inner.xml['attribute'] === true && text !== undefined) {
        attributes.push(this.#attribute(qualified(own(inner) ?? key, inner), text))
      } else children.push(this.#member(key, one, inner, depth + 1))
    }
    return this.#tagged(name, described, attributes, children)
  }

  #member(key: string, value: unknown, described: Described, depth: number): string {
    const name = own(described) ?? key
    if (!Array.isArray(value)) return this.#element(name, value, described, depth)
    const items = describe(itemsOf(described.schema), this.#definitions)
    // The name of a list names its wrapper; a list without one has no element of its own.
    const content = value.map((one) => this.#element(own(items) ?? name, one, items, depth + 1))
    return described.xml['wrapped'] === true ? this.#tagged(name, described, [], content) : content.join('')
  }

  #tagged(name: string, described: Described, attributes: readonly string[], content: readonly string[]): string {
    const { namespace, prefix } = described.xml
    const declared = typeof prefix === 'string' && prefix !== '' ? `xmlns:${prefix}` : 'xmlns'
    this.#size.add(2 * (name.length + declared.length))
    const tag = qualified(name, described)
    const all = typeof namespace === 'string' ? [this.#attribute(declared, namespace), ...attributes] : attributes
    const inner = content.join('')
    return inner === '' ? `<${tag}${all.join('')}/>` : `<${tag}${all.join('')}>${inner}</${tag}>`
  }

  #attribute(name: string, text: string): string {
    this.#size.add(name.length)
    return ` ${name}="${this.#text(text)}"`
  }

  #text(text: string): string {
    this.#size.add(text.length)
    return escaped(text)
  }

  /** A member of an object, which may be composed of parts. */
  #memberOf(schema: JsonSchema, name: string): Described {
    const parts = this.#composed.get(schema) ?? composedOf(schema, this.#definitions)
    this.#composed.set(schema, parts)
    return describe(memberSchema(parts, name), this.#definitions)
  }
}

function qualified(name: string, { xml }: Described): string {
  const { prefix } = xml
  return typeof prefix === 'string' && prefix !== '' ? `${checked(prefix)}:${checked(name)}` : checked(name)
}

function itemsOf({ items }: JsonSchema): JsonSchema {
  return isObject(items) ? items : {}
}

function memberSchema(parts: readonly JsonSchema[], name: string): JsonSchema {
  for (const { properties } of parts) {
    if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name] as JsonSchema
  }
  return parts.map(({ additionalProperties }) => additionalProperties).find(isObject) ?? {}
}

/** The name that a schema states for itself. */
function own({ xml }: Described): string | undefined {
  return typeof xml['name'] === 'string' ? xml['name'] : undefined
}

function describe(given: JsonSchema, definitions: Definitions): Described {
  let at = given
  let name: string | undefined
  // A schema that may be null is the alternative of another and null.
  for (let hops = 0; hops < OPENAPI_DEPTH_MAX; hops++) {
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
