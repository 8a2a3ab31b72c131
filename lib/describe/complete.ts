import { DESCRIBED_PARTS_MAX, DESCRIBED_SCHEMA_BYTES_MAX } from '../base/limits/descriptions.ts'
import type { ApiDescription, JsonSchema, Operation } from '../interface/adapter.ts'
import { closureOf, directReferences, type SharedSchema, selfContained } from './references.ts'

/**
 * Operations of an adapter's description with complete schemas, as readers of the published description get them.
 * @param bytesMax - of all operations together. Those above it have no schemas
 */
export function completeOperations(
  { operations, definitions }: ApiDescription,
  bytesMax: number
): readonly Operation[] {
  if (definitions === undefined) return operations
  const references = new Map<string, readonly string[]>()
  const sizes = new Map<string, number>()
  for (const [name, schema] of Object.entries(definitions)) {
    references.set(name, directReferences(schema))
    sizes.set(name, JSON.stringify(schema).length)
  }
  let left = bytesMax
  const complete = (schema: JsonSchema): JsonSchema => {
    const shared = new Map<string, SharedSchema>()
    let bytes = JSON.stringify(schema).length
    for (const name of closureOf(directReferences(schema), references, DESCRIBED_PARTS_MAX)) {
      const size = sizes.get(name) ?? 0
      if (bytes + size > DESCRIBED_SCHEMA_BYTES_MAX) continue
      bytes += size
      shared.set(name, { schema: definitions[name] ?? {}, references: references.get(name) ?? [] })
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
