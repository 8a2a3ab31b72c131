import type { JsonSchema } from '../interface/adapter.ts'

const DEFINITION = '#/$defs/'

/** Names of the shared schemas that a value refers to. A member named `$ref` counts only with a text. */
export function directReferences(schema: unknown): string[] {
  const names = new Set<string>()
  const waiting: unknown[] = [schema]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (typeof at !== 'object' || at === null) continue
    const { $ref } = at as { readonly $ref?: unknown }
    if (typeof $ref === 'string' && $ref.startsWith(DEFINITION)) names.add($ref.slice(DEFINITION.length))
    for (const value of Object.values(at)) if (typeof value === 'object') waiting.push(value)
  }
  return [...names]
}

/** All names reachable from `names`, nearest first, each once. */
export function closureOf(
  names: readonly string[],
  references: ReadonlyMap<string, readonly string[]>,
  namesMax: number
): string[] {
  const found = new Set<string>()
  for (let near: readonly string[] = names; near.length > 0; ) {
    const next: string[] = []
    for (const name of near) {
      if (found.has(name) || !references.has(name)) continue
      if (found.size === namesMax) return [...found]
      found.add(name)
      for (const one of references.get(name) ?? []) next.push(one)
    }
    near = next
  }
  return [...found]
}

/** A shared schema with the names that it refers to. */
export interface SharedSchema {
  readonly schema: JsonSchema
  readonly references: readonly string[]
}

/**
 * A schema with the shared schemas that it needs in `$defs`. References without a target get a schema that accepts
 * anything, because a validator would reject the whole schema otherwise.
 */
export function selfContained(schema: JsonSchema, shared: ReadonlyMap<string, SharedSchema>): JsonSchema {
  const { $defs: own, ...rest } = schema
  const definitions = new Map<string, unknown>([...shared].map(([name, part]) => [name, part.schema]))
  const needed = new Set([...directReferences(schema), ...[...shared.values()].flatMap(({ references }) => references)])
  if (typeof own === 'object' && own !== null) {
    for (const [name, definition] of Object.entries(own)) definitions.set(name, definition)
  }
  for (const name of needed) if (!definitions.has(name)) definitions.set(name, OMITTED)
  return definitions.size === 0 ? schema : { ...rest, $defs: Object.fromEntries(definitions) }
}

const OMITTED: JsonSchema = { description: 'Not shown here: the whole schema is too large.' }
