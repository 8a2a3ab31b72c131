import {
  type DefinitionNode,
  type DocumentNode,
  type InputValueDefinitionNode,
  Kind,
  type TypeDefinitionNode,
  type TypeNode,
  isTypeDefinitionNode
} from 'graphql'
import { SoukError } from '../../lib/base/errors.ts'

/** Each level of types that become empty requires another pass over the whole schema. */
const HIDING_PASSES_MAX = 64

/**
 * The schema without the parts that its provider hides: types, fields, and fields and arguments of hidden types. Types that
 * become empty are hidden as well.
 *
 * @param hidden `Type` and `Type.field`
 * @throws SoukError `invalid_request` for a name that the schema does not have
 */
export function withoutHidden(document: DocumentNode, hidden: readonly string[]): DocumentNode {
  if (hidden.length === 0) return document
  const gone = new Set(hidden)
  checkNames(document, hidden)
  for (let passes = 0; passes < HIDING_PASSES_MAX; passes++) {
    const definitions = document.definitions.flatMap((definition) => shown(definition, gone))
    const empty = definitions.filter((definition) => isTypeDefinitionNode(definition) && isEmpty(definition))
    if (empty.length === 0) return { ...document, definitions }
    for (const definition of empty) gone.add((definition as TypeDefinitionNode).name.value)
  }
  throw new SoukError(
    'invalid_request',
    `The hidden parts leave more than ${HIDING_PASSES_MAX} levels of types empty. Hide those types as well.`
  )
}

function checkNames(document: DocumentNode, hidden: readonly string[]): void {
  const known = new Set<string>()
  for (const definition of document.definitions) {
    if (!isTypeDefinitionNode(definition)) continue
    known.add(definition.name.value)
    if ('fields' in definition) {
      for (const { name } of definition.fields ?? []) known.add(`${definition.name.value}.${name.value}`)
    }
  }
  const unknown = hidden.find((name) => !known.has(name))
  if (unknown === undefined) return
  throw new SoukError('invalid_request', `The schema has no "${unknown.slice(0, 200)}", so it cannot be hidden.`)
}

function shown(definition: DefinitionNode, gone: ReadonlySet<string>): DefinitionNode[] {
  if (definition.kind === Kind.DIRECTIVE_DEFINITION) {
    return [{ ...definition, arguments: inputs(definition.arguments, gone) }]
  }
  if (definition.kind === Kind.SCHEMA_DEFINITION) {
    return [{ ...definition, operationTypes: definition.operationTypes.filter(({ type }) => !isGone(type, gone)) }]
  }
  if (!isTypeDefinitionNode(definition)) return [definition]
  const type = definition.name.value
  if (gone.has(type)) return []
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const fields = (definition.fields ?? [])
        .filter((field) => !gone.has(`${type}.${field.name.value}`) && !isGone(field.type, gone))
        .map((field) => ({ ...field, arguments: inputs(field.arguments, gone) }))
      return [{ ...definition, fields, interfaces: (definition.interfaces ?? []).filter((one) => !isGone(one, gone)) }]
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION: {
      const fields = (definition.fields ?? []).filter((field) => !gone.has(`${type}.${field.name.value}`))
      return [{ ...definition, fields: inputs(fields, gone) }]
    }
    case Kind.UNION_TYPE_DEFINITION:
      return [{ ...definition, types: (definition.types ?? []).filter((one) => !isGone(one, gone)) }]
    default:
      return [definition]
  }
}

function inputs(
  values: readonly InputValueDefinitionNode[] | undefined,
  gone: ReadonlySet<string>
): InputValueDefinitionNode[] {
  return (values ?? []).filter(({ type }) => !isGone(type, gone))
}

function isGone(type: TypeNode, gone: ReadonlySet<string>): boolean {
  return type.kind === Kind.NAMED_TYPE ? gone.has(type.name.value) : isGone(type.type, gone)
}

function isEmpty(definition: TypeDefinitionNode): boolean {
  if ('fields' in definition) return definition.fields?.length === 0
  return 'types' in definition && definition.types?.length === 0
}
