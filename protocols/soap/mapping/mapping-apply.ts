import { SoukError } from '../../../lib/base/errors.ts'
import type { Meter } from '../../pattern/meter.ts'
import { canonicalDecimal, compareDecimals } from '../schema/decimal.ts'
import { glimpse, isObject, jsonPath, type JsonObject } from '../message/encoding.ts'
import type { Field, Fields } from './mapping-fields.ts'
import { MEMBER_STEPS } from '../schema/steps.ts'

type Path = Array<string | number>

/**
 * Converts a consumer's input to the JSON of the WSDL: restores names, fills in values, checks rules.
 * @throws SoukError `invalid_request` with the consumer's path, the rule and the value; OutOfSteps
 */
export function mapInput(fields: Fields, given: JsonObject, meter: Meter): JsonObject {
  return mapObject(fields, given, [], meter)
}

function mapObject(fields: Fields, given: JsonObject, path: Path, meter: Meter): JsonObject {
  if (fields.byName.size === 0) return given
  meter.spend(MEMBER_STEPS * fields.byName.size)
  const mapped: Array<[string, unknown]> = []
  const seen = new Set<string>()
  for (const [shown, value] of Object.entries(given)) {
    const field = fields.byShown.get(shown)
    if (field === undefined && fields.byName.has(shown)) throw refusal([...path, shown], 'is not known here')
    if (field !== undefined && value === undefined) continue
    const name = field?.name ?? shown
    seen.add(name)
    mapped.push([name, field === undefined ? value : mapValue(field, value, [...path, shown], meter)])
  }
  for (const field of fields.byName.values()) {
    if (seen.has(field.name)) continue
    const value = absent(field, [...path, field.shown], meter)
    if (value !== undefined) mapped.push([field.name, value])
  }
  return Object.fromEntries(mapped)
}

/** The value to send for a field that the consumer did not give. */
function absent(field: Field, path: Path, meter: Meter): unknown {
  const { rule, fields, many } = field
  const value = rule.value ?? rule.default
  if (value !== undefined) return value
  if (rule.required === true) throw refusal(path, 'is required')
  return !many && fills(fields) ? mapObject(fields, {}, path, meter) : undefined
}

/** True if a nested field has a fixed value even without the consumer's object. */
function fills({ byName }: Fields): boolean {
  return [...byName.values()].some(({ rule, fields, many }) => rule.value !== undefined || (!many && fills(fields)))
}

function mapValue(field: Field, value: unknown, path: Path, meter: Meter): unknown {
  if (Array.isArray(value)) {
    const { minItems, maxItems } = field.rule
    if (minItems !== undefined && value.length < minItems) throw refusal(path, `must have at least ${minItems} items`)
    if (maxItems !== undefined && value.length > maxItems) throw refusal(path, `must have at most ${maxItems} items`)
    return value.map((item, index) => mapOne(field, item, [...path, index], meter))
  }
  return mapOne(field, value, path, meter)
}

function mapOne(field: Field, value: unknown, path: Path, meter: Meter): unknown {
  if (Array.isArray(value)) return value.map((item, index) => mapOne(field, item, [...path, index], meter))
  if (value === null && field.rule.required === true) throw refusal(path, 'is required')
  const text = isObject(value) ? value.value : value
  if (typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean')
    checkRule(field, text, path, meter)
  return isObject(value) ? mapObject(field.fields, value, path, meter) : value
}

function checkRule({ rule, pattern }: Field, value: string | number | boolean, path: Path, meter: Meter): void {
  const text = String(value)
  const { min, max, minLength, maxLength, enum: allowed } = rule
  const refuse = (what: string): never => {
    throw refusal(path, what, value)
  }
  if (min !== undefined && !(compared(text, min) >= 0)) refuse(`must be at least ${min}`)
  if (max !== undefined && !(compared(text, max) <= 0)) refuse(`must be at most ${max}`)
  if (minLength !== undefined || maxLength !== undefined) {
    const length = Array.from(text).length
    if (length < (minLength ?? 0)) refuse(`must have at least ${minLength} characters`)
    if (length > (maxLength ?? length)) refuse(`must have at most ${maxLength} characters`)
  }
  if (pattern?.test(text, meter) === false) refuse(`must match the pattern ${rule.pattern}`)
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
    if (field === undefined) shown.push([name, inner])
    else if (!field.hidden) shown.push([field.shown, mapOutput(field.fields, inner)])
  }
  return Object.fromEntries(shown)
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
