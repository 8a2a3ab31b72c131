import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject } from '../../exact-json.ts'
import { type Definitions, REF } from '../openapi/openapi-schemas.ts'

/** Keywords whose schemas apply to the same value. */
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']

/**
 * The definitions that may refer to themselves for the same value, and some between them. Documents have such loops: a schema lists
 * its variants in `oneOf`, and each variant includes the schema by `allOf`. Such a reference adds no condition of its own.
 */
export function loopsIn(definitions: Definitions): ReadonlySet<string> {
  const uses = new Map(Object.entries(definitions).map(([name, schema]) => [name, usesOf(schema)]))
  return new Set(trimmed(reversed(trimmed(uses))).keys())
}

type Uses = ReadonlyMap<string, readonly string[]>

/** Only definitions whose uses do not end. */
function trimmed(uses: Uses): Uses {
  const usedBy = reversed(uses)
  const left = new Map([...uses].map(([name, used]) => [name, used.filter((one) => uses.has(one)).length]))
  const ending = [...left].flatMap(([name, count]) => (count === 0 ? [name] : []))
  for (let name = ending.pop(); name !== undefined; name = ending.pop()) {
    left.delete(name)
    for (const user of usedBy.get(name) ?? []) {
      const count = left.get(user)
      if (count === undefined) continue
      left.set(user, count - 1)
      if (count === 1) ending.push(user)
    }
  }
  return new Map([...left.keys()].map((name) => [name, (uses.get(name) ?? []).filter((one) => left.has(one))]))
}

function reversed(uses: Uses): Uses {
  const usedBy = new Map<string, string[]>([...uses.keys()].map((name) => [name, []]))
  for (const [name, used] of uses) for (const one of used) usedBy.get(one)?.push(name)
  return usedBy
}

/** The definitions that a schema applies to its own value. Iterative, because the schema is unchecked. */
function usesOf(schema: JsonSchema): readonly string[] {
  const used = new Set<string>()
  const waiting: unknown[] = [schema]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (!isObject(at)) continue
    const reference = at['$ref']
    if (typeof reference === 'string') used.add(reference.slice(REF.length))
    for (const keyword of SAME_VALUE) {
      const value = at[keyword]
      const isNamed = keyword === 'dependentSchemas' && isObject(value)
      for (const one of isNamed ? Object.values(value) : Array.isArray(value) ? (value as unknown[]) : [value])
        waiting.push(one ?? null)
    }
  }
  return [...used]
}
