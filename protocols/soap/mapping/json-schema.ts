import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { attachmentSchema } from '../schema/attachment-schema.ts'
import { anchored, type Field, type Fields, NO_FIELDS } from './mapping-fields.ts'
import type { MessageModel } from '../message/message.ts'
import type { Direction, Schema } from '../schema/direction.ts'
import { simpleSchema } from '../schema/json-schema-simple.ts'
import { OPEN_ATTRIBUTES, OpenSchemas } from './open-schema.ts'
import { all, Presence } from './presence.ts'
import {
  type ArrayType,
  type AtomicType,
  type ComplexType,
  type ElementUse,
  type Member,
  NO_FACETS,
  type OpenOrder,
  type Shape,
  type SimpleType,
  type Type,
  type TypeIndex,
  type Wildcard,
  textName
} from '../schema/model.ts'
import { normalise } from '../schema/simple.ts'
import { NS } from '../xml/names.ts'

/** The schema exceeds the maximum number of characters. */
export class SchemaTooLarge extends Error {}

/**
 * Writes the JSON Schema (draft 2020-12) of one message. Named types, and complex types other than the outermost, are under
 * `$defs`.
 */
export class SchemaWriter {
  readonly #direction: Direction
  readonly #types: TypeIndex
  readonly #names = new Map<Type, string>()
  /** Definitions of derived types in place of their base, with `$type`. */
  readonly #standIns = new Map<ComplexType, string>()
  readonly #definitions: Map<string, JsonSchema>
  readonly #isShared: boolean
  /** Definitions without a type, by the name that they would like. */
  readonly #builtins = new Map<string, string>()
  readonly #open: OpenSchemas
  /** How many definitions were named after a label. */
  readonly #counts = new Map<string, number>()
  /** Definitions that have a name but no content yet. */
  readonly #waiting: Array<() => void> = []
  #charsLeft: number

  /**
   * @param charsMax maximum size of all schemas as JSON. Writing stops soon after it with `SchemaTooLarge`.
   * @param shared collects the definitions of several messages and writers, instead of the `$defs` of each message
   */
  constructor(
    direction: Direction,
    types: TypeIndex,
    charsMax = Number.POSITIVE_INFINITY,
    shared?: Map<string, JsonSchema>
  ) {
    this.#direction = direction
    this.#types = types
    this.#charsLeft = charsMax
    this.#definitions = shared ?? new Map<string, JsonSchema>()
    this.#isShared = shared !== undefined
    this.#open = new OpenSchemas(direction, (name, make) => this.#shared(name, make))
  }

  /** Counts a lower bound of the schema's characters. */
  #spend(chars: number): void {
    this.#charsLeft -= chars
    if (this.#charsLeft < 0) throw new SchemaTooLarge()
  }

  /** The consumer's request: the operation's name and its parameters in one object. */
  request({ content, headers, attachments }: MessageModel, operation: string, fields: Fields = NO_FIELDS): JsonSchema {
    const named = { operation: { const: operation } }
    const whole = (schema: Schema) =>
      this.#withHeaders(withAttachments(schema, attachments, fields, true), headers, fields)
    const own = whole(this.#escaped(this.#object(content.shape(), named, fields), content.shape(), named, fields))
    const derived = this.#derived(content)
    if (derived.length === 0) return this.#closed(own)
    const others = derived.map((type) => {
      const $type = { const: this.#types.nameOf(type) }
      return whole(this.#object(type.shape(), { ...named, $type }, fields))
    })
    // The members of the declared type are shown at the top, for readers that look nowhere else.
    const properties = {
      ...(own.properties as Schema),
      $type: { enum: derived.map((type) => this.#types.nameOf(type)) }
    }
    const anyOf = content.abstract ? others : [own, ...others]
    return this.#closed({ type: 'object', properties, required: ['operation'], anyOf })
  }

  response({ content, headers, attachments }: MessageModel, fields: Fields = NO_FIELDS): JsonSchema {
    const own = this.#object(content.shape(), {}, fields)
    const derived = this.#derived(content)
    const properties =
      derived.length === 0
        ? own.properties
        : { ...(own.properties as Schema), $type: { enum: derived.map((type) => this.#types.nameOf(type)) } }
    const schema = withAttachments({ ...own, properties }, attachments, fields, false)
    return this.#closed(this.#withHeaders(schema, headers, fields))
  }

  /** A parameter called `operation` is renamed. */
  #escaped(schema: Schema, shape: Shape, named: Schema, fields: Fields): Schema {
    const own = shape.members.get('operation')
    if (own === undefined || this.#moved(own.json, fields)) return schema
    const $operation = this.#member(own, fields.byName.get('operation'))
    const required = new Set(['operation', ...(schema.required as string[])])
    if (own.required) required.add('$operation')
    return {
      ...schema,
      properties: { ...(schema.properties as Schema), ...named, $operation },
      required: [...required]
    }
  }

  /** The types that may stand in for this one. */
  #derived(type: ComplexType): readonly ComplexType[] {
    const derived = this.#types.derivedTypes(type)
    this.#spend(derived.length)
    return derived
  }

  #moved(name: string, { byName }: Fields): boolean {
    const field = byName.get(name)
    return field !== undefined && (field.hidden || field.shown !== name)
  }

  #withHeaders(schema: Schema, headers: MessageModel['headers'], { byName }: Fields): Schema {
    const all = byName.get('$headers')
    if (headers.size === 0 || all?.hidden === true) return schema
    const blocks: Array<[string, Schema]> = []
    for (const [name, use] of headers) {
      const field = all?.fields.byName.get(name)
      if (field?.hidden !== true) blocks.push([field?.shown ?? name, this.#element(use, field)])
    }
    const $headers = {
      type: 'object',
      properties: Object.fromEntries(blocks),
      ...(this.#direction === 'input' ? { additionalProperties: false } : {})
    }
    return { ...schema, properties: { ...(schema.properties as Schema), $headers } }
  }

  /** Adds the definitions one after the other, because a definition may refer to further ones at any depth. */
  #closed(schema: Schema): JsonSchema {
    for (const next of this.#waiting) next()
    this.#waiting.length = 0
    if (!this.#isShared && this.#definitions.size > 0) schema.$defs = Object.fromEntries(this.#definitions)
    return schema
  }

  #element(use: ElementUse, field?: Field): Schema {
    const type = use.type()
    // If a mapping changes a nested field, the type differs from its shared definition.
    const inline = field !== undefined && field.fields.byName.size > 0 && type.kind === 'complex'
    if (use.fixed !== undefined && type.kind === 'atomic') return fixedSchema(type, use.fixed)
    const schema = inline ? this.#object(type.shape(), {}, field.fields) : this.#type(type, field !== undefined)
    this.#spend(use.documentation?.length ?? 0)
    const nullable = use.nillable ? orNull(schema) : schema
    return use.documentation === undefined ? nullable : { ...nullable, description: use.documentation }
  }

  /** @param isInline true if a mapping changes the type, so that it differs from its shared definition */
  #type(type: Type, isInline = false): Schema {
    if (type.kind === 'any') return this.#open.content()
    if (type.kind === 'array') return this.#array(type)
    return type.kind === 'complex' ? this.#reference(type) : this.#simple(type, isInline)
  }

  #simple(type: SimpleType, isInline = false): Schema {
    const write = () => {
      this.#spend(sizeOf(type))
      return simpleSchema(type, this.#direction, (inner) => this.#simple(inner))
    }
    if (!isInline && isLong(type, this.#direction)) return this.#shared(type.builtin.name, write)
    const isOwn = type.name !== undefined && type.name.namespace !== NS.xsd && type.name.namespace !== NS.swaRef
    const isNothing = type.kind === 'atomic' && type.facets === NO_FACETS
    if (isInline || !isOwn || isNothing) return write()
    return this.#defined(this.#names, type, type.name?.name ?? '', write)
  }

  /** An array type is a definition as well, because its items may contain the same array type. */
  #array(type: ArrayType): Schema {
    return this.#defined(this.#names, type, type.label, () => {
      const depth = type.ranks.reduce((sum, rank) => sum + rank, 0)
      const item = type.item()
      const one = this.#type(item.type())
      // Items that a sparse array omits are null.
      let schema: Schema = item.nillable || this.#direction === 'output' ? orNull(one) : one
      this.#spend(depth)
      for (let i = 0; i < depth; i++) schema = { type: 'array', items: schema }
      return schema
    })
  }

  #reference(type: ComplexType): Schema {
    return this.#defined(this.#names, type, type.label, () => {
      const derived = this.#derived(type)
      const own = type.abstract ? [] : [this.#complex(type)]
      if (derived.length === 0) return own[0] ?? { not: {} }
      return { anyOf: [...own, ...derived.map((one) => this.#standIn(one))] }
    })
  }

  #standIn(type: ComplexType): Schema {
    return this.#defined(this.#standIns, type, `${type.label}.`, () => {
      const shape = type.shape()
      const text = shape.text === undefined ? {} : { value: this.#simple(shape.text) }
      return this.#object(shape, { $type: { const: this.#types.nameOf(type) }, ...text })
    })
  }

  #defined<T extends Type>(names: Map<T, string>, type: T, label: string, make: () => Schema): Schema {
    let name = names.get(type)
    if (name === undefined) {
      const taken = this.#free(label)
      name = taken
      names.set(type, taken)
      this.#waiting.push(() => this.#definitions.set(taken, make()))
    }
    return reference(name)
  }

  #free(label: string): string {
    const plain = label.replaceAll(/[^\w.-]/g, '_') || 'type'
    let count = (this.#counts.get(plain) ?? 0) + 1
    let name = count === 1 ? plain : `${plain}_${count}`
    while (this.#definitions.has(name)) name = `${plain}_${++count}`
    this.#counts.set(plain, count)
    // Reserved at once, so that the definitions keep the order of their first reference.
    this.#definitions.set(name, {})
    return name
  }

  /** A definition that no type of the WSDL has. */
  #shared(name: string, make: () => Schema): Schema {
    let taken = this.#builtins.get(name)
    if (taken === undefined) {
      taken = this.#free(name)
      this.#builtins.set(name, taken)
      this.#definitions.set(taken, make())
    }
    return reference(taken)
  }

  #complex(type: ComplexType): Schema {
    const shape = type.shape()
    if (shape.text === undefined) return this.#object(shape, {})
    const text = this.#simple(shape.text)
    if (shape.attributes.length === 0 && !shape.anyAttribute) return text
    const object = this.#object(shape, { value: text })
    const isBare =
      this.#direction === 'input' && !shape.attributes.some(({ required, fixed }) => required && fixed === undefined)
    return isBare ? { anyOf: [text, object] } : object
  }

  #object(shape: Shape, own: Readonly<Record<string, JsonSchema>>, { byName }: Fields = NO_FIELDS): Schema {
    const properties: Array<[string, unknown]> = Object.entries(own)
    const isInput = this.#direction === 'input'
    // Whether an empty text is allowed depends on facets. Responses have it always.
    const required = Object.keys(own)
    for (const member of shape.members.values()) {
      this.#spend(member.json.length)
      const field = byName.get(member.json)
      if (field?.hidden === true) continue
      const name = field?.shown ?? member.json
      properties.push([name, this.#member(member, field)])
      const always = !isInput && member.many && member.free
      if (isRequired(member.required, field) || always) required.push(name)
    }
    for (const use of shape.attributes) {
      this.#spend(use.json.length)
      const field = byName.get(use.json)
      if (field?.hidden === true) continue
      const name = field?.shown ?? use.json
      const { type, fixed } = use
      const isFixed = fixed !== undefined && type.kind === 'atomic'
      const own = isFixed ? fixedSchema(type, fixed) : this.#simple(type, field !== undefined)
      properties.push([name, constrained(own, field)])
      if (isRequired(use.required && use.fixed === undefined, field)) required.push(name)
    }
    if (shape.mixed) properties.push([textName(shape), { type: 'string' }])
    if (shape.wildcard !== undefined) {
      properties.push(['$any', this.#any(shape.wildcard, shape.mixed)])
      if (isInput && shape.wildcard.required) required.push('$any')
    }
    if (shape.order !== undefined) properties.push(['$order', orderSchema(shape.order, byName)])
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
      ...(isInput && shape.anyAttribute ? { patternProperties: OPEN_ATTRIBUTES } : {}),
      ...(isInput ? { additionalProperties: false } : {}),
      ...this.#presence(shape, byName)
    }
  }

  #any(wildcard: Wildcard, isMixed: boolean): Schema {
    if (this.#direction === 'output') return this.#open.items()
    const counts = countsOf({ ...wildcard, most: wildcard.count })
    return isMixed ? mixedItems(this.#open.items(), counts) : { ...this.#open.elements(), ...counts }
  }

  #presence({ particle, plain, membersByName }: Shape, byName: Fields['byName']): Schema {
    if (plain !== undefined || particle === undefined) return {}
    const conditions = new Presence((key) => {
      const json = membersByName.get(key)?.json ?? key
      this.#spend(json.length)
      const field = byName.get(json)
      const isDecided = field !== undefined && (field.hidden || field.rule.default !== undefined)
      return isDecided ? undefined : (field?.shown ?? json)
    }).of(particle)
    return all(conditions)
  }

  #member(member: Member, field?: Field): Schema {
    const one = constrained(this.#element(member.element, field), field)
    if (!member.many) return one
    const { description, ...items } = one
    const counts = this.#direction === 'input' ? countsOf(member) : {}
    const { minItems = counts.minItems, maxItems = counts.maxItems } = field?.rule ?? {}
    return {
      type: 'array',
      items,
      ...(minItems === undefined ? {} : { minItems: Math.max(minItems, counts.minItems ?? 0) }),
      ...(maxItems === undefined ? {} : { maxItems: Math.min(maxItems, counts.maxItems ?? maxItems) }),
      ...(description === undefined ? {} : { description })
    }
  }
}

interface Counts {
  readonly minItems?: number
  readonly maxItems?: number
}

/** Only elements count, not the text between them. */
function mixedItems(items: Schema, { minItems, maxItems }: Counts): Schema {
  if (minItems === undefined && maxItems === undefined) return items
  const most = maxItems === undefined ? {} : { maxContains: maxItems }
  return { ...items, contains: { type: 'object' }, minContains: minItems ?? 0, ...most }
}

/** Arrays of a choice or an optional group have items, because their presence counts. */
function countsOf({ free, required, least, most }: Pick<Member, 'free' | 'required' | 'least' | 'most'>): Counts {
  return {
    ...(free && !required ? {} : { minItems: least }),
    ...(Number.isFinite(most) ? { maxItems: most } : {})
  }
}

function orderSchema({ names }: OpenOrder, byName: Fields['byName']): Schema {
  const fields = [...names.keys()].map((name) => ({ name, field: byName.get(name) }))
  const shown = fields.filter(({ field }) => field?.hidden !== true).map(({ name, field }) => field?.shown ?? name)
  return {
    type: 'array',
    items: { enum: shown },
    description: 'The order of the elements: each name takes the next item of its field.'
  }
}

/** Integers of 64 bits have a long pattern, so they are written once. */
function isLong(type: SimpleType, direction: Direction): type is AtomicType {
  return (
    direction === 'input' &&
    type.kind === 'atomic' &&
    type.facets === NO_FACETS &&
    (type.builtin.name === 'long' || type.builtin.name === 'unsignedLong')
  )
}

/** A lower bound of a simple type's characters. */
function sizeOf({ facets, ...type }: SimpleType): number {
  let chars = type.kind === 'union' ? type.members.length : 1
  for (const value of facets.enumeration ?? []) chars += value.length
  for (const { expression } of facets.patterns ?? []) chars += expression.length
  return chars
}

/** Attachments are fields like others. */
function withAttachments(
  schema: Schema,
  attachments: MessageModel['attachments'],
  { byName }: Fields,
  isRequest: boolean
): Schema {
  const required = [...((schema.required as string[] | undefined) ?? [])]
  const properties: Array<[string, Schema]> = []
  for (const [json, { types }] of attachments) {
    const field = byName.get(json)
    if (field?.hidden === true) continue
    const shown = field?.shown ?? json
    // Escaped like a parameter with that name.
    const name = shown === 'operation' ? '$operation' : shown
    properties.push([name, attachmentSchema(types, isRequest ? 'input' : 'output')])
    if (isRequest && isRequired(true, field)) required.push(name)
  }
  if (properties.length === 0) return schema
  const all = { ...schema, properties: { ...(schema.properties as Schema), ...Object.fromEntries(properties) } }
  return isRequest ? { ...all, required } : all
}

function isRequired(byWsdl: boolean, field: Field | undefined): boolean {
  return (byWsdl && field?.rule.default === undefined) || field?.rule.required === true
}

function fixedSchema({ builtin }: AtomicType, text: string): Schema {
  const fixed = normalise(text, builtin.whitespace)
  return { const: builtin.read(fixed) ?? fixed }
}

/** Adds a mapping's rules to the schema of a value. */
function constrained(schema: Schema, field: Field | undefined): Schema {
  if (field === undefined) return schema
  const { min, max, minLength, maxLength, pattern, enum: allowed, default: preset } = field.rule
  const rules: Schema = {}
  if (min !== undefined && Number.isSafeInteger(Number(min))) rules.minimum = Number(min)
  if (max !== undefined && Number.isSafeInteger(Number(max))) rules.maximum = Number(max)
  if (minLength !== undefined) rules.minLength = minLength
  if (maxLength !== undefined) rules.maxLength = maxLength
  if (pattern !== undefined) rules.pattern = anchored(pattern)
  if (allowed !== undefined) rules.enum = allowed
  if (preset !== undefined) rules.default = preset
  return Object.keys(rules).length === 0 ? schema : { ...schema, ...rules }
}

function reference(name: string): Schema {
  return { $ref: `#/$defs/${name}` }
}

function orNull(schema: Schema): Schema {
  if (typeof schema.type === 'string' && schema.enum === undefined) return { ...schema, type: [schema.type, 'null'] }
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] }
}
