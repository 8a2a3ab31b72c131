import { SoukError } from '../../../lib/base/errors.ts'
import type { Meter } from '../../pattern/meter.ts'
import { canonicalDecimal, compareDecimals } from '../schema/decimal.ts'
import type { Problems } from '../message/problems.ts'
import { glimpse, isObject, jsonPath, type JsonObject } from '../message/encoding.ts'
import type { Field, Fields } from './mapping-fields.ts'
import { MEMBER_STEPS } from '../schema/steps.ts'

type Path = Array<string | number>

/**
 * Converts a consumer's input to the JSON of the WSDL: restores names, fills in values, checks rules.
 * @param problems collects what breaks a rule, each with the consumer's path, the rule and the value
 * @throws OutOfSteps
 */
export function mapInput(fields: Fields, given: JsonObject, meter: Meter, problems: Problems): JsonObject {
  return mapObject(fields, given, [], { meter, problems })
}

/** Data that all steps of a conversion share. */
interface Conversion {
  readonly meter: Meter
  readonly problems: Problems
}

function mapObject(fields: Fields, given: JsonObject, path: Path, conversion: Conversion): JsonObject {
  if (fields.byName.size === 0) return given
  const { meter, problems } = conversion
  meter.spend(MEMBER_STEPS * fields.byName.size)
  const mapped: Array<[string, unknown]> = []
  const seen = new Set<string>()
  for (const [shown, value] of Object.entries(given)) {
    const field = fields.byShown.get(shown)
    if (field === undefined && fields.byName.has(shown)) {
      problems.add(refusal([...path, shown], 'is not known here'))
      continue
    }
    if (shown === '$order' && Array.isArray(value)) {
      mapped.push([shown, value.map((one: unknown) => fields.byShown.get(String(one))?.name ?? one)])
      continue
    }
    if (field !== undefined && value === undefined) continue
    const name = field?.name ?? shown
    seen.add(name)
    mapped.push([name, field === undefined ? value : mapValue(field, value, [...path, shown], conversion)])
  }
  for (const field of fields.byName.values()) {
    if (seen.has(field.name)) continue
    const value = absent(field, [...path, field.shown], conversion)
    if (value !== undefined) mapped.push([field.name, value])
  }
  return Object.fromEntries(mapped)
}

/** The value to send for a field that the consumer did not give. */
function absent(field: Field, path: Path, conversion: Conversion): unknown {
  const { rule, fields, many } = field
  const value = rule.value ?? rule.default
  if (value !== undefined) return value
  if (rule.required === true) conversion.problems.add(refusal(path, 'is required'))
  return !many && fills(fields) ? mapObject(fields, {}, path, conversion) : undefined
}

/** True if a nested field has a fixed value even without the consumer's object. */
function fills({ byName }: Fields): boolean {
  return [...byName.values()].some(({ rule, fields, many }) => rule.value !== undefined || (!many && fills(fields)))
}

function mapValue(field: Field, value: unknown, path: Path, conversion: Conversion): unknown {
  if (Array.isArray(value)) {
    const { minItems, maxItems } = field.rule
    if (minItems !== undefined && value.length < minItems)
      conversion.problems.add(refusal(path, `must have at least ${minItems} items`))
    if (maxItems !== undefined && value.length > maxItems)
      conversion.problems.add(refusal(path, `must have at most ${maxItems} items`))
    return value.map((item, index) => mapOne(field, item, [...path, index], conversion))
  }
  return mapOne(field, value, path, conversion)
}

function mapOne(field: Field, value: unknown, path: Path, conversion: Conversion): unknown {
  if (Array.isArray(value)) return value.map((item, index) => mapOne(field, item, [...path, index], conversion))
  if (value === null && field.rule.required === true) conversion.problems.add(refusal(path, 'is required'))
  const text = isObject(value) ? value.value : value
  if (typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean')
    checkRule(field, text, path, conversion)
  return isObject(value) ? mapObject(field.fields, value, path, conversion) : value
}

function checkRule(
  { rule, pattern }: Field,
  value: string | number | boolean,
  path: Path,
  conversion: Conversion
): void {
  const text = String(value)
  const { min, max, minLength, maxLength, enum: allowed } = rule
  const refuse = (what: string) => conversion.problems.add(refusal(path, what, value))
  if (min !== undefined && !(compared(text, min) >= 0)) refuse(`must be at least ${min}`)
  if (max !== undefined && !(compared(text, max) <= 0)) refuse(`must be at most ${max}`)
  if (minLength !== undefined || maxLength !== undefined) {
    const length = Array.from(text).length
    if (length < (minLength ?? 0)) refuse(`must have at least ${minLength} characters`)
    if (length > (maxLength ?? length)) refuse(`must have at most ${maxLength} characters`)
  }
  if (pattern?.test(text, conversion.meter) === false) refuse(`must match the pattern ${rule.pattern}`)
  if (allowed !== undefined && !allowed.some((one) => String(one) === text)) {
    refuse(`must be one of ${allowed.slice(0, 20).join(', ')}${allowed.length > 20 ? ', …' : ''}`)
  }
}

function compared(text: string, bound: string | number | boolean): number {
  const [a, b] = [canonicalDecimal(text.trim()), canonicalDecimal(String(bound))]
  return a === undefined || b === undefined ? Number(text) - Number(bound) : compareDecimals(a, b)
}

function refusal(path: Path, rule: string, value?: unknown): SoukError {
  const where = jsonPath(path)
  const seen = value === undefined ? '' : `; got ${glimpse(value)}`
  return new SoukError('invalid_request', `${where} ${rule}${seen}.`, { members: { path: where } })
}

/** Converts a response to the consumer's JSON. */
export function mapOutput(fields: Fields, value: unknown): unknown {
  if (fields.byName.size === 0) return value
  if (Array.isArray(value)) return value.map((item) => mapOutput(fields, item))
  if (!isObject(value)) return value
  const shown: Array<[string, unknown]> = []
  for (const [name, inner] of Object.entries(value)) {
    const field = fields.byName.get(name)
    if (name === '$order' && Array.isArray(inner)) shown.push([name, shownOrder(fields, inner)])
    else if (field === undefined) shown.push([name, inner])
    else if (!field.hidden) shown.push([field.shown, mapOutput(field.fields, inner)])
  }
  return Object.fromEntries(shown)
}

function shownOrder({ byName }: Fields, order: readonly unknown[]): unknown[] {
  const fields = order.map((name) => [name, byName.get(String(name))] as const)
  return fields.filter(([, field]) => field?.hidden !== true).map(([name, field]) => field?.shown ?? name)
}

/** Converts a path of the WSDL's JSON to the consumer's names. */
export function shownPath(fields: Fields, path: readonly (string | number)[]): Path {
  let at: Fields | undefined = fields
  return path.map((step) => {
    if (typeof step === 'number') return step
    const field: Field | undefined = at?.byName.get(step)
    at = field?.fields
    return field?.shown ?? step
  })
}
