import { setMember } from '../../../lib/base/set-member.ts'
import type { Meter } from '../../pattern/meter.ts'
import { shownAttachment } from './attachments.ts'
import { derives } from '../schema/bases.ts'
import { SWA_REF } from '../schema/compile-simple.ts'
import { readArray } from './decode-array.ts'
import { isNil, type OpenReader, readGeneric, readItem, readItems } from './generic.ts'
import {
  ANY_TYPE,
  type ComplexType,
  type ElementUse,
  type Member,
  type OpenOrder,
  type Shape,
  type SimpleType,
  type Type,
  type TypeIndex,
  synthetic,
  textName
} from '../schema/model.ts'
import { type Attachment, taken } from './multipart.ts'
import { NS, clark } from '../xml/names.ts'
import { type SimpleJson, readSimple } from '../schema/simple.ts'
import type { References } from './references.ts'
import { arraySteps, CHAR_STEPS, ELEMENT_STEPS, PART_STEPS } from '../schema/steps.ts'
import { type XmlAttribute, type XmlElement, attribute, qnameIn, textOf } from '../xml/tree.ts'

type Json = { [name: string]: unknown }

/** Attributes of these namespaces belong to the message, not to its data. */
const MESSAGE_NAMESPACES: ReadonlySet<string> = new Set([NS.xsi, NS.envelope11, NS.envelope12])

const ANY_ELEMENT = synthetic('', '', () => ANY_TYPE)

/**
 * Reads XML as JSON by the schema, the inverse of `Encoder`. It is lenient where the meaning is clear, because a small fault of
 * an upstream should not cost the consumer the response. An element in the wrong namespace is matched by its local name. An
 * undeclared element goes to `$any`. An element that occurs too often becomes an array. Text of the wrong type stays text. Elements in
 * the place of text make it open content.
 * Repeated elements are always arrays, even empty ones, unless they belong to a choice or an absent group. In SOAP encoding,
 * `references` resolves `href`.
 */
export class Decoder implements OpenReader {
  readonly #types: TypeIndex
  readonly #meter: Meter
  /** Number of type parts already charged to the meter. */
  #paid: number
  readonly #references: References | undefined
  readonly #attachments: Map<string, Attachment> | undefined

  /** @param meter charged for the work per element; when it is used up, all methods throw OutOfSteps */
  constructor(types: TypeIndex, meter: Meter, references?: References, attachments?: Map<string, Attachment>) {
    this.#types = types
    this.#meter = meter
    this.#paid = types.parts
    this.#references = references
    this.#attachments = attachments
  }

  /** @throws XmlError for references that are unresolved, circular, or too many. */
  element(use: ElementUse, element: XmlElement): unknown {
    if (this.#references === undefined) return this.#element(use, element)
    return this.#references.follow(element, (target) => this.#element(use, target))
  }

  #element(use: ElementUse, element: XmlElement): unknown {
    if (isNil(element)) return null
    const declared = use.type()
    const actual = this.#actual(declared, element)
    if (actual.kind === 'any') return this.open(element)
    if (actual.kind === 'array') return readArray(actual, element, (item, node) => this.element(item, node))
    if (actual.kind === 'complex') {
      const json = this.complex(actual, element)
      if (actual === declared || actual.name === undefined) return json
      const $type = this.#types.nameOf(actual)
      if (isJson(json)) return { $type, ...json }
      // Simple content without attributes is a bare value, which has no place for the type.
      return declared.kind === 'complex' ? { $type, value: json } : json
    }
    if (!isText(element)) return this.open(element)
    const text = textOf(element)
    if (actual === SWA_REF && this.#attachments !== undefined && /^\s*cid:/i.test(text)) {
      return shownAttachment(taken(this.#attachments, text))
    }
    if (text !== '' || use.default === undefined) return this.#text(actual, text, element)
    this.#meter.spend(CHAR_STEPS * use.default.length)
    return this.#text(actual, use.default, element)
  }

  /** Reads a complex element: an object, or the bare value of simple content that can have no attributes. */
  complex(type: ComplexType, element: XmlElement): unknown {
    const shape = type.shape()
    const { parts } = this.#types
    this.#meter.spend(ELEMENT_STEPS + (parts - this.#paid) * PART_STEPS + arraySteps(shape.arrays.length))
    this.#paid = parts
    if (shape.text !== undefined && !hasAttributes(shape)) {
      return isText(element) ? this.#text(shape.text, textOf(element), element) : this.open(element)
    }
    const json: Json = {}
    this.#attributes(shape, element, json)
    if (shape.text === undefined) this.#content(shape, element, json)
    else if (isText(element)) json.value = this.#text(shape.text, textOf(element), element)
    else json.$any = readItems(element, this)
    return json
  }

  /** Reads content without a schema. */
  open(element: XmlElement, namespace = ''): unknown {
    return readGeneric(element, this, namespace)
  }

  /** Reads an element that the schemas declare, or whose `xsi:type` they do, or a reference; undefined for any other. */
  typed(element: XmlElement): { readonly json: unknown } | undefined {
    const use = this.#types.globalElement(clark(element.namespace, element.name))
    if (use !== undefined) return { json: this.element(use, element) }
    const isOpen = this.#actual(ANY_TYPE, element) === ANY_TYPE && this.#references?.has(element) !== true
    return isOpen ? undefined : { json: this.element(ANY_ELEMENT, element) }
  }

  isData(attribute: XmlAttribute): boolean {
    return !MESSAGE_NAMESPACES.has(attribute.namespace) && this.#references?.concerns(attribute) !== true
  }

  #attributes(shape: Shape, element: XmlElement, json: Json): void {
    for (const attribute of element.attributes) {
      const { namespace, name, value } = attribute
      if (MESSAGE_NAMESPACES.has(namespace)) continue
      const key = clark(namespace, name)
      const use = shape.attributesByName.get(key) ?? shape.attributesByLocalName.get(name)
      if (use === undefined && !this.isData(attribute)) continue
      setMember(json, use?.json ?? `@${key}`, use === undefined ? value : this.#text(use.type, value, element))
    }
  }

  #content(shape: Shape, element: XmlElement, json: Json): void {
    const open: unknown[] = []
    const repeated = new Set<string>()
    const order: string[] = []
    let text = ''
    for (const node of element.nodes) {
      if (typeof node === 'string') {
        text += node
        continue
      }
      const member = memberOf(shape, node)
      const name = member?.json ?? '$any'
      if (shape.order?.names.has(name) === true) order.push(name)
      if (member !== undefined) add(json, member, this.element(member.element, node), repeated)
      else open.push(readItem(node, this, shape.wildcard?.namespace ?? ''))
    }
    for (const member of shape.arrays) if (!Object.hasOwn(json, member.json)) setMember(json, member.json, [])
    if (open.length > 0) json.$any = open
    if (shape.order !== undefined && !isUsual(order, shape.order)) json.$order = order
    if (text.trim() !== '') json[textName(shape)] = text
  }

  #text(type: SimpleType, text: string, element: XmlElement): SimpleJson | null {
    return readSimple(type, text, { read: (name) => qnameIn(element, name), meter: this.#meter })
  }

  /** The type named by `xsi:type`, if it is the declared type or derived from it. */
  #actual(declared: Type, element: XmlElement): Type {
    if (declared.kind !== 'complex' && declared.kind !== 'any') return declared
    const text = attribute(element, 'type', NS.xsi)
    const name = text === undefined ? undefined : qnameIn(element, text)
    if (name === undefined) return declared
    const named = this.#types.type(name)
    // For open content, `generic.ts` reads simple values by their `xsi:type`.
    if (named === undefined || (declared.kind === 'any' && isSimple(named))) return declared
    return derives(named, declared) ? named : declared
  }
}

/** True if the elements are written in this order without `$order` as well. */
function isUsual(order: readonly string[], { names, isPlain }: OpenOrder): boolean {
  const rows = order.filter((name, at) => name !== order[at - 1])
  const sorted = [...names.keys()].filter((name) => rows.includes(name))
  return rows.length < 2 || (isPlain && rows.length === sorted.length && rows.every((name, at) => name === sorted[at]))
}

function isText({ nodes }: XmlElement): boolean {
  return nodes.every((node) => typeof node === 'string')
}

function hasAttributes(shape: Shape): boolean {
  return shape.attributes.length > 0 || shape.anyAttribute
}

function isSimple({ kind }: Type): boolean {
  return kind === 'atomic' || kind === 'list' || kind === 'union'
}

function memberOf(shape: Shape, element: XmlElement): Member | undefined {
  const likely = shape.members.get(element.name)
  if (likely !== undefined && likely.element.namespace === element.namespace) return likely
  const exact = shape.membersByName.get(clark(element.namespace, element.name))
  if (exact !== undefined || shape.wildcard !== undefined) return exact
  return shape.members.get(element.name)
}

/** @param repeated members that became arrays although they should occur once */
function add(json: Json, member: Member, value: unknown, repeated: Set<string>): void {
  const name = member.json
  const before = Object.hasOwn(json, name) ? json[name] : undefined
  if ((member.many || repeated.has(name)) && Array.isArray(before)) before.push(value)
  else if (before === undefined) setMember(json, name, member.many ? [value] : value)
  else {
    repeated.add(name)
    setMember(json, name, [before, value])
  }
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
