import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { isObject } from '../../exact-json.ts'
import { ecmaPattern } from '../../pattern/ecma-pattern.ts'
import type { LinearPattern } from '../../pattern/linear-pattern.ts'
import { Meter } from '../../pattern/meter.ts'
import { FORMATS } from './formats.ts'
import { problemIn, type SchemaProblem } from './schema-problem.ts'

/** The module name under which generated code imports this runtime. */
const RUNTIME = 'souk'
/** Other modules that generated code may import. */
const OF_AJV: ReadonlySet<string> = new Set(['ajv/dist/runtime/equal', 'ajv/dist/runtime/ucs2length'])
const ofNode = createRequire(import.meta.url)

/** Steps per member name of an object, because generated code compares it with a few others. */
const STEPS_PER_NAME = 4
/** Steps for writing one value for comparison. */
const STEPS_PER_VALUE = 50
/** Decimal digits that a double keeps of any number. */
const EXACT_DIGITS = 15

/** The values of a call, by place. */
export interface CallValues {
  readonly parameters: unknown
  readonly body?: unknown
}

export type Check = (values: CallValues, steps: number) => SchemaProblem | undefined

/**
 * Loads code that `checkCode` generated.
 *
 * @returns a function that returns the problem of a value, and throws `OutOfSteps` if it needs more than `steps`
 */
export function loadCheck(code: string, onFault: () => void = () => {}): Check {
  let meter = new Meter(0)
  /** The values that a definition of `loopsIn` is checking, by its name. */
  const checking = new Map<string, Set<unknown>>()
  const runtime = {
    formats: FORMATS,
    loops: {
      /** False if the definition is checking this value already. */
      enter(name: string, value: unknown): boolean {
        const values = checking.get(name) ?? new Set()
        if (values.has(value)) return false
        checking.set(name, values.add(value))
        return true
      },
      leave(name: string, value: unknown): void {
        checking.get(name)?.delete(value)
      }
    },
    /** Called for each schema that checks a value. @param cost the cost that does not depend on the value */
    step(value: unknown, cost: number) {
      meter.spend(cost + sizeOf(value))
    },
    isMultiple(value: number, factor: number) {
      if (Number.isInteger(value / factor)) return true
      meter.spend(STEPS_PER_VALUE)
      return isMultiple(value, factor)
    },
    isUnique(items: readonly unknown[]) {
      return new Set(items.map((item) => canonical(item, meter))).size === items.length
    },
    regExp(pattern: string) {
      let compiled: LinearPattern | undefined
      // Compiled at first use, because compiling takes longer than loading the code.
      return { test: (text: string) => (compiled ??= ecmaPattern(pattern)).test(text, meter) }
    }
  }
  const require = (name: string): unknown => {
    if (name === RUNTIME) return runtime
    if (OF_AJV.has(name)) return ofNode(name)
    throw new Error(`a check imports ${name}`)
  }
  const module = { exports: undefined as unknown as ValidateFunction }
  const run = compileFunction(code, ['require', 'module']) as (require: unknown, module: unknown) => void
  run(require, module)
  const validate = module.exports
  return (value, steps) => {
    meter = new Meter(steps)
    // A check that ran out of steps left its values here.
    checking.clear()
    return accepts(validate, value, onFault) ? undefined : problemIn(validate.errors ?? [])
  }
}

/**
 * Some code that Ajv generates throws, such as for `unevaluatedProperties` within `if`. The value is then not checked here, only
 * by the API.
 */
function accepts(validate: ValidateFunction, value: unknown, onFault: () => void): boolean {
  try {
    return validate(value)
  } catch (error) {
    if (!(error instanceof ReferenceError || error instanceof TypeError)) throw error
    onFault()
    return true
  }
}

/** A fraction such as 0.01 is not a double, so the quotient of its multiples may not be whole: 19.99 / 0.01 is 1998.9999999999998. */
function isMultiple(value: number, factor: number): boolean {
  const nearest = Math.round(value / factor) * factor
  return nearest.toPrecision(EXACT_DIGITS) === value.toPrecision(EXACT_DIGITS)
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.length
  return isObject(value) ? STEPS_PER_NAME * Object.keys(value).length : 0
}

/** Returns the same text for values that are equal in JSON Schema, in any order of members. */
function canonical(value: unknown, meter: Meter): string {
  meter.spend(STEPS_PER_VALUE + sizeOf(value))
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one, meter)).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name], meter)}`)
  return `{${members.join()}}`
}
