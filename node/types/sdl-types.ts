import {
  type DefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  parse,
  type TypeNode
} from 'graphql'
import { limits } from '../../lib/index.ts'
import { comment, literal, property, type TypeNames } from './names.ts'

const SCALARS: ReadonlyMap<string, string> = new Map([
  ['Int', 'number'],
  ['Float', 'number'],
  ['String', 'string'],
  ['ID', 'string'],
  ['Boolean', 'boolean']
])

/** The types of a GraphQL schema. */
interface SdlTypes {
  readonly declarations: readonly string[]
  /** The type of `data`: the root types, of which each query selects some fields. */
  readonly data: string
}

/** Names of types, by their names in the schema. */
type Names = ReadonlyMap<string, string>

/** @throws GraphQLError for a text that is no SDL */
export function sdlTypes(sdl: string, given: TypeNames): SdlTypes {
  const { definitions } = parse(sdl, { noLocation: true })
  const names = new Map<string, string>()
  const types = definitions.filter(isType)
  for (const { name } of types) names.set(name.value, given.add(name.value))
  const declarations = types.map((type) => {
    const text = comment(type.description?.value, '', limits.TYPES_COMMENT_CHARS_MAX)
    return `${text}export type ${names.get(type.name.value)} = ${bodyOf(type, names)}\n`
  })
  const roots = rootsOf(definitions).flatMap((name) => names.get(name) ?? [])
  return { declarations, data: roots.length === 0 ? 'unknown' : roots.join(' & ') }
}

type TypeDefinition = Extract<DefinitionNode, { readonly kind: `${string}TypeDefinition` }>

function isType(definition: DefinitionNode): definition is TypeDefinition {
  return definition.kind.endsWith('TypeDefinition')
}

function rootsOf(definitions: readonly DefinitionNode[]): string[] {
  for (const definition of definitions) {
    if (definition.kind === Kind.SCHEMA_DEFINITION) return definition.operationTypes.map(({ type }) => type.name.value)
  }
  return ['Query', 'Mutation', 'Subscription']
}

function bodyOf(type: TypeDefinition, names: Names): string {
  switch (type.kind) {
    case Kind.SCALAR_TYPE_DEFINITION:
      return SCALARS.get(type.name.value) ?? 'unknown'
    case Kind.ENUM_TYPE_DEFINITION:
      return type.values?.map(({ name }) => literal(name.value)).join(' | ') ?? 'unknown'
    case Kind.UNION_TYPE_DEFINITION:
      return type.types?.map(({ name }) => names.get(name.value) ?? 'unknown').join(' | ') ?? 'unknown'
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return object(type.fields?.map((field) => inputField(field, names)))
    case Kind.OBJECT_TYPE_DEFINITION: {
      const own = `  __typename?: ${literal(type.name.value)}\n`
      return object([own, ...(type.fields?.map((field) => outputField(field, names)) ?? [])])
    }
    // An interface.
    default:
      return object(['  __typename?: string\n', ...(type.fields?.map((field) => outputField(field, names)) ?? [])])
  }
}

const object = (fields: readonly string[] = []): string => `{\n${fields.join('')}}`

/** A query may leave any field out. */
function outputField({ name, description, type }: FieldDefinitionNode, names: Names): string {
  return field(name.value, description?.value, true, typeOf(type, names, 0))
}

function inputField({ name, description, type, defaultValue }: InputValueDefinitionNode, names: Names): string {
  const isOptional = type.kind !== Kind.NON_NULL_TYPE || defaultValue !== undefined
  return field(name.value, description?.value, isOptional, typeOf(type, names, 0))
}

function field(name: string, description: string | undefined, isOptional: boolean, type: string): string {
  return `${comment(description, '  ', limits.TYPES_COMMENT_CHARS_MAX)}  ${property(name)}${isOptional ? '?' : ''}: ${type}\n`
}

function typeOf(type: TypeNode, names: Names, depth: number): string {
  if (type.kind === Kind.NON_NULL_TYPE) return nonNull(type.type, names, depth)
  return `${nonNull(type, names, depth)} | null`
}

function nonNull(type: Exclude<TypeNode, { readonly kind: 'NonNullType' }>, names: Names, depth: number): string {
  if (type.kind === Kind.NAMED_TYPE) return names.get(type.name.value) ?? SCALARS.get(type.name.value) ?? 'unknown'
  if (depth > limits.TYPES_DEPTH_MAX) return 'unknown'
  const item = typeOf(type.type, names, depth + 1)
  return item.includes(' ') ? `(${item})[]` : `${item}[]`
}
