import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject } from '../../exact-json.ts'
import { foreignNotation } from '../../pattern/foreign-notation.ts'
import { unicodePattern } from '../../pattern/unicode-pattern.ts'
import { mentionsOf } from '../call-check/checkable-schema.ts'
import { MANY, NAMED, ONE } from './openapi-schemas.ts'

/** Keywords that accept fewer values if a pattern below them is left out. */
const REVERSING: readonly string[] = ['not', 'if', 'contains', 'oneOf']
/** Keywords that a name must fit which matches none of `patternProperties`. */
const OTHER_NAMES: readonly string[] = ['additionalProperties', 'unevaluatedProperties']
const BY_NAME: readonly string[] = [...NAMED, '$defs']
const PATTERN_CHARS_SHOWN = 200

/**
 * The schema with patterns that consumers' validators can compile: they have to be valid with the flag `u` (JSON Schema 2020-12,
 * section 6.4). A pattern without such a form, or in another notation, is left out with a `$comment`, together with what would accept
 * fewer values without it.
 */
export function publishedSchema(schema: JsonSchema): JsonSchema {
  const published: Record<string, unknown> = {}
  const below = (value: unknown): unknown => (isObject(value) ? publishedSchema(value) : value)
  for (const [keyword, value] of Object.entries(schema)) {
    const lost = lostIn(keyword, value)
    if (lost !== undefined) {
      const shown = JSON.stringify(lost.slice(0, PATTERN_CHARS_SHOWN))
      const why = foreignNotation(lost) ?? 'is not valid with the flag u'
      published['$comment'] = `The pattern ${shown} is left out, because it ${why}.`
    }
    if (keyword === 'pattern' && typeof value === 'string') {
      if (lost === undefined) published[keyword] = unicodePattern(value)
    } else if (keyword === 'patternProperties' && isObject(value)) {
      published[keyword] = byPattern(value, below)
    } else if (lost !== undefined) continue
    else if (ONE.includes(keyword)) published[keyword] = below(value)
    else if (MANY.includes(keyword) && Array.isArray(value)) published[keyword] = value.map(below)
    else if (BY_NAME.includes(keyword) && isObject(value)) {
      published[keyword] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, below(one)]))
    } else published[keyword] = value
  }
  if (lostIn('patternProperties', schema['patternProperties']) !== undefined) {
    for (const keyword of OTHER_NAMES) delete published[keyword]
  }
  return published
}

/** A pattern because of which the keyword cannot be published as it is. */
function lostIn(keyword: string, value: unknown): string | undefined {
  const isLost = (pattern: string) => unicodePattern(pattern) === undefined || foreignNotation(pattern) !== undefined
  if (keyword === 'pattern' && typeof value === 'string') return isLost(value) ? value : undefined
  if (keyword === 'patternProperties' && isObject(value)) return Object.keys(value).find(isLost)
  return REVERSING.includes(keyword) ? mentionsOf({ allOf: [value].flat() }).patterns.find(isLost) : undefined
}

function byPattern(value: JsonSchema, below: (one: unknown) => unknown): JsonSchema {
  const written = Object.entries(value).flatMap(([name, one]) => {
    const pattern = unicodePattern(name)
    return pattern === undefined ? [] : [[pattern, below(one)] as const]
  })
  return Object.fromEntries(written)
}
