import { type DocumentNode, Kind, parse, type TypeDefinitionNode, type TypeExtensionNode } from 'graphql'

const KEYS: readonly string[] = ['key', 'federation__key']

/**
 * The schema of a subgraph of a federation with the field that its server adds to it (Apollo Federation's subgraph specification). A
 * gateway calls it, and the file of a subgraph may have no query type otherwise. Any other schema is unchanged.
 *
 * The other field, `_service`, shows the whole schema, so only introspection adds it.
 */
export function withEntities(document: DocumentNode): DocumentNode {
  const { definitions } = document
  const objects = definitions.filter(
    (node) => node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION
  )
  const entities = new Set(objects.filter(isEntity).map(({ name }) => name.value))
  const isWhole = definitions.some((node) => node.kind === Kind.UNION_TYPE_DEFINITION && node.name.value === '_Entity')
  if (entities.size === 0 || isWhole) return document
  const added = parse(`
    extend type ${queryTypeOf(document)} { _entities(representations: [_Any!]!): [_Entity]! }
    union _Entity = ${[...entities].join(' | ')}
    scalar _Any
  `)
  return { ...document, definitions: [...definitions, ...added.definitions] }
}

/** A key that the subgraph cannot resolve makes no entity. */
function isEntity({ directives = [] }: TypeDefinitionNode | TypeExtensionNode): boolean {
  return directives.some(
    ({ name, arguments: given = [] }) =>
      KEYS.includes(name.value) &&
      !given.some((one) => one.name.value === 'resolvable' && one.value.kind === Kind.BOOLEAN && !one.value.value)
  )
}

function queryTypeOf({ definitions }: DocumentNode): string {
  const roots = definitions.flatMap((node) =>
    node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION ? (node.operationTypes ?? []) : []
  )
  return roots.find(({ operation }) => operation === 'query')?.type.name.value ?? 'Query'
}
