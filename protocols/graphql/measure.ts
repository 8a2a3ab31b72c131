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
  isCompositeType,
  valueFromASTUntyped
} from 'graphql'
import { isObject } from '../exact-json.ts'
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
const SLICING: readonly string[] = [
  'first',
  'last',
  'limit',
  'take',
  'pageSize',
  'page_size',
  'perPage',
  'per_page',
  'itemsPerPage',
  'items_per_page'
]
/** Objects with such members, as in Strapi, nestjs-query and Neo4j. In another object, such as a filter, `limit` may mean something else. */
const PAGING: readonly string[] = ['pagination', 'paging', 'paginate', 'page', 'options']
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
  for (const name of [...SLICING, ...PAGING]) {
    const value = given.find((one) => one.name.value === name)?.value
    const asked = value === undefined ? undefined : valueFromASTUntyped(value, variables)
    // The API applies the default of its schema to an argument without a value.
    const preset = definition?.args.find((one) => one.name === name)?.default?.literal
    const size = asked === undefined && preset !== undefined ? valueFromASTUntyped(preset) : asked
    // A `page` may also be a number, which is the place of the page.
    const sizes = isObject(size) ? SLICING.map((member) => size[member]) : PAGING.includes(name) ? [] : [size]
    entries = Math.max(entries, ...sizes.map((one) => Number(one) || 1))
  }
  return entries
}
