import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DirectiveDefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  type NameNode,
  type SchemaDefinitionNode,
  type TypeDefinitionNode,
  introspectionTypes,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  specifiedScalarTypes
} from 'graphql'
import { SoukError } from '../../lib/base/errors.ts'
import { namedIn } from './introspected-document.ts'
import { merged } from './schema-merge.ts'

/** A schema that can be built, and what had to change for that: sentences for the provider. */
export interface Repaired {
  readonly document: DocumentNode
  readonly notes: readonly string[]
}

/** Scalars that servers of AWS AppSync and Apollo Federation have, and leave out of their SDL. */
const VENDOR_SCALAR = /^(?:AWS\w+|_Any|_?FieldSet|(?:federation|link)__\w+)$/
const UNKNOWN_NAMES_SHOWN = 5

const BUILT_IN = new Map<string, Kind>([
  ...specifiedScalarTypes.map(({ name }) => [name, Kind.SCALAR_TYPE_DEFINITION] as const),
  ...introspectionTypes.map(({ name }) => [name, Kind.OBJECT_TYPE_DEFINITION] as const)
])
const OUTPUTS: ReadonlySet<Kind | undefined> = new Set([
  Kind.SCALAR_TYPE_DEFINITION,
  Kind.ENUM_TYPE_DEFINITION,
  Kind.OBJECT_TYPE_DEFINITION,
  Kind.INTERFACE_TYPE_DEFINITION,
  Kind.UNION_TYPE_DEFINITION
])
const INPUTS: ReadonlySet<Kind | undefined> = new Set([
  Kind.SCALAR_TYPE_DEFINITION,
  Kind.ENUM_TYPE_DEFINITION,
  Kind.INPUT_OBJECT_TYPE_DEFINITION
])

/**
 * Makes a schema that a server runs with buildable: merges duplicates, turns extensions without a base into definitions, and
 * leaves out parts that no document could use.
 *
 * @throws SoukError `invalid_request` for types that are used but not defined, because documents would then be refused wrongly
 */
export function repaired({ definitions }: DocumentNode): Repaired {
  return new Repair(definitions).run()
}

class Repair {
  readonly #notes: string[] = []
  readonly #types: readonly TypeDefinitionNode[]
  readonly #rest: readonly DefinitionNode[]
  readonly #kinds: Map<string, Kind>
  /** Applied, but not defined. */
  readonly #directives = new Set<string>()
  readonly #missing = new Set<string>()

  constructor(definitions: readonly DefinitionNode[]) {
    const isType = (node: DefinitionNode) => isTypeDefinitionNode(node) || isTypeExtensionNode(node)
    this.#types = merged(definitions.filter(isType), (note) => this.#notes.push(note))
    this.#rest = definitions.filter((node) => !isType(node))
    this.#kinds = new Map([...BUILT_IN, ...this.#types.map(({ name, kind }) => [name.value, kind] as const)])
  }

  run(): Repaired {
    const directives = this.#unique(
      this.#rest.filter((node) => node.kind === Kind.DIRECTIVE_DEFINITION),
      'directive '
    )
    const known = new Set(directives.map(({ name }) => name.value))
    const definitions: DefinitionNode[] = [
      ...this.#schema(),
      ...directives.map((node) => this.#directive(node)),
      ...this.#types.map((node) => this.#type(node))
    ]
    const undefinedTypes = [...this.#missing].filter((name) => !VENDOR_SCALAR.test(name))
    if (undefinedTypes.length > 0) throw incomplete(undefinedTypes)
    for (const name of this.#missing) {
      this.#note(`The scalar ${name} is not defined, so any value is accepted for it.`)
      definitions.push({ kind: Kind.SCALAR_TYPE_DEFINITION, name: { kind: Kind.NAME, value: name } })
    }
    const undefinedDirectives = [...this.#directives].filter((name) => !known.has(name)).map((name) => `@${name}`)
    if (undefinedDirectives.length > 0) {
      this.#note(`The schema uses directives that it does not define: ${undefinedDirectives.join(', ')}.`)
    }
    return { document: { kind: Kind.DOCUMENT, definitions }, notes: this.#notes }
  }

  #schema(): SchemaDefinitionNode[] {
    const nodes = this.#rest.filter(
      (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION
    )
    const named = nodes.flatMap(({ operationTypes = [] }) => operationTypes)
    const operationTypes = named.filter(({ operation, type: { name } }, at) => {
      const isFirst = named.findIndex((one) => one.operation === operation) === at
      return isFirst && this.#kindOf(name.value, `the type of ${operation} operations`, OBJECTS)
    })
    // Without a `schema` definition, or with one that names nothing, the types have their default names.
    if (operationTypes.length === 0) return []
    const described = nodes.find((node) => node.kind === Kind.SCHEMA_DEFINITION)?.description
    return [
      { kind: Kind.SCHEMA_DEFINITION, operationTypes, ...(described === undefined ? {} : { description: described }) }
    ]
  }

  #directive(node: DirectiveDefinitionNode): DirectiveDefinitionNode {
    return { ...node, arguments: this.#inputs(node.arguments, `@${node.name.value}`) }
  }

  #type(node: TypeDefinitionNode): TypeDefinitionNode {
    const name = node.name.value
    const directives = this.#applied(node.directives)
    switch (node.kind) {
      case Kind.OBJECT_TYPE_DEFINITION:
      case Kind.INTERFACE_TYPE_DEFINITION: {
        const interfaces = this.#unique(node.interfaces, `${name} implements `).filter(
          (one) => one.name.value !== name && this.#kindOf(one.name.value, `an interface of ${name}`, INTERFACES)
        )
        return { ...node, directives, interfaces, fields: this.#fields(node.fields, name) }
      }
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
        return { ...node, directives, fields: this.#inputs(node.fields, name) }
      case Kind.UNION_TYPE_DEFINITION: {
        const types = this.#unique(node.types, `${name} = `).filter((one) =>
          this.#kindOf(one.name.value, `a member of ${name}`, OBJECTS)
        )
        return { ...node, directives, types }
      }
      case Kind.ENUM_TYPE_DEFINITION: {
        const values = this.#unique(node.values, `${name}.`)
        return {
          ...node,
          directives,
          values: values.map((value) => ({ ...value, directives: this.#applied(value.directives) }))
        }
      }
      default:
        return { ...node, directives }
    }
  }

  #fields(fields: readonly FieldDefinitionNode[] | undefined, type: string): FieldDefinitionNode[] {
    return this.#unique(fields, `${type}.`)
      .filter((field) => this.#kindOf(namedIn(field.type), `the type of ${type}.${field.name.value}`, OUTPUTS))
      .map((field) => ({
        ...field,
        directives: this.#applied(field.directives),
        arguments: this.#inputs(field.arguments, `${type}.${field.name.value}`)
      }))
  }

  #inputs(values: readonly InputValueDefinitionNode[] | undefined, owner: string): InputValueDefinitionNode[] {
    return this.#unique(values, `${owner}.`)
      .filter((value) => this.#kindOf(namedIn(value.type), `the type of ${owner}.${value.name.value}`, INPUTS))
      .map((value) => ({ ...value, directives: this.#applied(value.directives) }))
  }

  /** The directives that the built schema shows. Those with a wrong argument would make the whole schema unreadable. */
  #applied(directives: readonly ConstDirectiveNode[] = []): ConstDirectiveNode[] {
    const seen = new Set<string>()
    return directives.filter(({ name, arguments: given = [] }) => {
      const argument = SHOWN_DIRECTIVES.get(name.value)
      if (argument === undefined) this.#directives.add(name.value)
      if (argument === undefined || seen.has(name.value)) return false
      seen.add(name.value)
      const value = given.find((one) => one.name.value === argument)?.value
      return value === undefined ? name.value !== 'specifiedBy' : value.kind === Kind.STRING
    })
  }

  /** @param owner written before the name in a note */
  #unique<T extends { readonly name: NameNode }>(nodes: readonly T[] | undefined, owner: string): T[] {
    const seen = new Set<string>()
    return (nodes ?? []).filter(({ name }) => {
      if (seen.has(name.value)) this.#note(`${owner}${name.value} is there twice; the first one counts.`)
      else return seen.add(name.value)
      return false
    })
  }

  /** Whether a type that is used as `use` can be. A missing type is collected; a wrong one gets a note. */
  #kindOf(name: string, use: string, kinds: ReadonlySet<Kind | undefined>): boolean {
    const kind = this.#kinds.get(name)
    if (kind === undefined) this.#missing.add(name)
    if (kind === undefined || kinds.has(kind)) return true
    this.#note(`${name} cannot be ${use}, so this part of the schema is left out.`)
    return false
  }

  #note(note: string): void {
    this.#notes.push(note)
  }
}

const OBJECTS: ReadonlySet<Kind | undefined> = new Set([Kind.OBJECT_TYPE_DEFINITION])
const INTERFACES: ReadonlySet<Kind | undefined> = new Set([Kind.INTERFACE_TYPE_DEFINITION])
/** Directives with a meaning of their own in a schema (specification, section 3.13), and their argument. */
const SHOWN_DIRECTIVES: ReadonlyMap<string, string> = new Map([
  ['deprecated', 'reason'],
  ['specifiedBy', 'url'],
  ['oneOf', '']
])

function incomplete(names: readonly string[]): SoukError {
  const shown = names.slice(0, UNKNOWN_NAMES_SHOWN).join(', ')
  const more = names.length > UNKNOWN_NAMES_SHOWN ? ` and ${names.length - UNKNOWN_NAMES_SHOWN} more` : ''
  return new SoukError(
    'invalid_request',
    `The schema uses types that it does not define: ${shown}${more}. Supply the complete schema; if it has several files, join them.`
  )
}
