import { type DefinitionNode, Kind, type TypeDefinitionNode, isTypeDefinitionNode, isTypeExtensionNode } from 'graphql'

/** Definitions by the kind of their extensions. */
const DEFINITION_OF = {
  [Kind.SCALAR_TYPE_EXTENSION]: Kind.SCALAR_TYPE_DEFINITION,
  [Kind.OBJECT_TYPE_EXTENSION]: Kind.OBJECT_TYPE_DEFINITION,
  [Kind.INTERFACE_TYPE_EXTENSION]: Kind.INTERFACE_TYPE_DEFINITION,
  [Kind.UNION_TYPE_EXTENSION]: Kind.UNION_TYPE_DEFINITION,
  [Kind.ENUM_TYPE_EXTENSION]: Kind.ENUM_TYPE_DEFINITION,
  [Kind.INPUT_OBJECT_TYPE_EXTENSION]: Kind.INPUT_OBJECT_TYPE_DEFINITION
} as const

/** The lists of a definition's parts. */
const PARTS = ['directives', 'interfaces', 'fields', 'types', 'values'] as const
type Parts = { readonly [part in (typeof PARTS)[number]]?: readonly unknown[] | undefined }

/**
 * One definition for each type: with all its extensions, and with all definitions of the same name, as tools that join files
 * leave them. An extension without a base, as in a subgraph of a federation, becomes the definition.
 *
 * @param onNote gets a sentence for each definition that is left out or merged
 */
export function merged(nodes: readonly DefinitionNode[], onNote: (note: string) => void): TypeDefinitionNode[] {
  const types = new Map<string, TypeDefinitionNode[]>()
  const add = (node: TypeDefinitionNode) => {
    const same = types.get(node.name.value)
    if (same === undefined) types.set(node.name.value, [node])
    else same.push(node)
  }
  // Definitions first, because an extension may stand before its base.
  for (const node of nodes) if (isTypeDefinitionNode(node)) add(node)
  for (const [name, { length }] of types) if (length > 1) onNote(`The type ${name} is defined twice; both are merged.`)
  for (const node of nodes) {
    if (isTypeExtensionNode(node)) add({ ...node, kind: DEFINITION_OF[node.kind] } as TypeDefinitionNode)
  }
  return [...types.values()].map(([first, ...more]) => joined(first as TypeDefinitionNode, more, onNote))
}

function joined(
  first: TypeDefinitionNode,
  more: readonly TypeDefinitionNode[],
  onNote: (note: string) => void
): TypeDefinitionNode {
  if (more.length === 0) return first
  const alike = more.filter(({ kind }) => kind === first.kind)
  if (alike.length < more.length) onNote(`${first.name.value} is defined as two kinds of type; the first one counts.`)
  const all: readonly Parts[] = [first, ...alike]
  const parts = PARTS.filter((part) => all.some((one) => one[part] !== undefined)).map(
    (part) => [part, all.flatMap((one) => one[part] ?? [])] as const
  )
  return { ...first, ...Object.fromEntries(parts) }
}
