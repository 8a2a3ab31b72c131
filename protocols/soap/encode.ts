import { SoukError } from '../../lib/base/errors.ts'
import { JSON_DEPTH_MAX } from '../../lib/base/limits.ts'
import { derives } from './compile.ts'
import { ContentWriter } from './encode-content.ts'
import { type Encoding, isObject, type JsonObject } from './encoding.ts'
import { writeGeneric, writeType } from './generic.ts'
import type { AttributeUse, ComplexType, ElementUse, Shape, SimpleType, Type, TypeIndex } from './model.ts'
import { NS, clark } from './names.ts'
import { Refusal, writeSimple, writeUnchecked } from './simple.ts'
import { isXmlText } from './xml-text.ts'
import type { XmlWriter } from './xml-write.ts'

export interface EncodeOptions {
  /** Values are checked against their types, and required ones must be there. Default true. */
  readonly checks?: boolean
}

/**
 * Writes JSON as XML, in the order and the namespaces that the schema wants, whatever the order in JSON.
 *
 * | JSON                                   | XML                                                                  |
 * |----------------------------------------|----------------------------------------------------------------------|
 * | member                                 | child element of that name, or attribute                             |
 * | `@name`                                | attribute, always accepted                                           |
 * | array                                  | the element once for each item                                       |
 * | `value`, or the bare scalar            | text of an element that has attributes                               |
 * | `null`                                 | `xsi:nil` where nillable; as if absent where the element is optional |
 * | `$type`: `name` or `{namespace}name`   | `xsi:type`                                                           |
 * | `$any`: `[{ name: … }, …]`             | elements that the schema leaves open, see `generic.ts`               |
 *
 * Every refusal is a SoukError `invalid_request` that names the JSON path, the rule and the value seen.
 */
export class Encoder implements Encoding {
  readonly writer: XmlWriter
  readonly checks: boolean
  readonly #types: TypeIndex
  readonly #path: Array<string | number> = []
  readonly #prefixes = { write: (namespace: string, name: string) => this.writer.qname(namespace, name) }

  constructor(writer: XmlWriter, types: TypeIndex, options: EncodeOptions = {}) {
    this.writer = writer
    this.#types = types
    this.checks = options.checks ?? true
  }

  at(step: string | number, write: () => void): void {
    if (this.#path.length >= JSON_DEPTH_MAX) throw this.refuse('must not be nested any deeper')
    this.#path.push(step)
    write()
    this.#path.pop()
  }

  refuse(rule: string, value?: unknown): SoukError {
    const path = jsonPath(this.#path)
    const seen = value === undefined ? '' : `; got ${glimpse(value)}`
    return new SoukError('invalid_request', `${path} ${rule}${seen}.`, { members: { path } })
  }

  element(use: ElementUse, value: unknown): void {
    const { writer } = this
    if (value === null) {
      if (!use.nillable && this.checks) throw this.refuse('must not be null: the element is not nillable')
      writer.open(use.namespace, use.name)
      if (use.nillable) writer.attribute(NS.xsi, 'nil', 'true')
      writer.close()
      return
    }
    const declared = use.type()
    const type = isObject(value) && value.$type !== undefined ? this.#chosen(declared, value.$type) : declared
    if (type.kind === 'complex' && type.abstract && this.checks) {
      throw this.refuse(`must say by "$type" which type it is: ${type.label} is abstract`)
    }
    writer.open(use.namespace, use.name)
    if (type !== declared && type.kind === 'complex' && type.name !== undefined) {
      writer.attribute(NS.xsi, 'type', writer.qname(type.name.namespace, type.name.name))
    }
    if (type.kind === 'complex') this.complex(type, value)
    else if (type.kind === 'any') {
      writeType(this, value)
      writeGeneric(this, this.#types, value)
    } else this.#text(type, value)
    writer.close()
  }

  /** Attributes and content of an open element. */
  complex(type: ComplexType, value: unknown): void {
    const shape = type.shape()
    if (shape.text !== undefined && !isObject(value)) {
      this.#attributes(shape, {})
      this.#text(shape.text, value)
      return
    }
    if (!isObject(value)) throw this.refuse('must be an object', value)
    this.#known(shape, value)
    this.#attributes(shape, value)
    if (shape.text !== undefined) this.#textMember(shape.text, value)
    else if (shape.mixed && typeof value.value === 'string' && !shape.members.has('value'))
      this.writer.text(value.value)
    if (shape.particle !== undefined) new ContentWriter(this, shape, value).write(shape.particle)
  }

  any(items: unknown, namespace: string): void {
    this.at('$any', () => {
      if (!Array.isArray(items)) throw this.refuse('must be an array', items)
      for (const [index, item] of items.entries()) {
        this.at(index, () => writeGeneric(this, this.#types, { $any: [item] }, namespace))
      }
    })
  }

  #textMember(type: SimpleType, value: JsonObject): void {
    this.at('value', () => {
      if (value.value !== undefined && value.value !== null) this.#text(type, value.value)
      else if (this.checks && typeof writeSimple(type, '', this.#prefixes) !== 'string')
        throw this.refuse('is required')
    })
  }

  #text(type: SimpleType, value: unknown): void {
    this.writer.text(this.lexical(type, value))
  }

  /** Lexical form of a scalar, with the place in any refusal. */
  lexical(type: SimpleType, value: unknown): string {
    const text = (this.checks ? writeSimple : writeUnchecked)(type, value, this.#prefixes)
    if (text instanceof Refusal) throw this.refuse(`must ${text.rule}`, value)
    if (!isXmlText(text)) throw this.refuse('must not hold control characters: XML cannot carry them')
    return text
  }

  #attributes(shape: Shape, value: JsonObject): void {
    for (const use of shape.attributes) {
      const given = attributeValue(use, value)
      if (given !== undefined && given !== null) {
        this.at(use.json, () => this.writer.attribute(use.namespace, use.name, this.lexical(use.type, given)))
      } else if (use.required && use.fixed !== undefined) this.writer.attribute(use.namespace, use.name, use.fixed)
      else if (use.required && this.checks) this.at(use.json, () => missing(this))
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
      if (name === 'value' && (shape.text !== undefined || shape.mixed)) continue
      if (shape.attributes.some((use) => use.json === name) || isDeclared(shape, name)) continue
      if (name.startsWith('@') && shape.anyAttribute) continue
      this.at(name, () => {
        throw this.refuse(`is not known here${known(shape)}`)
      })
    }
  }

  #chosen(declared: Type, name: unknown): Type {
    if (typeof name !== 'string') throw this.refuse('must have a string as "$type"', name)
    const found = this.#types.typesNamed(name).filter((type) => derives(type, declared))
    const [type, another] = found
    if (type === undefined) throw this.refuse('has a "$type" that the schema does not allow here', name)
    if (another !== undefined)
      throw this.refuse('must have a "$type" of the form {namespace}name: several share the name', name)
    return type
  }
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

/** `@name` or `@{namespace}name` of an attribute that the type has. */
function isDeclared(shape: Shape, name: string): boolean {
  if (!name.startsWith('@')) return false
  const plain = name.slice(1)
  return shape.attributesByName.has(plain) || shape.attributes.some((use) => use.name === plain)
}

function known(shape: Shape): string {
  const names = [...shape.members.keys(), ...shape.attributes.map((use) => use.json)]
  if (shape.text !== undefined) names.push('value')
  if (names.length === 0) return '; nothing is'
  return `; known: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}`
}

/** `$.order.items[2].qty`, as in RFC 9535. */
function jsonPath(steps: ReadonlyArray<string | number>): string {
  let path = '$'
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`
    else path += /^[\w$@-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step.slice(0, 80))}]`
  }
  return path
}

/** Enough of a value to recognise it by. */
function glimpse(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
