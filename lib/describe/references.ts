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

/** The references between shared schemas. Schemas are numbers here, because each operation may need hundreds of them. */
export class ReferenceGraph {
  readonly #numbers: ReadonlyMap<string, number>
  readonly #direct: ReadonlyArray<readonly number[]>
  /** The search that found each schema last. */
  readonly #foundIn: Uint32Array
  #search = 0

  /** @param references - the names that each schema refers to, by its name */
  constructor(references: ReadonlyMap<string, readonly string[]>) {
    this.#numbers = new Map([...references.keys()].map((name, number) => [name, number]))
    this.#direct = [...references.values()].map((names) => this.#known(names))
    this.#foundIn = new Uint32Array(references.size)
  }

  /** The numbers of all schemas that a schema needs, nearest first: their positions in the map. At most `max`. */
  neededBy(schema: JsonSchema, max: number): readonly number[] {
    const found: number[] = []
    const search = ++this.#search
    const find = (numbers: readonly number[]) => {
      for (const number of numbers) {
        if (this.#foundIn[number] === search || found.length === max) continue
        this.#foundIn[number] = search
        found.push(number)
      }
    }
    find(this.#known(directReferences(schema)))
    // The list grows meanwhile.
    for (const number of found) find(this.#direct[number] ?? [])
    return found
  }

  #known(names: readonly string[]): number[] {
    return names.flatMap((name) => this.#numbers.get(name) ?? [])
  }
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
