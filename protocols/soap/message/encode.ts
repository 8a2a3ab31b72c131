import { SoukError } from '../../../lib/base/errors.ts'
import { JSON_DEPTH_MAX } from '../../../lib/base/limits/call.ts'
import { SCHEMA_DERIVATIONS_MAX, SOAP_STEPS_MAX } from '../../../lib/base/limits/soap.ts'
import { Meter } from '../../pattern/meter.ts'
import type { Attachments } from './attachments.ts'
import { derives } from '../schema/bases.ts'
import { anyArray } from '../schema/compile-array.ts'
import { SWA_REF, XOP_CONTENT } from '../schema/compile-simple.ts'
import { typeName, writeArray } from './encode-array.ts'
import { ContentWriter, refuseCount } from './encode-content.ts'
import { type Encoding, glimpse, isObject, jsonPath, type JsonObject } from './encoding.ts'
import { writeElement, writeGeneric, writeType } from './generic.ts'
import {
  type AttributeUse,
  type ComplexType,
  type ElementUse,
  type PlainMember,
  type Shape,
  type SimpleType,
  type SparseMembers,
  type Type,
  type TypeIndex,
  textName
} from '../schema/model.ts'
import { NS, clark, parseClark } from '../xml/names.ts'
import { Refusal, sameValue, type Writing, writeSimple, writeUnchecked } from '../schema/simple.ts'
import { CHAR_STEPS, ELEMENT_STEPS, MEMBER_STEPS, PART_STEPS } from '../schema/steps.ts'
import type { Problems } from './problems.ts'
import { isXmlText } from '../xml/text.ts'
import type { SoapVersion } from '../wsdl/wsdl.ts'
import { type XmlWriter, xmlText } from '../xml/write.ts'

export interface EncodeOptions {
  /** Values are checked against their types, and required ones must be present. Default true. */
  readonly checks?: boolean
  /** Errors contain the rejected value. Set to false for secrets. Default true. */
  readonly showsValues?: boolean
  /** Writes `xsi:type` on values and `arrayType` on arrays: SOAP encoding of this version. */
  readonly encoded?: SoapVersion | undefined
  /** Charged for the work per value. Default: a new meter with `SOAP_STEPS_MAX`. */
  readonly meter?: Meter | undefined
  /** Collects attachments. Default: binary content stays in the envelope, and attachments are not available. */
  readonly attachments?: Attachments | undefined
  /** Collects the problems of values, so that the caller reports all. Default: the first one is thrown. */
  readonly problems?: Problems | undefined
  /** Maps a path to the consumer's names, if a mapping renamed fields. */
  readonly shownPath?: ((path: readonly (string | number)[]) => readonly (string | number)[]) | undefined
}

/**
 * Writes JSON as XML, in the order and the namespaces of the schema, whatever the order in JSON.
 *
 * | JSON                                   | XML                                                                  |
 * |----------------------------------------|----------------------------------------------------------------------|
 * | member                                 | child element of that name, or attribute                             |
 * | `@name`                                | attribute, always accepted                                           |
 * | array                                  | one element per item                                                 |
 * | `value`, or the bare scalar            | text of an element that has attributes                               |
 * | `null`                                 | `xsi:nil` if nillable; absent if the element is optional             |
 * | `$type`: `name` or `{namespace}name`   | `xsi:type`                                                           |
 * | `$any`: `[{ name: … }, …]`             | elements of open content, see `generic.ts`                           |
 * | `$order`: `[name, …]`                  | the order of elements that the schema leaves open, see `order.ts`    |
 *
 * Every rejection is a SoukError `invalid_request` with the JSON path, the rule and the value. When the meter is used up, all
 * methods throw OutOfSteps.
 */
export class Encoder implements Encoding {
  readonly writer: XmlWriter
  readonly checks: boolean
  readonly #types: TypeIndex
  readonly #encoded: SoapVersion | undefined
  readonly #shownPath: EncodeOptions['shownPath']
  readonly #showsValues: boolean
  readonly #attachments: Attachments | undefined
  readonly #problems: Problems | undefined
  readonly #path: Array<string | number> = []
  readonly #meter: Meter
  /** Number of type parts already charged to the meter. */
  #paid: number
  readonly #writing: Writing

  constructor(writer: XmlWriter, types: TypeIndex, options: EncodeOptions = {}) {
    this.writer = writer
    this.#types = types
    this.checks = options.checks ?? true
    this.#encoded = options.encoded
    this.#shownPath = options.shownPath
    this.#showsValues = options.showsValues ?? true
    this.#attachments = options.attachments
    this.#problems = options.problems
    this.#meter = options.meter ?? new Meter(SOAP_STEPS_MAX)
    this.#paid = types.parts
    this.#writing = { write: (namespace, name) => writer.qname(namespace, name), meter: this.#meter }
  }

  spend(steps: number): void {
    const { parts } = this.#types
    this.#meter.spend(steps + (parts - this.#paid) * PART_STEPS)
    this.#paid = parts
  }

  at(step: string | number, write: () => void): void {
    const depth = this.#path.length
    this.#enter(step)
    try {
      write()
    } catch (error) {
      this.#keep(error)
    }
    this.#path.length = depth
  }

  /** The document is incomplete then, and never sent. */
  #keep(error: unknown): void {
    if (this.#problems === undefined) throw error
    this.#problems.add(error)
  }

  refuse(rule: string, value?: unknown): SoukError {
    const path = jsonPath(this.#shownPath?.(this.#path) ?? this.#path)
    const seen = value === undefined || !this.#showsValues ? '' : `; got ${glimpse(value)}`
    return new SoukError('invalid_request', `${path} ${rule}${seen}.`, { members: { path } })
  }

  element(use: ElementUse, value: unknown): void {
    const { writer } = this
    if (value === null) {
      if (!use.nillable && this.checks) throw this.refuse('must not be null: the element is not nillable')
      writer.openElement(use)
      if (use.nillable) writer.attribute(NS.xsi, 'nil', 'true')
      writer.close()
      return
    }
    const declared = use.type()
    const type = isObject(value) && value.$type !== undefined ? this.#chosen(declared, value.$type) : declared
    if (type.kind === 'complex' && type.abstract && this.checks) {
      throw this.refuse(`must say by "$type" which type it is: ${type.label} is abstract`)
    }
    writer.openElement(use)
    if (type !== declared || this.#encoded !== undefined) this.#announce(type)
    if (type.kind === 'complex') this.complex(type, value)
    else if (type.kind === 'any') this.#open(value)
    else if (type.kind === 'array') writeArray(this, type, value, this.#encoded)
    else if (type !== declared && isObject(value)) this.#typedValue(type, value)
    else if (type.kind === 'atomic' && type.encoding && isObject(value)) this.#encodingValue(type, value)
    else if (type === SWA_REF && this.#attachments !== undefined)
      writer.text(`cid:${this.#attachments.given(this, value, [])}`)
    else {
      if (use.fixed !== undefined && this.checks) this.#checkFixed(type, value, use.fixed)
      this.#text(type, value)
    }
    writer.close()
  }

  /** The value of an `xs:anyType` states its type. Axis refuses a text without one; JAXB and .NET read it as XML. */
  #open(value: unknown): void {
    if (Array.isArray(value)) return writeArray(this, ANY_ARRAY, value, this.#encoded ?? '1.1')
    if (typeof value === 'string') this.writer.attribute(NS.xsi, 'type', this.writer.qname(NS.xsd, 'string'))
    else writeType(this, value)
    writeGeneric(this, this.#types, value)
  }

  /** A simple type chosen by `$type`, with its text as `value`. */
  #typedValue(type: SimpleType, { $type: _, value, ...others }: JsonObject): void {
    const [unknown] = Object.keys(others)
    if (unknown !== undefined) {
      this.at(unknown, () => {
        throw this.refuse('is not known here; known: $type, value')
      })
    }
    this.at('value', () => this.#text(type, value))
  }

  #checkFixed(type: SimpleType, value: unknown, fixed: string): void {
    const text = this.#lexical(type, value)
    if (!sameValue(type, text, fixed)) throw this.refuse(`must be ${fixed}: the schema fixes it`, value)
  }

  #encodingValue(type: SimpleType, value: JsonObject): void {
    for (const [name, content] of Object.entries(value)) {
      if (name.startsWith('@')) this.openAttribute(name, content)
      else if (name !== 'value') {
        this.at(name, () => {
          throw this.refuse('is not known here; known: value')
        })
      }
    }
    if (value.value !== undefined) this.at('value', () => this.#text(type, value.value))
  }

  /** In SOAP encoding, each value states its type; old servers depend on it. */
  #announce(type: Type): void {
    if (type.kind === 'any' || type.kind === 'array') return
    const name = typeName(type)
    if (name !== undefined) this.writer.attribute(NS.xsi, 'type', this.writer.qname(name.namespace, name.name))
  }

  /** Writes the attributes and content of an open element. */
  complex(type: ComplexType, value: unknown): void {
    const shape = type.shape()
    this.spend(
      ELEMENT_STEPS + MEMBER_STEPS * (2 * shape.attributes.length + (shape.sparse?.needed ?? shape.plain ?? []).length)
    )
    if (shape.text !== undefined && !isObject(value)) {
      this.#attributes(shape, {})
      this.#text(shape.text, value)
      return
    }
    if (!isObject(value)) throw this.refuse('must be an object', value)
    this.#known(shape, value)
    if (shape.attributes.length > 0 || shape.anyAttribute) this.#attributes(shape, value)
    if (shape.text === XOP_CONTENT && value.value === undefined && value.Include !== undefined)
      this.at('Include', () => writeElement(this, this.#types, XOP_INCLUDE, value.Include))
    else if (shape.text !== undefined) this.#textMember(shape.text, value, mediaTypeOf(shape, value))
    else if (shape.mixed) this.#mixedText(textName(shape), value)
    if (shape.plain !== undefined)
      this.#plain(shape.sparse === undefined ? shape.plain : present(shape.plain, shape.sparse, value), value)
    else if (shape.particle !== undefined) new ContentWriter(this, shape, value).write(shape.particle)
  }

  /** Writes plain content, which most types have, without the bookkeeping of `ContentWriter`. */
  #plain(members: readonly PlainMember[], value: JsonObject): void {
    for (const member of members) {
      const given = ownMember(value, member.json)
      if (given === undefined || (given === null && !member.element.nillable && (member.many || !member.required))) {
        if (member.min === 1 && member.element.fixed !== undefined) {
          this.spend(CHAR_STEPS * (member.json.length + member.element.fixed.length))
          this.#single(member, member.element.fixed)
        } else if (member.min > 0 && this.checks) refuseCount(this, member, 0)
      } else if (member.many) this.#items(member, Array.isArray(given) ? given : [given])
      else this.#single(member, given)
    }
  }

  #single(member: PlainMember, value: unknown): void {
    const depth = this.#path.length
    this.#enter(member.json)
    try {
      this.element(member.element, value)
    } catch (error) {
      this.#keep(error)
    }
    this.#path.length = depth
  }

  #items(member: PlainMember, items: readonly unknown[]): void {
    const isTooFew = items.length < member.min && this.checks
    if (isTooFew || items.length > member.max) refuseCount(this, member, items.length)
    this.#enter(member.json)
    const depth = this.#path.length
    for (let index = 0; index < items.length; index++) {
      this.#enter(index)
      try {
        this.element(member.element, items[index])
      } catch (error) {
        this.#keep(error)
      }
      this.#path.length = depth
    }
    this.#path.pop()
  }

  #enter(step: string | number): void {
    if (this.#path.length >= JSON_DEPTH_MAX) throw this.refuse('must not be nested any deeper')
    this.#path.push(step)
  }

  any(
    items: readonly unknown[],
    namespace: string,
    { from, to }: { readonly from: number; readonly to: number }
  ): void {
    this.at('$any', () => {
      for (let index = from; index < to; index++) {
        this.at(index, () => writeGeneric(this, this.#types, { $any: [items[index]] }, namespace))
      }
    })
  }

  #mixedText(name: string, { [name]: text }: JsonObject): void {
    if (text === undefined || text === null) return
    this.at(name, () => {
      if (typeof text !== 'string') throw this.refuse('must be a string', text)
      this.writer.text(text)
    })
  }

  #textMember(type: SimpleType, value: JsonObject, mediaType: unknown): void {
    this.at('value', () => {
      if (value.value !== undefined && value.value !== null) this.#text(type, value.value, mediaType)
      else if (this.checks && typeof writeSimple(type, '', this.#writing) !== 'string') throw this.refuse('is required')
    })
  }

  #text(type: SimpleType, value: unknown, mediaType?: unknown): void {
    const lexical = this.#lexical(type, value)
    const isBinary = type.kind === 'atomic' && type.builtin.name === 'base64Binary'
    const attachments = isBinary ? this.#attachments : undefined
    if (attachments !== undefined && (type === XOP_CONTENT || attachments.takes(lexical)))
      return attachments.write(this, lexical, mediaType)
    const text = xmlText(lexical)
    if (text === undefined) throw this.refuse(NO_CONTROL)
    this.writer.raw(text)
  }

  /** The lexical form of a scalar. Errors contain the path. */
  #lexical(type: SimpleType, value: unknown): string {
    const text = (this.checks ? writeSimple : writeUnchecked)(type, value, this.#writing)
    if (text instanceof Refusal) throw this.refuse(`must ${text.rule}`, value)
    return text
  }

  #attributeText(type: SimpleType, value: unknown): string {
    const text = this.#lexical(type, value)
    if (!isXmlText(text)) throw this.refuse(NO_CONTROL)
    return text
  }

  #attributes(shape: Shape, value: JsonObject): void {
    for (const use of shape.attributes) {
      const given = attributeValue(use, value)
      if (given !== undefined && given !== null) {
        this.at(use.json, () => {
          if (use.fixed !== undefined && this.checks) this.#checkFixed(use.type, given, use.fixed)
          this.writer.attribute(use.namespace, use.name, this.#attributeText(use.type, given))
        })
      } else if (use.required && use.fixed !== undefined) {
        this.spend(CHAR_STEPS * (use.name.length + use.fixed.length))
        this.writer.attribute(use.namespace, use.name, use.fixed)
      } else if (use.required && this.checks) this.at(use.json, () => missing(this))
    }
    if (!shape.anyAttribute) return
    for (const [name, text] of Object.entries(value)) {
      if (name.startsWith('@') && !isDeclared(shape, name)) this.openAttribute(name, text)
    }
  }

  openAttribute(name: string, value: unknown): void {
    this.at(name, () => writeOpenAttribute(this, name, value))
  }

  #known(shape: Shape, value: JsonObject): void {
    for (const name of Object.keys(value)) {
      if (shape.members.has(name) || name === '$type') continue
      if (name === '$any' && shape.wildcard !== undefined) continue
      if (name === '$order' && shape.order !== undefined) continue
      if (name === 'value' && shape.text !== undefined) continue
      // The reference itself, for content that the service has already.
      if (name === 'Include' && shape.text === XOP_CONTENT) continue
      if (shape.mixed && name === textName(shape)) continue
      if (shape.attributesByJson.has(name) || isDeclared(shape, name)) continue
      if (name.startsWith('@') && shape.anyAttribute) continue
      this.at(name, () => {
        // With a mapping, consumers do not know the names of the schema.
        throw this.refuse(`is not known here${this.#shownPath === undefined ? known(shape) : ''}`)
      })
    }
  }

  /** The types of the schemas with a name, else the built-in one. */
  #named(name: string): Type[] {
    const named = this.#types.typesNamed(name)
    const builtin =
      named.length > 0
        ? undefined
        : this.#types.type(name.startsWith('{') ? parseClark(name) : { namespace: NS.xsd, name })
    return builtin === undefined ? named : [builtin]
  }

  #chosen(declared: Type, name: unknown): Type {
    if (typeof name !== 'string') throw this.refuse('must have a string as "$type"', name)
    const named = this.#named(name)
    this.spend(SCHEMA_DERIVATIONS_MAX * named.length)
    const found = named.filter((type) => derives(type, declared))
    const [type, another] = found
    if (type === undefined) throw this.refuse('has a "$type" that the schema does not allow here', name)
    if (another !== undefined)
      throw this.refuse('must have a "$type" of the form {namespace}name: several share the name', name)
    return type
  }
}

const ANY_ARRAY = anyArray()
const XOP_INCLUDE = { namespace: NS.xop, name: 'Include' }
const MEDIA_TYPE = clark(NS.xmime, 'contentType')

/** The media type of an element's binary content (Describing Media Content of Binary Data in XML, section 2). */
function mediaTypeOf(shape: Shape, value: JsonObject): unknown {
  const use = shape.attributesByName.get(MEDIA_TYPE)
  return use && attributeValue(use, value)
}

const NO_CONTROL = 'must not hold control characters: XML cannot carry them'

/** The given and the required members, in schema order. */
function present(
  plain: readonly PlainMember[],
  { index, needed }: SparseMembers,
  value: JsonObject
): readonly PlainMember[] {
  const found = new Set(needed)
  for (const name of Object.keys(value)) {
    const at = index.get(name)
    if (at !== undefined) found.add(at)
  }
  return [...found]
    .toSorted((a, b) => a - b)
    .map((at) => plain[at])
    .filter((member) => member !== undefined)
}

/** Only own members count, because an element may be called `constructor`. */
function ownMember(value: JsonObject, name: string): unknown {
  const given = value[name]
  return given !== undefined && name in Object.prototype && !Object.hasOwn(value, name) ? undefined : given
}

function missing(encoder: Encoder): never {
  throw encoder.refuse('is required')
}

function writeOpenAttribute(encoder: Encoder, name: string, value: unknown): void {
  const match = /^@(?:\{([^{}]*)\})?([\p{L}_][\p{L}\p{N}\p{M}._-]*)$/u.exec(name)
  if (match === null || (match[1] ?? '') === NS.xmlns || match[2] === 'xmlns') {
    throw encoder.refuse('is not a name that an attribute can have')
  }
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw encoder.refuse('must be a string', value)
  }
  encoder.writer.attribute(match[1] ?? '', match[2] ?? '', String(value))
}

function attributeValue(use: AttributeUse, value: JsonObject): unknown {
  for (const name of [use.json, `@${use.name}`, `@${clark(use.namespace, use.name)}`]) {
    if (Object.hasOwn(value, name)) return value[name]
  }
  return undefined
}

/** True for `@name` or `@{namespace}name` of an attribute that the type declares. */
function isDeclared(shape: Shape, name: string): boolean {
  if (!name.startsWith('@')) return false
  const plain = name.slice(1)
  return shape.attributesByName.has(plain) || shape.attributesByLocalName.has(plain)
}

function known(shape: Shape): string {
  const names = [...shape.members.keys(), ...shape.attributes.map((use) => use.json)]
  if (shape.text !== undefined) names.push('value')
  if (names.length === 0) return '; nothing is'
  return `; known: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}`
}
