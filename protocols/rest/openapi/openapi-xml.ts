import { SoukError } from '../../../lib/base/errors.ts'
import { OPENAPI_DEPTH_MAX, XML_BODY_DEPTH_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject, textOf } from '../../exact-json.ts'
import { escapeAttribute, escapeText } from '../../soap/xml/escape.ts'
import { isXmlText } from '../../soap/xml/text.ts'
import { composedOf, memberOf } from './composed-schema.ts'
import { type Definitions, REF } from './openapi-schemas.ts'
import type { WrittenSize } from './written-size.ts'

const NAME = /^[\p{L}_][\p{L}\p{N}_.-]*$/u
const NODE_TYPES = ['element', 'attribute', 'text', 'cdata', 'none'] as const
type NodeType = (typeof NODE_TYPES)[number]

interface Described {
  readonly schema: JsonSchema
  /** From `xml.name`, else the name of the referenced schema. */
  readonly name: string | undefined
  readonly xml: JsonObject
}

/** The attributes and child nodes that an object's members, or a list's items, add to its element. */
interface Content {
  /** By their qualified names. */
  readonly attributes: Map<string, string>
  readonly children: string[]
}

/** A member of an object, or an item of a list. */
interface Node {
  readonly name: string
  readonly value: unknown
  readonly described: Described
  readonly depth: number
}

interface XmlInit {
  readonly definitions: Definitions
  readonly size: WrittenSize
}

/**
 * Writes JSON as XML by the `xml` objects of its schema: names, namespaces, attributes and wrapped lists (OpenAPI 3.1, section
 * 4.8.26), and the node types of OpenAPI 3.2.
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
    const name = described.name ?? fallback
    if (!Array.isArray(value)) return this.#element(name, value, described, 0)
    return this.#tagged(name, described, this.#list(this.#itemOf(schema).name ?? name, value, described, 0))
  }

  #element(name: string, value: unknown, described: Described, depth: number): string {
    if (Array.isArray(value)) return this.#tagged(name, described, this.#list(name, value, described, depth))
    if (isObject(value)) return this.#tagged(name, described, this.#members(value, described, depth))
    const children = value === null ? [] : [this.#text(textOf(value) ?? '')]
    return this.#tagged(name, described, { attributes: new Map(), children })
  }

  #members(value: JsonObject, { schema }: Described, depth: number): Content {
    checkDepth(depth)
    const content: Content = { attributes: new Map(), children: [] }
    for (const [key, one] of Object.entries(value)) {
      if (one === null) continue
      const described = this.#memberOf(schema, key)
      this.#add(content, nodeTypeOf(described, one), {
        name: own(described) ?? key,
        value: one,
        described,
        depth: depth + 1
      })
    }
    return content
  }

  /** @param name - that of the items, unless their schema states one */
  #list(name: string, list: readonly unknown[], { schema }: Described, depth: number): Content {
    checkDepth(depth)
    const content: Content = { attributes: new Map(), children: [] }
    const described = this.#itemOf(schema)
    for (const value of list) {
      this.#add(content, itemTypeOf(described), { name: own(described) ?? name, value, described, depth: depth + 1 })
    }
    return content
  }

  #add(content: Content, type: NodeType, { name, value, described, depth }: Node): void {
    const text = textOf(value)
    if (type === 'attribute' && text !== undefined) {
      this.#size.add(name.length)
      addAttribute(content, qualified(name, described), this.#attribute(text))
    } else if (type === 'text' && text !== undefined) content.children.push(this.#text(text))
    else if (type === 'cdata' && text !== undefined) content.children.push(this.#cdata(text))
    else if (type === 'none' && typeof value === 'object' && value !== null) {
      const { attributes, children } = Array.isArray(value)
        ? this.#list(name, value, described, depth)
        : this.#members(value as JsonObject, described, depth)
      for (const [key, one] of attributes) addAttribute(content, key, one)
      for (const one of children) content.children.push(one)
    } else content.children.push(this.#element(name, value, described, depth))
  }

  #tagged(name: string, described: Described, { attributes, children }: Content): string {
    const { namespace, prefix } = described.xml
    const declared = typeof prefix === 'string' && prefix !== '' ? `xmlns:${prefix}` : 'xmlns'
    this.#size.add(2 * (name.length + declared.length))
    const tag = qualified(name, described)
    const own = typeof namespace === 'string' ? [[declared, this.#attribute(namespace)] as const] : []
    const all = [...own, ...attributes].map(([key, text]) => ` ${key}="${text}"`).join('')
    const inner = children.join('')
    return inner === '' ? `<${tag}${all}/>` : `<${tag}${all}>${inner}</${tag}>`
  }

  #attribute(text: string): string {
    const written = escapeAttribute(checkedText(text))
    this.#size.add(written.length)
    return written
  }

  #text(text: string): string {
    const written = escapeText(checkedText(text))
    this.#size.add(written.length)
    return written
  }

  /** A section contains neither its own end nor a carriage return, which a reader would remove. */
  #cdata(text: string): string {
    const inner = checkedText(text).replaceAll(']]>', ']]]]><![CDATA[>').replaceAll('\r', ']]>&#13;<![CDATA[')
    const written = `<![CDATA[${inner}]]>`
    this.#size.add(written.length)
    return written
  }

  #itemOf(schema: JsonSchema): Described {
    const items = this.#partsOf(schema).map((part) => part['items'])
    return describe(items.find(isObject) ?? {}, this.#definitions)
  }

  /** A member of an object, which may be composed of parts. */
  #memberOf(schema: JsonSchema, name: string): Described {
    return describe(memberSchema(this.#partsOf(schema), name), this.#definitions)
  }

  #partsOf(schema: JsonSchema): readonly JsonSchema[] {
    const parts = this.#composed.get(schema) ?? composedOf(schema, this.#definitions)
    this.#composed.set(schema, parts)
    return parts
  }
}

function qualified(name: string, { xml }: Described): string {
  const { prefix } = xml
  return typeof prefix === 'string' && prefix !== '' ? `${checked(prefix)}:${checked(name)}` : checked(name)
}

function memberSchema(parts: readonly JsonSchema[], name: string): JsonSchema {
  for (const part of parts) {
    const member = memberOf(part, name)
    if (member !== undefined) return member as JsonSchema
  }
  return parts.map(({ additionalProperties }) => additionalProperties).find(isObject) ?? {}
}

/** The name that a schema states for itself. */
function own({ xml }: Described): string | undefined {
  return typeof xml['name'] === 'string' ? xml['name'] : undefined
}

/** The node of a value: `nodeType` of 3.2, else what `attribute` and `wrapped` say. A list has no element of its own by default. */
function nodeTypeOf({ xml }: Described, value: unknown): NodeType {
  const stated = NODE_TYPES.find((one) => one === xml['nodeType'])
  if (stated !== undefined) return stated
  if (Array.isArray(value)) return xml['wrapped'] === true ? 'element' : 'none'
  return xml['attribute'] === true ? 'attribute' : 'element'
}

/** An item is an element by default, even if it is a list, because an element has an attribute only once. */
function itemTypeOf({ xml }: Described): NodeType {
  const { nodeType } = xml
  return nodeType === 'text' || nodeType === 'cdata' || nodeType === 'none' ? nodeType : 'element'
}

function addAttribute({ attributes }: Content, name: string, text: string): void {
  if (attributes.has(name)) throw refuse(`An XML element cannot have the attribute ${JSON.stringify(name)} twice.`)
  attributes.set(name, text)
}

/** With the `xml` object of the schema itself, else that of the only schema that it is composed of. */
function describe(schema: JsonSchema, definitions: Definitions): Described {
  let at: JsonSchema | undefined = schema
  let xml: JsonObject | undefined
  let name: string | undefined
  for (let hops = 0; at !== undefined && hops < OPENAPI_DEPTH_MAX; hops++) {
    const { $ref: reference, xml: given }: JsonSchema = at
    if (isObject(given)) xml ??= given
    if (typeof reference === 'string') name ??= reference.slice(REF.length)
    at = typeof reference === 'string' ? definitions[reference.slice(REF.length)] : onlyPart(at)
  }
  const stated = xml?.['name']
  return { schema, xml: xml ?? {}, name: typeof stated === 'string' ? stated : name }
}

/** The only schema in `allOf`, or the one that is an alternative to null. */
function onlyPart({ allOf, anyOf, oneOf }: JsonSchema): JsonSchema | undefined {
  for (const parts of [allOf, anyOf, oneOf]) {
    if (!Array.isArray(parts) || parts.length > 2) continue
    const [part, ...others] = (parts as unknown[]).filter(isObject).filter(({ type }) => type !== 'null')
    if (part !== undefined && others.length === 0) return part
  }
  return undefined
}

function checkDepth(depth: number): void {
  if (depth > XML_BODY_DEPTH_MAX) throw refuse('The body is nested too deeply for XML.')
}

function checked(name: string): string {
  if (NAME.test(name)) return name
  throw refuse(`XML has no element named ${JSON.stringify(name.slice(0, 80))}.`)
}

function checkedText(text: string): string {
  if (isXmlText(text)) return text
  throw refuse('The body has a character that XML cannot hold.')
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
