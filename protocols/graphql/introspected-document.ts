import {
  type ConstDirectiveNode,
  type ConstValueNode,
  type DefinitionNode,
  DirectiveLocation,
  type DocumentNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  type NameNode,
  type NamedTypeNode,
  OperationTypeNode,
  type StringValueNode,
  type TypeDefinitionNode,
  type TypeNode,
  introspectionTypes,
  parseConstValue,
  specifiedDirectives,
  specifiedScalarTypes
} from 'graphql'

/** An object of an introspection response. Any member may be missing or of another type. */
export type Json = Readonly<Record<string, unknown>>

const NAME = /^[_A-Za-z]\w*$/
const BUILT_IN: ReadonlySet<string> = new Set([...specifiedScalarTypes, ...introspectionTypes].map(({ name }) => name))
const BUILT_IN_DIRECTIVES: ReadonlySet<string> = new Set(specifiedDirectives.map(({ name }) => name))
/** Names that an enum value cannot have (specification, section 2.9.6). */
const NO_ENUM_VALUE: ReadonlySet<string> = new Set(['true', 'false', 'null'])
const LOCATIONS: ReadonlySet<unknown> = new Set(Object.values(DirectiveLocation))

/**
 * The `__schema` of an introspection response as a document. Parts that GraphQL cannot express, such as a name with a space, are
 * left out.
 *
 * @param onNote gets a sentence for each part that is left out
 * @throws TypeError if it is no schema
 */
export function introspectedDocument(schema: unknown, onNote: (note: string) => void): DocumentNode {
  const { types, directives, queryType, mutationType, subscriptionType, description } = schema as Json
  if (!Array.isArray(types)) throw new TypeError('__schema has no list of types')
  const roots = { query: queryType, mutation: mutationType, subscription: subscriptionType }
  const operationTypes = Object.values(OperationTypeNode).flatMap((operation) => {
    const type = (roots[operation] as Json | null | undefined)?.['name']
    return isName(type) ? [{ kind: Kind.OPERATION_TYPE_DEFINITION, operation, type: namedType(type) } as const] : []
  })
  const known = new Set([...BUILT_IN, ...list(types).map(({ name }) => name)])
  const named = new Introspected(known, onNote)
  const definitions: DefinitionNode[] = [
    { kind: Kind.SCHEMA_DEFINITION, operationTypes, ...described(description) },
    ...list(directives).flatMap((directive) => named.directive(directive)),
    ...list(types).flatMap((type) => named.type(type))
  ]
  return { kind: Kind.DOCUMENT, definitions }
}

class Introspected {
  readonly #known: ReadonlySet<unknown>
  readonly #onNote: (note: string) => void

  constructor(known: ReadonlySet<unknown>, onNote: (note: string) => void) {
    this.#known = known
    this.#onNote = onNote
  }

  directive({ name, args, locations, isRepeatable, description }: Json): DefinitionNode[] {
    if (!isName(name) || BUILT_IN_DIRECTIVES.has(name)) return []
    const places = (Array.isArray(locations) ? locations : []).filter((one) => LOCATIONS.has(one)).map(nameNode)
    if (places.length === 0) {
      this.#onNote(`The directive @${name} has no place that GraphQL knows. It is left out.`)
      return []
    }
    return [
      {
        kind: Kind.DIRECTIVE_DEFINITION,
        name: nameNode(name),
        repeatable: isRepeatable === true,
        locations: places,
        arguments: this.#inputs(args, `@${name}`),
        ...described(description)
      }
    ]
  }

  type(type: Json): TypeDefinitionNode[] {
    const { kind, name, description } = type
    if (!isName(name)) {
      this.#onNote(`A type has the name ${shown(name)}, which no document can contain. It is left out.`)
      return []
    }
    if (BUILT_IN.has(name)) return []
    const base = { name: nameNode(name), ...described(description) }
    switch (kind) {
      case 'OBJECT':
      case 'INTERFACE': {
        const interfaces = list(type['interfaces']).flatMap((one) =>
          isName(one['name']) ? [namedType(one['name'])] : []
        )
        const fields = list(type['fields']).flatMap((field) => this.#field(field, name))
        const node = kind === 'OBJECT' ? Kind.OBJECT_TYPE_DEFINITION : Kind.INTERFACE_TYPE_DEFINITION
        return [{ kind: node, ...base, interfaces, fields }]
      }
      case 'INPUT_OBJECT': {
        const directives = type['isOneOf'] === true ? [directive('oneOf')] : []
        const fields = this.#inputs(type['inputFields'], name)
        return [{ kind: Kind.INPUT_OBJECT_TYPE_DEFINITION, ...base, directives, fields }]
      }
      case 'UNION': {
        const types = list(type['possibleTypes']).flatMap((one) =>
          isName(one['name']) ? [namedType(one['name'])] : []
        )
        return [{ kind: Kind.UNION_TYPE_DEFINITION, ...base, types }]
      }
      case 'ENUM':
        return [this.#enum(type, base)]
      default: {
        const url = type['specifiedByURL'] ?? type['specifiedByUrl']
        const directives = typeof url === 'string' ? [directive('specifiedBy', 'url', url)] : []
        return [{ kind: Kind.SCALAR_TYPE_DEFINITION, ...base, directives }]
      }
    }
  }

  /** Values with other names than GraphQL allows can still be sent in variables, so such an enum becomes a scalar. */
  #enum({ enumValues }: Json, base: { readonly name: NameNode }): TypeDefinitionNode {
    const values = list(enumValues)
    const wrong = values.find(({ name }) => !isName(name) || NO_ENUM_VALUE.has(name))
    if (wrong !== undefined) {
      const enumName = base.name.value
      this.#onNote(`The enum ${enumName} has the value ${shown(wrong['name'])}, so any value is accepted for it.`)
      return { kind: Kind.SCALAR_TYPE_DEFINITION, ...base }
    }
    return {
      kind: Kind.ENUM_TYPE_DEFINITION,
      ...base,
      values: values.map((value) => ({
        kind: Kind.ENUM_VALUE_DEFINITION,
        name: nameNode(String(value['name'])),
        directives: deprecation(value),
        ...described(value['description'])
      }))
    }
  }

  #field(field: Json, type: string): FieldDefinitionNode[] {
    const { name, args } = field
    const read = this.#typed(field, type)
    if (read === undefined) return []
    return [{ kind: Kind.FIELD_DEFINITION, ...read, arguments: this.#inputs(args, `${type}.${String(name)}`) }]
  }

  #inputs(values: unknown, owner: string): InputValueDefinitionNode[] {
    return list(values).flatMap((value): InputValueDefinitionNode[] => {
      const read = this.#typed(value, owner)
      if (read === undefined) return []
      const { defaultValue: text } = value
      const defaultValue = typeof text === 'string' ? constValue(text) : undefined
      if (typeof text !== 'string' || defaultValue !== undefined) {
        return [{ kind: Kind.INPUT_VALUE_DEFINITION, ...read, ...(defaultValue === undefined ? {} : { defaultValue }) }]
      }
      this.#onNote(`The default value of ${owner}.${read.name.value} is not a GraphQL value. It is left out.`)
      return [{ kind: Kind.INPUT_VALUE_DEFINITION, ...read, type: optional(read.type) }]
    })
  }

  /** The members that fields and arguments share. */
  #typed(one: Json, owner: string) {
    const { name, type, description } = one
    const node = typeNode(type)
    if (isName(name) && node !== undefined && this.#known.has(namedIn(node))) {
      return { name: nameNode(name), type: node, directives: deprecation(one), ...described(description) }
    }
    const why = isName(name) ? 'has no type that is in the response' : 'is a name that no document can contain'
    this.#onNote(`${owner}.${shown(name)} ${why}. It is left out.`)
    return undefined
  }
}

export function namedIn(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedIn(type.type)
}

/** The type without its outer `!`: the value may be left out, because the API has a default for it. */
export function optional(type: TypeNode): TypeNode {
  return type.kind === Kind.NON_NULL_TYPE ? type.type : type
}

/** The objects in a list; none if it is no list. */
export function list(value: unknown): Json[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : []
  return all.filter((one): one is Json => typeof one === 'object' && one !== null)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}

function shown(name: unknown): string {
  return (JSON.stringify(name) ?? '?').slice(0, 80)
}

function typeNode(value: unknown): TypeNode | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, name, ofType } = value as Json
  if (kind !== 'NON_NULL' && kind !== 'LIST') return isName(name) ? namedType(name) : undefined
  const inner = typeNode(ofType)
  if (inner === undefined) return undefined
  if (kind === 'LIST') return { kind: Kind.LIST_TYPE, type: inner }
  return inner.kind === Kind.NON_NULL_TYPE ? inner : { kind: Kind.NON_NULL_TYPE, type: inner }
}

function constValue(text: string): ConstValueNode | undefined {
  try {
    return parseConstValue(text, { noLocation: true })
  } catch {
    return undefined
  }
}

function deprecation({ isDeprecated, deprecationReason }: Json): ConstDirectiveNode[] {
  if (isDeprecated !== true) return []
  return [
    typeof deprecationReason === 'string'
      ? directive('deprecated', 'reason', deprecationReason)
      : directive('deprecated')
  ]
}

function directive(name: string, argument?: string, value = ''): ConstDirectiveNode {
  const given =
    argument === undefined ? [] : [{ kind: Kind.ARGUMENT, name: nameNode(argument), value: text(value) } as const]
  return { kind: Kind.DIRECTIVE, name: nameNode(name), arguments: given }
}

function described(description: unknown): { readonly description?: StringValueNode } {
  return typeof description === 'string' && description !== '' ? { description: text(description) } : {}
}

/** A document contains no half of a surrogate pair; JSON may. */
function text(value: string): StringValueNode {
  return { kind: Kind.STRING, value: value.toWellFormed() }
}

function nameNode(value: string): NameNode {
  return { kind: Kind.NAME, value }
}

function namedType(name: string): NamedTypeNode {
  return { kind: Kind.NAMED_TYPE, name: nameNode(name) }
}
