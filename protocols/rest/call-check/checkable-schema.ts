import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject } from '../../exact-json.ts'
import { type Definitions, MANY, NAMED, ONE, REF, subschemasOf } from '../openapi/openapi-schemas.ts'
import { ASSERTIONS } from '../openapi/schema-keywords.ts'
import { discriminated } from './discriminated.ts'
import { FORMATS } from './formats.ts'
import { LOOP, ONCE } from './loop-keywords.ts'
import { loopsIn } from './loops.ts'

/** The keyword that charges for one check of a value; see `check-runtime.ts`. */
export const STEP = 'x-souk-step'
/** One schema's check of one value takes up to a microsecond, including the error of a failed alternative. */
const STEPS_PER_LOOK = 100
const CHARS_PER_STEP = 8

/** Keywords where a weaker subschema accepts fewer values. They are removed if something below them is not checked. */
const REVERSING: ReadonlySet<string> = new Set(['not', 'contains', 'if'])
const UNEVALUATED = ['unevaluatedItems', 'unevaluatedProperties']

/**
 * Prepares schemas for checking calls. Each schema charges for its steps. Invalid keywords are removed, and so are patterns that
 * cannot be matched in linear time, with all keywords that would reject more values without them.
 */
export class CheckableSchemas {
  readonly #isLinear: (pattern: string) => boolean
  readonly #definitions: Definitions
  /** Definitions with a removed pattern at any depth. */
  readonly #loose: ReadonlySet<string>

  constructor(definitions: Definitions, isLinear: (pattern: string) => boolean) {
    this.#definitions = definitions
    this.#isLinear = isLinear
    this.#loose = this.#looseDefinitions()
  }

  definitions(): Definitions {
    const loops = loopsIn(this.#definitions)
    const checkable = Object.entries(this.#definitions).map(([name, one]) => {
      const schema = this.of(one)
      return [name, loops.has(name) ? { [LOOP]: name, [ONCE]: schema } : schema] as const
    })
    return Object.fromEntries(checkable)
  }

  of(schema: unknown): JsonSchema {
    return this.#checkable(schema).schema
  }

  #checkable(value: unknown): { schema: JsonSchema; isLoose: boolean } {
    if (value === false) return { schema: { not: {} }, isLoose: false }
    if (!isObject(value)) return { schema: {}, isLoose: false }
    const given = discriminated(value)
    const schema: Record<string, unknown> = {}
    let isLoose = false
    let takesMore = false
    const below = (value: unknown): JsonSchema => {
      const { schema: one, isLoose: isOneLoose } = this.#checkable(value)
      isLoose ||= isOneLoose
      return one
    }
    for (const [keyword, value] of Object.entries(given)) {
      const before: boolean = isLoose
      isLoose = false
      if (keyword === '$ref') {
        schema[keyword] = value
        isLoose = this.#loose.has(String(value).slice(REF.length))
      } else if (keyword === 'pattern' && typeof value === 'string') {
        isLoose = !this.#isLinear(value)
        if (!isLoose) schema[keyword] = value
      } else if (isChecked(keyword, value)) {
        schema[keyword] = value
      } else if (ONE.includes(keyword)) {
        const one = typeof value === 'boolean' ? value : below(value)
        if (!isLoose || !REVERSING.has(keyword)) schema[keyword] = one
      } else if (keyword === 'oneOf' && Array.isArray(value)) {
        const all = value.map(below)
        // Weakened alternatives may match together, so `oneOf` becomes `anyOf`.
        if (isLoose) schema['allOf'] = [...((schema['allOf'] as unknown[] | undefined) ?? []), { anyOf: all }]
        else schema[keyword] = all
      } else if (MANY.includes(keyword) && Array.isArray(value) && value.length > 0) {
        const earlier = keyword === 'allOf' ? ((schema['allOf'] as unknown[] | undefined) ?? []) : []
        schema[keyword] = [...earlier, ...value.map(below)]
      } else if (NAMED.includes(keyword) && isObject(value)) {
        const isPattern = keyword === 'patternProperties'
        const kept = Object.entries(value).filter(([name]) => !isPattern || this.#isLinear(name))
        schema[keyword] = Object.fromEntries(kept.map(([name, one]) => [name, below(one)]))
        if (kept.length < Object.keys(value).length) {
          isLoose = true
          takesMore = true
        }
      }
      isLoose ||= before
    }
    if (isLoose) loosen(schema, given)
    // Properties that matched a removed pattern would now count as additional.
    if (takesMore) delete schema['additionalProperties']
    schema[STEP] = stepsOf(schema)
    return { schema, isLoose }
  }

  #looseDefinitions(): ReadonlySet<string> {
    const usedBy = new Map<string, string[]>()
    const waiting: string[] = []
    for (const [name, definition] of Object.entries(this.#definitions)) {
      const { patterns, references } = mentionsOf(definition)
      if (patterns.some((pattern) => !this.#isLinear(pattern))) waiting.push(name)
      for (const one of references) usedBy.set(one, [...(usedBy.get(one) ?? []), name])
    }
    const loose = new Set<string>()
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (loose.has(name)) continue
      loose.add(name)
      waiting.push(...(usedBy.get(name) ?? []))
    }
    return loose
  }
}

function isChecked(keyword: string, value: unknown): boolean {
  if (keyword === 'pattern') return false
  if (keyword === 'format' && !Object.hasOwn(FORMATS, String(value))) return false
  return Object.hasOwn(ASSERTIONS, keyword) && ASSERTIONS[keyword]?.(value) === true
}

/** Removes keywords that would reject values because of a removed check. */
function loosen(schema: Record<string, unknown>, given: JsonSchema): void {
  for (const keyword of UNEVALUATED) delete schema[keyword]
  if ('if' in given && !('if' in schema)) {
    delete schema['then']
    delete schema['else']
  }
}

/** The patterns and references within a schema, at any depth. Iterative, because the schema is unchecked. */
export function mentionsOf(schema: unknown): {
  readonly patterns: readonly string[]
  readonly references: readonly string[]
} {
  const patterns: string[] = []
  const references: string[] = []
  const waiting: unknown[] = [schema]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (!isObject(at)) continue
    for (const [keyword, value] of Object.entries(at)) {
      if (keyword === '$ref' && typeof value === 'string') references.push(value.slice(REF.length))
      else if (keyword === 'pattern' && typeof value === 'string') patterns.push(value)
      else if (keyword === 'patternProperties' && isObject(value)) append(patterns, Object.keys(value))
    }
    append(waiting, subschemasOf(at))
  }
  return { patterns, references }
}

/** `push` with spread arguments overflows the stack at 100,000 of them. */
function append<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one)
}

/** The constant cost of one check by this schema: its own lists, and the names of its subschemas. */
function stepsOf(schema: JsonSchema): number {
  const own = Object.entries(schema).map(([keyword, value]) => {
    if (Object.hasOwn(ASSERTIONS, keyword)) return JSON.stringify(value).length
    return NAMED.includes(keyword) ? Object.keys(value as object).join().length : 0
  })
  return STEPS_PER_LOOK + Math.ceil(own.reduce((sum, chars) => sum + chars, 0) / CHARS_PER_STEP)
}
