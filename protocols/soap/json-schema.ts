import type { JsonSchema } from '../../lib/interface/adapter.ts'
import type { ComplexType, ElementUse, Facets, Member, Shape, SimpleType, Type, TypeIndex } from './model.ts'

type Schema = { [keyword: string]: unknown }

/** Which way the JSON goes: what comes out has all its arrays, and may carry what the schema did not announce. */
export type Direction = 'input' | 'output'

/** Writes the JSON Schema (draft 2020-12) of one message; complex types other than the outermost are under `$defs`. */
export class SchemaWriter {
  readonly #direction: Direction
  readonly #types: TypeIndex
  readonly #names = new Map<Type, string>()
  /** Definitions of derived types as they stand in for their base: with `$type`. */
  readonly #standIns = new Map<ComplexType, string>()
  readonly #definitions = new Map<string, Schema>()

  constructor(direction: Direction, types: TypeIndex) {
    this.#direction = direction
    this.#types = types
  }

  /** What a consumer posts: the operation's name with its parameters beside it. */
  request(type: ComplexType, operation: string): JsonSchema {
    const shape = type.shape()
    const schema = this.#object(shape, { operation: { const: operation } })
    // A parameter of that name has to step aside.
    const own = shape.members.get('operation')
    if (own !== undefined) {
      const properties = {
        ...(schema.properties as Schema),
        operation: { const: operation },
        $operation: this.#member(own)
      }
      const required = [...new Set(['operation', ...(schema.required as string[])])]
      Object.assign(schema, { properties, required: own.required ? [...required, '$operation'] : required })
    }
    return this.#closed(schema)
  }

  response(type: ComplexType): JsonSchema {
    return this.#closed(this.#object(type.shape(), {}))
  }

  #closed(schema: Schema): JsonSchema {
    if (this.#definitions.size > 0) schema.$defs = Object.fromEntries(this.#definitions)
    return schema
  }

  #element(use: ElementUse): Schema {
    const schema = this.#type(use.type())
    const nullable = use.nillable ? orNull(schema) : schema
    return use.documentation === undefined ? nullable : { ...nullable, description: use.documentation }
  }

  #type(type: Type): Schema {
    // Any JSON: the true schema, in object form so that a description can stand beside it.
    if (type.kind === 'any') return {}
    return type.kind === 'complex' ? this.#reference(type) : simpleSchema(type)
  }

  #reference(type: ComplexType): Schema {
    const known = this.#names.get(type)
    if (known !== undefined) return reference(known)
    const name = this.#free(type.label)
    this.#names.set(type, name)
    const derived = this.#types.derivedTypes(type)
    const own = type.abstract ? [] : [this.#complex(type)]
    const [only] = own
    const schema =
      derived.length === 0 ? (only ?? { not: {} }) : { anyOf: [...own, ...derived.map((one) => this.#standIn(one))] }
    this.#definitions.set(name, schema)
    return reference(name)
  }

  #standIn(type: ComplexType): Schema {
    const known = this.#standIns.get(type)
    if (known !== undefined) return reference(known)
    const name = this.#free(`${type.label}.`)
    this.#standIns.set(type, name)
    this.#definitions.set(name, this.#object(type.shape(), { $type: { const: this.#types.nameOf(type) } }))
    return reference(name)
  }

  #free(label: string): string {
    const plain = label.replaceAll(/[^\w.-]/g, '_') || 'type'
    let name = plain
    for (let i = 2; this.#definitions.has(name); i++) name = `${plain}_${i}`
    // Taken at once: what is within may want the same name.
    this.#definitions.set(name, {})
    return name
  }

  #complex(type: ComplexType): Schema {
    const shape = type.shape()
    if (shape.text === undefined) return this.#object(shape, {})
    const text = simpleSchema(shape.text)
    if (shape.attributes.length === 0 && !shape.anyAttribute) return text
    const object = this.#object(shape, { value: text })
    return this.#direction === 'input' ? { anyOf: [text, object] } : object
  }

  #object(shape: Shape, own: Readonly<Record<string, JsonSchema>>): Schema {
    const properties: Array<[string, unknown]> = Object.entries(own)
    const required = Object.keys(own).filter((name) => name !== 'value' || shape.text === undefined)
    for (const member of shape.members.values()) {
      properties.push([member.json, this.#member(member)])
      if (member.required || (this.#direction === 'output' && member.many && member.free)) required.push(member.json)
    }
    for (const use of shape.attributes) {
      properties.push([use.json, simpleSchema(use.type)])
      if (use.required && use.fixed === undefined) required.push(use.json)
    }
    if (shape.mixed) properties.push(['value', { type: 'string' }])
    if (shape.wildcard !== undefined)
      properties.push(['$any', { type: 'array', items: { type: ['object', 'string'] } }])
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
      ...(this.#direction === 'input' && !shape.anyAttribute ? { additionalProperties: false } : {})
    }
  }

  #member({ element, many, required }: Member): Schema {
    const one = this.#element(element)
    if (!many) return one
    const { description, ...items } = one
    const array: Schema = { type: 'array', items }
    if (required && this.#direction === 'input') array.minItems = 1
    return description === undefined ? array : { ...array, description }
  }
}

function reference(name: string): Schema {
  return { $ref: `#/$defs/${name}` }
}

function orNull(schema: Schema): Schema {
  if (typeof schema.type === 'string' && schema.enum === undefined) return { ...schema, type: [schema.type, 'null'] }
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] }
}

function simpleSchema(type: SimpleType): Schema {
  if (type.kind === 'list') {
    return { type: 'array', items: simpleSchema(type.item), ...lengthSchema(type.facets, 'Items') }
  }
  if (type.kind === 'union') {
    const { enumeration } = type.facets
    return enumeration === undefined ? { anyOf: type.members.map(simpleSchema) } : { enum: [...enumeration] }
  }
  const { builtin, facets } = type
  if (facets.enumeration !== undefined) return { enum: facets.enumeration.map((text) => builtin.read(text) ?? text) }
  return { ...builtin.schema, ...facetSchema(facets, builtin.numeric, builtin.bytes !== undefined) }
}

function facetSchema(facets: Facets, numeric: boolean, binary: boolean): Schema {
  if (!numeric) return binary ? {} : lengthSchema(facets, 'Length')
  const schema: Schema = {}
  const bound = (keyword: string, text: string | undefined) => {
    // These keywords say nothing of strings, so bounds that no number can hold exactly stay out.
    if (text !== undefined && Number.isSafeInteger(Number(text))) schema[keyword] = Number(text)
  }
  bound('minimum', facets.minInclusive)
  bound('maximum', facets.maxInclusive)
  bound('exclusiveMinimum', facets.minExclusive)
  bound('exclusiveMaximum', facets.maxExclusive)
  return schema
}

function lengthSchema({ length, minLength, maxLength }: Facets, what: 'Length' | 'Items'): Schema {
  const min = length ?? minLength
  const max = length ?? maxLength
  return {
    ...(min === undefined ? {} : { [`min${what}`]: min }),
    ...(max === undefined ? {} : { [`max${what}`]: max })
  }
}
