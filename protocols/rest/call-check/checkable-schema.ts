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

  #checkable(value: unknown): Checkable {
    if (value === false) return { schema: { not: {} }, isLoose: false }
    if (!isObject(value)) return { schema: {}, isLoose: false }
    const given = discriminated(value)
    const schema: Record<string, unknown> = {}
    let isLoose = false
    for (const [keyword, one] of Object.entries(given)) if (this.#add(schema, keyword, one)) isLoose = true
    if (isLoose) loosen(schema, given)
    schema[STEP] = stepsOf(schema)
    return { schema, isLoose }
  }

  /** Adds what can be checked of a keyword. Returns true if that accepts more values than the keyword does. */
  #add(schema: Record<string, unknown>, keyword: string, value: unknown): boolean {
    if (keyword === '$ref') {
      schema[keyword] = value
      return this.#loose.has(String(value).slice(REF.length))
    }
    if (keyword === 'pattern' && typeof value === 'string') {
      const isLoose = !this.#isLinear(value)
      if (!isLoose) schema[keyword] = value
      return isLoose
    }
    if (isChecked(keyword, value) || (ONE.includes(keyword) && typeof value === 'boolean')) {
      schema[keyword] = value
      return false
    }
    if (ONE.includes(keyword)) {
      const one = this.#checkable(value)
      if (!one.isLoose || !REVERSING.has(keyword)) schema[keyword] = one.schema
      return one.isLoose
    }
    if (MANY.includes(keyword) && Array.isArray(value) && value.length > 0) {
      const all = value.map((each) => this.#checkable(each))
      const isLoose = all.some((each) => each.isLoose)
      const schemas = all.map((each) => each.schema)
      if (keyword === 'allOf') addAll(schema, schemas)
      // Weakened alternatives may match together, so `oneOf` becomes `anyOf`.
      else if (keyword === 'oneOf' && isLoose) addAll(schema, [{ anyOf: schemas }])
      else schema[keyword] = schemas
      return isLoose
    }
    if (!NAMED.includes(keyword) || !isObject(value)) return false
    const members = Object.entries(value)
    const kept = members.filter(([name]) => keyword !== 'patternProperties' || this.#isLinear(name))
    const all = kept.map(([name, each]) => [name, this.#checkable(each)] as const)
    schema[keyword] = Object.fromEntries(all.map(([name, each]) => [name, each.schema]))
    return kept.length < members.length || all.some(([, each]) => each.isLoose)
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

interface Checkable {
  readonly schema: JsonSchema
  /** It accepts more values than the given schema. */
  readonly isLoose: boolean
}

function addAll(schema: Record<string, unknown>, more: readonly JsonSchema[]): void {
  schema['allOf'] = [...((schema['allOf'] as readonly JsonSchema[] | undefined) ?? []), ...more]
}

/** Removes keywords that would reject values because of a removed check. */
function loosen(schema: Record<string, unknown>, given: JsonSchema): void {
  for (const keyword of UNEVALUATED) delete schema[keyword]
  // Properties that matched a removed pattern would now count as additional.
  if (countIn(schema['patternProperties']) < countIn(given['patternProperties'])) delete schema['additionalProperties']
  if ('if' in given && !('if' in schema)) {
    delete schema['then']
    delete schema['else']
  }
}

const countIn = (members: unknown): number => (isObject(members) ? Object.keys(members).length : 0)

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
