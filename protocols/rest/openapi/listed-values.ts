import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { ecmaPattern } from '../../pattern/ecma-pattern.ts'
import { PatternRefused } from '../../pattern/linear-pattern.ts'
import { Meter } from '../../pattern/meter.ts'
import { FORMATS } from '../call-check/formats.ts'

type Rule = (limit: unknown, value: unknown) => boolean

const ofText =
  (fits: (limit: unknown, text: string) => boolean): Rule =>
  (limit, value) =>
    typeof value === 'string' && fits(limit, value)
const ofNumber =
  (fits: (limit: number, value: number) => boolean): Rule =>
  (limit, value) =>
    typeof value === 'number' && fits(Number(limit), value)

const TEXT_RULES: Readonly<Record<string, Rule>> = {
  format: ofText((format, text) => hasFormat(String(format), text)),
  pattern: ofText((pattern, text) => hasPattern(String(pattern), text)),
  minLength: ofText((least, text) => Array.from(text).length >= Number(least)),
  maxLength: ofText((most, text) => Array.from(text).length <= Number(most))
}
const NUMBER_RULES: Readonly<Record<string, Rule>> = {
  minimum: ofNumber((least, value) => value >= least),
  maximum: ofNumber((most, value) => value <= most),
  exclusiveMinimum: ofNumber((least, value) => value > least),
  exclusiveMaximum: ofNumber((most, value) => value < most)
}

/**
 * A schema without the rules that exclude each value of its `enum` or `const`, because no value would fit: `maxLength: 1` beside
 * `MALE` and `FEMALE`. A format of texts becomes an alternative to the values: `date-time` beside `now`.
 */
export function withFittingRules(schema: JsonSchema): JsonSchema {
  const { enum: listed, const: only, format, anyOf } = schema
  const values: unknown[] = Array.isArray(listed) ? listed : [only]
  const excluding = [
    ...excludingRules(
      schema,
      TEXT_RULES,
      values.filter((value) => typeof value === 'string')
    ),
    ...excludingRules(
      schema,
      NUMBER_RULES,
      values.filter((value) => typeof value === 'number')
    )
  ]
  if (excluding.length === 0) return schema
  const fitting = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !excluding.includes(keyword)))
  if (!excluding.includes('format') || anyOf !== undefined) return fitting
  const { enum: _, const: __, ...others } = fitting
  return { ...others, anyOf: [{ enum: values }, { format }] }
}

function excludingRules(
  schema: JsonSchema,
  rules: Readonly<Record<string, Rule>>,
  values: readonly unknown[]
): readonly string[] {
  if (values.length === 0) return []
  return Object.entries(rules)
    .filter(([keyword, fits]) => schema[keyword] !== undefined && !values.some((value) => fits(schema[keyword], value)))
    .map(([keyword]) => keyword)
}

function hasFormat(name: string, text: string): boolean {
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined
  const check = typeof format === 'object' && 'validate' in format ? format.validate : format
  if (check instanceof RegExp) return check.test(text)
  return typeof check !== 'function' || (check as (text: string) => unknown)(text) === true
}

function hasPattern(pattern: string, text: string): boolean {
  try {
    return ecmaPattern(pattern).test(text, new Meter(Number.POSITIVE_INFINITY))
  } catch (error) {
    // Calls are not checked against it.
    if (error instanceof PatternRefused) return true
    throw error
  }
}
