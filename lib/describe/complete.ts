import { DESCRIBED_PARTS_MAX, DESCRIBED_SCHEMA_BYTES_MAX } from '../base/limits/descriptions.ts'
import type { ApiDescription, JsonSchema, Operation } from '../interface/adapter.ts'
import { directReferences, ReferenceGraph, type SharedSchema, selfContained } from './references.ts'

/**
 * Operations of an adapter's description with complete schemas, as readers of the published description get them.
 * @param bytesMax - of all operations together. Those above it have no schemas
 */
export function completeOperations(
  { operations, definitions }: ApiDescription,
  bytesMax: number
): readonly Operation[] {
  if (definitions === undefined) return operations
  const shares = Object.entries(definitions).map(([name, schema]) => ({
    name,
    schema,
    references: directReferences(schema),
    size: JSON.stringify(schema).length
  }))
  const graph = new ReferenceGraph(new Map(shares.map(({ name, references }) => [name, references])))
  let left = bytesMax
  const complete = (schema: JsonSchema): JsonSchema => {
    const shared = new Map<string, SharedSchema>()
    let bytes = JSON.stringify(schema).length
    for (const number of graph.neededBy(schema, DESCRIBED_PARTS_MAX)) {
      const share = shares[number]
      if (share === undefined || bytes + share.size > DESCRIBED_SCHEMA_BYTES_MAX) continue
      bytes += share.size
      shared.set(share.name, share)
    }
    left -= bytes
    return selfContained(schema, shared)
  }
  return operations.map(({ input, output, ...rest }) =>
    left <= 0
      ? rest
      : { ...rest, ...(input && { input: complete(input) }), ...(output && { output: complete(output) }) }
  )
}
