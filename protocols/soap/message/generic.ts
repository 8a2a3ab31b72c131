import { BUILTINS } from '../schema/builtin.ts'
import { type Encoding, isObject } from './encoding.ts'
import { ANY_TYPE, synthetic, type TypeIndex } from '../schema/model.ts'
import { NS, type QName, clark, isNcName, parseClark } from '../xml/names.ts'
import { attribute, elements, textOf, type XmlAttribute, type XmlElement } from '../xml/tree.ts'

/**
 * JSON for open content (`xs:any`, `xs:anyType`). Only the positions of comments are lost.
 *
 * | XML                                   | JSON                                                                      |
 * |---------------------------------------|---------------------------------------------------------------------------|
 * | text only                             | string; number or boolean if `xsi:type` says so                           |
 * | `xsi:nil`                             | null                                                                      |
 * | attributes                            | `@name` or `@{namespace}name`, string                                     |
 * | text beside attributes                | `value`, string                                                           |
 * | child elements, text between them     | `$any`: array in document order, of `{ name: content }` and strings       |
 * | array of SOAP's encoding              | array                                                                     |
 * | `xsi:type` of the schemas             | `$type`, see `Encoder`; a simple type has its text as `value`             |
 *
 * The name in `{ name: content }` is `{namespace}local`. A name without `{…}` is in the only namespace that the wildcard allows,
 * else in none. The content of an element that the schemas declare is typed, as elsewhere.
 */
export function writeGeneric(encoder: Encoding, types: TypeIndex, value: unknown, namespace = ''): void {
  const { writer } = encoder
  if (!isObject(value)) {
    writer.text(scalarText(encoder, value))
    return
  }
  for (const [name, content] of Object.entries(value)) {
    if (name.startsWith('@')) encoder.openAttribute(name, content)
    else if (name !== '$any' && name !== 'value') {
      throw encoder.refuse(
        `has the field ${JSON.stringify(name.slice(0, 80))}; open content is written with $any, value and @names`
      )
    }
  }
  if (value.value !== undefined) encoder.at('value', () => writer.text(scalarText(encoder, value.value)))
  if (value.$any === undefined) return
  if (!Array.isArray(value.$any)) throw encoder.refuse('must have an array as "$any"')
  const items: readonly unknown[] = value.$any
  for (const [index, item] of items.entries()) encoder.at(index, () => writeItem(encoder, types, item, namespace))
}

function writeItem(encoder: Encoding, types: TypeIndex, item: unknown, namespace: string): void {
  if (typeof item === 'string') return encoder.writer.text(item)
  const entries = isObject(item) ? Object.entries(item) : []
  const [entry] = entries
  if (entry === undefined || entries.length > 1)
    throw encoder.refuse('must be a string, or an object with one field: the name of an element')
  const [key, content] = entry
  const name = key.startsWith('{') ? parseClark(key) : { namespace, name: key }
  if (!isNcName(name.name)) throw encoder.refuse('must be named as an XML element can be', key)
  encoder.at(key, () => writeElement(encoder, types, name, content, namespace))
}

/** Writes an element by name: typed if the schemas declare it, else as open content. */
export function writeElement(encoder: Encoding, types: TypeIndex, name: QName, content: unknown, namespace = ''): void {
  const declared = types.globalElement(clark(name.namespace, name.name))
  if (declared !== undefined) return encoder.element(declared, content)
  if (!isNcName(name.name)) throw encoder.refuse('must be named as an XML element can be')
  if (Array.isArray(content) || (isObject(content) && content.$type !== undefined))
    return encoder.element(
      synthetic(name.namespace, name.name, () => ANY_TYPE),
      content
    )
  encoder.writer.open(name.namespace, name.name)
  if (content === null) encoder.writer.attribute(NS.xsi, 'nil', 'true')
  else {
    writeType(encoder, content)
    writeGeneric(encoder, types, content, namespace)
  }
  encoder.writer.close()
}

/** Writes `xsi:type` for numbers and booleans, so that they are read back as such. */
export function writeType(encoder: Encoding, value: unknown): void {
  const { writer } = encoder
  if (typeof value === 'boolean') writer.attribute(NS.xsi, 'type', writer.qname(NS.xsd, 'boolean'))
  if (typeof value !== 'number') return
  const name = Number.isInteger(value) ? (Math.abs(value) < 2 ** 31 ? 'int' : 'long') : 'double'
  writer.attribute(
    NS.xsi,
    'type',
    writer.qname(NS.xsd, Number.isSafeInteger(value) || name === 'int' ? name : 'double')
  )
}

function scalarText(encoder: Encoding, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  throw encoder.refuse('must be a string, number, boolean or object', value)
}

export type GenericJson = string | number | boolean | null | { [name: string]: unknown }

/** The parts of the decoder that open content needs. */
export interface OpenReader {
  /** Reads an element that the schemas declare, or that refers to another one; returns undefined for any other. */
  typed(element: XmlElement): { readonly json: unknown } | undefined
  /** False for an attribute of the message, such as `xsi:type`. */
  isData(attribute: XmlAttribute): boolean
}

/** The inverse of `writeGeneric`. */
export function readGeneric(element: XmlElement, reader: OpenReader, namespace = ''): GenericJson {
  if (isNil(element)) return null
  const attributes = element.attributes.filter((one) => reader.isData(one))
  const children = elements(element)
  if (attributes.length === 0 && children.length === 0) return scalarOf(element)
  const json: { [name: string]: unknown } = {}
  for (const one of attributes) json[`@${clark(one.namespace, one.name)}`] = one.value
  if (children.length > 0) json.$any = readItems(element, reader, namespace)
  else if (textOf(element) !== '') json.value = textOf(element)
  return json
}

/** Child elements and the text between them, without layout white space. */
export function readItems(parent: XmlElement, reader: OpenReader, namespace = ''): unknown[] {
  const blank = parent.nodes.every((node) => typeof node !== 'string' || node.trim() === '')
  const items: unknown[] = []
  for (const node of parent.nodes) {
    if (typeof node !== 'string') items.push(readItem(node, reader, namespace))
    else if (!blank) items.push(node)
  }
  return items
}

export function readItem(element: XmlElement, reader: OpenReader, namespace: string): { [name: string]: unknown } {
  const key = element.namespace === namespace ? element.name : clark(element.namespace, element.name)
  const known = reader.typed(element)
  return Object.fromEntries([[key, known === undefined ? readGeneric(element, reader, namespace) : known.json]])
}

/** Reads untyped text as number or boolean if `xsi:type` says so. */
function scalarOf(element: XmlElement): string | number | boolean {
  const text = textOf(element)
  const name = attribute(element, 'type', NS.xsi)?.split(':').at(-1)
  const builtin = name === undefined ? undefined : BUILTINS.get(name)
  return builtin?.read(text.trim()) ?? text
}

/** Drafts before 2001 used `xsi:null`. */
export function isNil(element: XmlElement): boolean {
  const nil = attribute(element, 'nil', NS.xsi) ?? attribute(element, 'null', NS.xsi)
  return nil !== undefined && ['true', '1'].includes(nil.trim())
}
