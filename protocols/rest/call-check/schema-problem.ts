import type { ErrorObject } from 'ajv/dist/2020.js'
import { ONCE } from './loop-keywords.ts'

/** Why a value does not fit its schema. */
export interface SchemaProblem {
  /** The JSON Pointer of the value. */
  readonly path: string
  /** Completes "The field …". */
  readonly rule: string
}

/** Keywords whose error only says that those before it exist. */
const COMPOSED: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'if', 'propertyNames', ONCE])
/** Keywords that tell alternatives apart. */
const TAGS: ReadonlySet<string> = new Set(['const', 'enum'])
/** The rule where Ajv tells none. */
const UNKNOWN = 'is not as described'
const RULES_MAX = 3
const NAME_CHARS_MAX = 200
const VALUES_CHARS_MAX = 300

/**
 * The problem among the errors that Ajv found, one for each alternative of `anyOf` and `oneOf`. The alternative that fits best counts:
 * the one whose error is deepest, and in no tag, such as the constant of its kind. Those that fit equally well are named together.
 */
export function problemIn(errors: readonly ErrorObject[]): SchemaProblem {
  const found = ofAlternatives(errors)
  const depth = found.reduce((most, error) => Math.max(most, depthOf(error)), 0)
  const deepest = found.filter((error) => depthOf(error) === depth)
  const arePlaces = deepest.some(({ instancePath }) => instancePath !== deepest[0]?.instancePath)
  const meant = arePlaces ? preferred(deepest, ({ keyword }) => !TAGS.has(keyword)) : deepest
  const path = (meant[0] ?? errors[0])?.instancePath ?? ''
  const here = meant.filter(({ instancePath }) => instancePath === path)
  return { path, rule: ruleOf(preferred(here, ({ keyword }) => keyword !== 'type')) }
}

function ofAlternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const found: ErrorObject[] = []
  for (const error of errors) {
    if (!fitsSeveral(error)) {
      if (!COMPOSED.has(error.keyword)) found.push(error)
      continue
    }
    // The errors before it are those of the other alternatives.
    while (isWithin(found.at(-1), error)) found.pop()
    found.push(error)
  }
  return found
}

function fitsSeveral({ keyword, params }: ErrorObject): boolean {
  return keyword === 'oneOf' && Array.isArray(params['passingSchemas'])
}

function isWithin(error: ErrorObject | undefined, { instancePath }: ErrorObject): boolean {
  return error !== undefined && `${error.instancePath}/`.startsWith(`${instancePath}/`)
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split('/').length
}

/** The errors that `is` accepts; all of them if it accepts none. */
function preferred(errors: readonly ErrorObject[], is: (error: ErrorObject) => boolean): readonly ErrorObject[] {
  const accepted = errors.filter(is)
  return accepted.length === 0 ? errors : accepted
}

function ruleOf(errors: readonly ErrorObject[]): string {
  const values = errors.flatMap(({ keyword, params }) => {
    if (keyword === 'const') return [params['allowedValue'] as unknown]
    return keyword === 'enum' ? (params['allowedValues'] as unknown[]) : []
  })
  const types = errors.flatMap(({ keyword, params }) => (keyword === 'type' ? [params['type'] as string[]].flat() : []))
  const others = errors.flatMap((error) =>
    TAGS.has(error.keyword) || error.keyword === 'type' ? [] : [otherRule(error)]
  )
  const rules = [
    ...(values.length === 0 ? [] : [`must be ${among(values.map((value) => JSON.stringify(value)))}`]),
    ...(types.length === 0 ? [] : [`must be ${among(types)}`]),
    ...others
  ]
  return rules.length === 0 ? UNKNOWN : [...new Set(rules)].slice(0, RULES_MAX).join(', or ')
}

function among(values: readonly string[]): string {
  const all = [...new Set(values)]
  const text = all.length < 2 ? all.join() : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`
  return text.length > VALUES_CHARS_MAX ? `one of ${text.slice(0, VALUES_CHARS_MAX)}…` : text
}

function otherRule({ keyword, message = UNKNOWN, params, propertyName }: ErrorObject): string {
  const rule = message.replace('NOT', 'not')
  if (propertyName !== undefined) return `must not have the field ${quoted(propertyName)}, whose name ${rule}`
  switch (keyword) {
    case 'additionalProperties':
      return `must not have the field ${quoted(params['additionalProperty'])}`
    case 'unevaluatedProperties':
      return `must not have the field ${quoted(params['unevaluatedProperty'])}`
    case 'required':
      return `must have the field ${quoted(params['missingProperty'])}`
    case 'not':
      return 'has a value that is not allowed'
    case 'oneOf':
      return 'must fit exactly one alternative of its schema, but fits several'
    default:
      return rule
  }
}

function quoted(name: unknown): string {
  return JSON.stringify(String(name).slice(0, NAME_CHARS_MAX))
}
