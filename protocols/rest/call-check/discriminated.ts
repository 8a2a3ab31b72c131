/* oxlint-disable unicorn/no-thenable -- a keyword of JSON Schema, in objects that are never awaited */
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject } from '../../exact-json.ts'
import { REF } from '../openapi/openapi-schemas.ts'

/**
 * Expresses `discriminator` of OpenAPI by `if` and `then`: the named branch alone decides, so the error is that of the branch. A
 * value that names no branch is checked against all.
 */
export function discriminated(schema: JsonSchema): JsonSchema {
  const { discriminator, oneOf, anyOf, allOf, ...rest } = schema
  const branches = oneOf ?? anyOf
  if (!isObject(discriminator) || !Array.isArray(branches) || (oneOf !== undefined && anyOf !== undefined))
    return schema
  const { propertyName, mapping } = discriminator
  const named = branches.map((branch) => ({ branch: branch as unknown, names: namesOf(branch, mapping) }))
  if (typeof propertyName !== 'string' || named.some(({ names }) => names.length === 0)) return schema
  const isOneOf = (names: readonly string[]) => ({
    type: 'object',
    properties: { [propertyName]: { enum: names } },
    required: [propertyName]
  })
  const chosen = {
    if: isOneOf(named.flatMap(({ names }) => names)),
    then: { allOf: named.map(({ branch, names }) => ({ if: isOneOf(names), then: branch })) },
    else: oneOf === undefined ? { anyOf } : { oneOf }
  }
  return { ...rest, allOf: [...(Array.isArray(allOf) ? (allOf as unknown[]) : []), chosen] }
}

/** The values that name a branch: those of the mapping, else the name of its schema. */
function namesOf(branch: unknown, mapping: unknown): string[] {
  const reference = isObject(branch) ? branch['$ref'] : undefined
  if (typeof reference !== 'string') return []
  const mapped = Object.entries(isObject(mapping) ? mapping : {}).flatMap(([name, to]) =>
    to === reference ? [name] : []
  )
  return mapped.length > 0 ? mapped : [reference.slice(REF.length)]
}
