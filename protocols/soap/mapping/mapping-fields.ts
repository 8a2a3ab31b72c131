import { PATTERNS_SIZE_MAX } from '../../../lib/base/limits/descriptions.ts'
import { SOAP_STEPS_MAX } from '../../../lib/base/limits/soap.ts'
import type { MappingProblem } from '../../../lib/interface/adapter.ts'
import { ecmaPattern } from '../../pattern/ecma-pattern.ts'
import { type LinearPattern, PatternRefused } from '../../pattern/linear-pattern.ts'
import { Meter, OutOfSteps } from '../../pattern/meter.ts'
import { type Level, messageLevel, type Place } from './level.ts'
import { type InputRule, type SoapMapping, pointer } from './mapping.ts'
import type { MessageModel } from '../message/message.ts'
import type { SimpleType, Type } from '../schema/model.ts'
import type { SoapOperation } from '../message/operation.ts'
import { Refusal, writeSimple } from '../schema/simple.ts'
import { clark } from '../xml/names.ts'

/** A field with a mapping rule, or with such a field inside. */
export interface Field {
  /** Name in the JSON derived from the WSDL. */
  readonly name: string
  /** The consumer's name. */
  readonly shown: string
  /** The rule of the field itself. Rules of responses are only `rename` and `hide`. */
  readonly rule: InputRule
  readonly pattern: LinearPattern | undefined
  readonly hidden: boolean
  /** True if the field is an array in JSON. */
  readonly many: boolean
  readonly fields: Fields
}

/** The fields of one object. */
export interface Fields {
  readonly byName: ReadonlyMap<string, Field>
  readonly byShown: ReadonlyMap<string, Field>
}

export interface MappedOperation {
  /** The mapping's setting, if any. */
  readonly mtom?: boolean
  readonly input: Fields
  readonly output: Fields
}

export const NO_FIELDS: Fields = { byName: new Map(), byShown: new Map() }

/** A mapping ready for calls. */
export interface OpenedMapping {
  /** The compiled mapping of an operation, if there is one. */
  get(name: string): MappedOperation | undefined
}

export interface CompiledMapping {
  readonly operations: ReadonlyMap<string, MappedOperation>
  readonly problems: readonly MappingProblem[]
  /** Problems with patterns that cannot be matched in linear time. Earlier versions accepted them. */
  readonly unmatched: readonly MappingProblem[]
}

/** The problems of a mapping, collected during the check. */
interface Findings {
  readonly problems: MappingProblem[]
  readonly unmatched: MappingProblem[]
}

/** Checks a mapping against its operations. Operations and rules with a problem are omitted from the result. */
export function compileMapping(operations: ReadonlyMap<string, SoapOperation>, mapping: SoapMapping): CompiledMapping {
  const findings: Findings = { problems: [], unmatched: [] }
  const compiled = new Map<string, MappedOperation>()
  const patterns = new RulePatterns()
  for (const [name, rules] of Object.entries(mapping.operations)) {
    const operation = operations.get(name)
    if (operation !== undefined) compiled.set(name, compileOperation(name, operation, rules, findings, patterns))
    else findings.problems.push({ at: pointer(['operations', name]), problem: `There is no operation ${name}.` })
  }
  return { operations: compiled, ...findings }
}

/**
 * As `compileMapping`, for a mapping without problems. Each operation is compiled when a call first needs it. Values are not
 * checked against patterns that cannot be matched.
 */
export function openMapping(operations: ReadonlyMap<string, SoapOperation>, mapping: SoapMapping): OpenedMapping {
  const compiled = new Map<string, MappedOperation>()
  const patterns = new RulePatterns()
  return {
    get(name) {
      const known = compiled.get(name)
      const operation = operations.get(name)
      const rules = Object.hasOwn(mapping.operations, name) ? mapping.operations[name] : undefined
      if (known !== undefined || operation === undefined || rules === undefined) return known
      const made = compileOperation(name, operation, rules, { problems: [], unmatched: [] }, patterns)
      compiled.set(name, made)
      return made
    }
  }
}

function compileOperation(
  name: string,
  operation: SoapOperation,
  { mtom, input = {}, output = {} }: SoapMapping['operations'][string],
  findings: Findings,
  patterns: RulePatterns
): MappedOperation {
  const compile = (
    side: 'input' | 'output',
    message: MessageModel | undefined,
    rules: Readonly<Record<string, InputRule>>
  ) =>
    message === undefined && Object.keys(rules).length === 0
      ? NO_FIELDS
      : new FieldCompiler(message, rules, ['operations', name, side], findings, patterns).compile()
  return {
    ...(mtom === undefined ? {} : { mtom }),
    input: compile('input', operation.input(), input),
    output: compile('output', operation.output?.(), output)
  }
}

/** The patterns of one mapping. A pattern must match the whole text. */
class RulePatterns {
  readonly #compiled = new Map<string, LinearPattern | string>()
  #size = 0

  /** Returns the pattern, or why it cannot be used, as a text that completes "The pattern …". */
  take(pattern: string): LinearPattern | string {
    const known = this.#compiled.get(pattern)
    if (known !== undefined) return known
    const made = compilePattern(pattern)
    if (typeof made === 'object') this.#size += made.size
    const isFitting = this.#size <= PATTERNS_SIZE_MAX
    const taken = isFitting ? made : 'is one too many: all patterns of the mapping together are too large'
    this.#compiled.set(pattern, taken)
    return taken
  }
}

interface Draft {
  readonly name: string
  readonly place: Place
  rule: InputRule
  readonly fields: Map<string, Draft>
}

class FieldCompiler {
  readonly #message: Level
  readonly #rules: Readonly<Record<string, InputRule>>
  readonly #at: readonly string[]
  readonly #isInput: boolean
  readonly #findings: Findings
  readonly #patterns: RulePatterns
  readonly #meter = new Meter(SOAP_STEPS_MAX)

  constructor(
    message: MessageModel | undefined,
    rules: Readonly<Record<string, InputRule>>,
    at: readonly [...string[], 'input' | 'output'],
    findings: Findings,
    patterns: RulePatterns
  ) {
    this.#rules = rules
    this.#at = at
    this.#isInput = at.at(-1) === 'input'
    this.#message = messageLevel(message, this.#isInput)
    this.#findings = findings
    this.#patterns = patterns
  }

  compile(): Fields {
    const root = new Map<string, Draft>()
    for (const [path, rule] of Object.entries(this.#rules)) {
      const draft = this.#draft(root, path)
      if (draft === undefined) continue
      this.#check(path, rule, draft.place)
      draft.rule = rule
    }
    return this.#finish(root, '', this.#message)
  }

  #problem(path: string, problem: string, kind: keyof Findings = 'problems'): void {
    this.#findings[kind].push({ at: pointer([...this.#at, path]), problem })
  }

  #draft(root: Map<string, Draft>, path: string): Draft | undefined {
    const steps = path.split('/')
    let level = this.#message
    let drafts = root
    let draft: Draft | undefined
    for (const [index, step] of steps.entries()) {
      const place = level.find(step)
      if (place === undefined) {
        this.#problem(path, level.missing(step, steps.slice(0, index + 1).join('/')))
        return undefined
      }
      draft = drafts.get(step) ?? { name: step, place, rule: {}, fields: new Map() }
      drafts.set(step, draft)
      drafts = draft.fields
      level = place.level
    }
    return draft
  }

  #check(path: string, rule: InputRule, { type, required, many }: Place): void {
    const simple = type === undefined ? undefined : textOf(type)
    const fixed = rule.value ?? rule.default
    const hidden = rule.hide === true || rule.value !== undefined
    if (this.#isInput && hidden && required && fixed === undefined) {
      this.#problem(path, 'The WSDL requires the field, so a hidden field needs a value or a default.')
    }
    if (path === '$headers' && rule.rename !== undefined)
      this.#problem(path, '$headers cannot be renamed; the blocks in it can.')
    if (rule.value !== undefined && rule.default !== undefined) this.#problem(path, 'Has both a value and a default.')
    const onText = rule.minLength ?? rule.maxLength ?? rule.pattern ?? rule.enum ?? rule.min ?? rule.max
    if (onText !== undefined && simple === undefined)
      this.#problem(path, 'Rules about a value need a field with a simple value.')
    if ((rule.minItems ?? rule.maxItems) !== undefined && !many)
      this.#problem(path, 'minItems and maxItems need an array.')
    for (const bound of [rule.min, rule.max]) {
      if (bound !== undefined && Number.isNaN(Number(bound))) this.#problem(path, 'min and max must be numbers.')
    }
    const pattern = rule.pattern === undefined ? undefined : this.#patterns.take(rule.pattern)
    if (typeof pattern === 'string') {
      const told = `The pattern ${JSON.stringify(rule.pattern?.slice(0, 200))} ${pattern}.`
      this.#problem(path, told, pattern === NO_EXPRESSION ? 'problems' : 'unmatched')
    }
    for (const value of [rule.value, rule.default, ...(rule.enum ?? [])]) {
      if (value === undefined || simple === undefined) continue
      for (const one of Array.isArray(value) ? value : [value]) {
        const text = typeof one === 'object' ? '' : this.#written(simple, one)
        if (text instanceof Refusal) this.#problem(path, `The value ${JSON.stringify(one)} must ${text.rule}.`)
      }
    }
  }

  #written(type: SimpleType, value: unknown): string | Refusal {
    try {
      return writeSimple(type, value, { write: clark, meter: this.#meter })
    } catch (error) {
      if (error instanceof OutOfSteps)
        return new Refusal('be one of fewer or shorter values: checking all of them takes too long')
      throw error
    }
  }

  #pattern({ pattern }: InputRule): LinearPattern | undefined {
    const taken = pattern === undefined ? undefined : this.#patterns.take(pattern)
    return typeof taken === 'string' ? undefined : taken
  }

  #finish(drafts: ReadonlyMap<string, Draft>, path: string, level: Level): Fields {
    const byName = new Map<string, Field>()
    const byShown = new Map<string, Field>()
    for (const { name, place, rule, fields } of drafts.values()) {
      const here = path === '' ? name : `${path}/${name}`
      const field: Field = {
        name,
        shown: rule.rename ?? name,
        rule,
        pattern: this.#pattern(rule),
        hidden: rule.hide === true || rule.value !== undefined,
        many: place.many,
        fields: this.#finish(fields, here, place.level)
      }
      const taken =
        byShown.has(field.shown) ||
        (field.shown !== name && !drafts.has(field.shown) && level.find(field.shown) !== undefined) ||
        (path === '' && field.shown === 'operation' && name !== 'operation')
      if (taken && !field.hidden) this.#problem(here, `Another field is called ${field.shown}.`)
      byName.set(name, field)
      if (!field.hidden) byShown.set(field.shown, field)
    }
    return { byName, byShown }
  }
}

const NO_EXPRESSION = 'is no JavaScript regular expression (u)'

function compilePattern(pattern: string): LinearPattern | string {
  try {
    // Checked before it is wrapped in a group, because `a)|(b` would become valid.
    if (!isExpression(pattern)) return NO_EXPRESSION
    return ecmaPattern(anchored(pattern))
  } catch (error) {
    if (error instanceof PatternRefused) return error.message
    throw error
  }
}

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source.length > 0
  } catch {
    return false
  }
}

/** An expression that must match the whole text. */
export function anchored(pattern: string): string {
  return `^(?:${pattern})$`
}

function textOf(type: Type): SimpleType | undefined {
  if (type.kind === 'array') return textOf(type.item().type())
  if (type.kind === 'complex') return type.shape().text
  return type.kind === 'any' ? undefined : type
}
