import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  getNamedType,
  isCompositeType
} from 'graphql'
import type { ReadDocument } from './document.ts'
import type { JsonObject } from './graphql-request.ts'

/** The depth of an operation, and its cost in units. */
export interface Measured {
  readonly depth: number
  readonly cost: number
}

export interface MeasureInit {
  readonly document: ReadDocument
  readonly operation: OperationDefinitionNode
  /** After coercion, including defaults. */
  readonly variables: JsonObject
  /** If undefined, no field has a cost. */
  readonly schema: GraphQLSchema | undefined
  /** By `Type.field`. */
  readonly costs: Readonly<Record<string, number>>
}

/** Arguments for the requested number of list entries. The cost is multiplied by it. */
const SLICING: ReadonlySet<string> = new Set(['first', 'last', 'limit'])
/** Products of list sizes may exceed exact numbers. A cost this high is never allowed anyway. */
const COST_MAX = 1e12

/** Measures the most that the document could select; directives that omit fields are ignored. */
export function measure({ document, operation, variables, schema, costs }: MeasureInit): Measured {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const node of document.node.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node)
  }
  const known = new Map<string, Measured>()

  function fragment(name: string): Measured {
    const before = known.get(name)
    if (before !== undefined) return before
    const node = fragments.get(name)
    // A cycle ends here; validation rejects the document for it.
    known.set(name, NOTHING)
    const measured = node === undefined ? NOTHING : within(node.selectionSet, typeNamed(node.typeCondition.name.value))
    known.set(name, measured)
    return measured
  }

  function within(set: SelectionSetNode, type: GraphQLCompositeType | undefined): Measured {
    let depth = 0
    let cost = 0
    for (const selection of set.selections) {
      const one =
        selection.kind === Kind.FIELD
          ? field(selection, type)
          : selection.kind === Kind.FRAGMENT_SPREAD
            ? fragment(selection.name.value)
            : within(
                selection.selectionSet,
                selection.typeCondition === undefined ? type : typeNamed(selection.typeCondition.name.value)
              )
      depth = Math.max(depth, one.depth)
      cost = Math.min(COST_MAX, cost + one.cost)
    }
    return { depth, cost }
  }

  function field(node: FieldNode, parent: GraphQLCompositeType | undefined): Measured {
    const definition = parent === undefined ? undefined : schema?.getField(parent, node.name.value)
    const type = definition === undefined ? undefined : getNamedType(definition.type)
    const composite = type !== undefined && isCompositeType(type) ? type : undefined
    const own = parent === undefined ? undefined : costs[`${parent.name}.${node.name.value}`]
    const inner = node.selectionSet === undefined ? NOTHING : within(node.selectionSet, composite)
    const weight = own ?? (composite === undefined ? 0 : 1)
    return {
      depth: 1 + inner.depth,
      cost: Math.min(COST_MAX, (weight + inner.cost) * entriesOf(node, definition, variables))
    }
  }

  function typeNamed(name: string): GraphQLCompositeType | undefined {
    const type = schema?.getType(name)
    return type !== undefined && isCompositeType(type) ? type : undefined
  }

  const root = schema?.getRootType(operation.operation) ?? undefined
  return within(operation.selectionSet, root)
}

const NOTHING: Measured = { depth: 0, cost: 0 }

function entriesOf(
  { arguments: given = [] }: FieldNode,
  definition: GraphQLField | undefined,
  variables: JsonObject
): number {
  let entries = 1
  for (const name of SLICING) {
    const value = given.find((one) => one.name.value === name)?.value
    const asked = value?.kind === Kind.VARIABLE ? variables[value.name.value] : value
    // The API applies the default of its schema to an argument without a value.
    const size = asked === undefined ? definition?.args.find((one) => one.name === name)?.default?.literal : asked
    entries = Math.max(entries, sizeIn(size))
  }
  return entries
}

/** @param value a number, or the literal of one */
function sizeIn(value: unknown): number {
  const size = typeof value === 'object' && value !== null && 'value' in value ? value.value : value
  return Number(size) || 1
}
