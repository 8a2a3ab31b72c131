import { COMPOSED_PARTS_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject } from '../../exact-json.ts'
import { type Definitions, REF } from './openapi-schemas.ts'

/** Keywords whose schemas describe the same value as the schema that they are in. */
export const COMPOSING: readonly string[] = ['$ref', 'allOf', 'oneOf', 'anyOf']
/** Keywords of which a value must fit every schema. */
export const JOINED: readonly string[] = ['$ref', 'allOf']

/** A schema and the schemas that it is composed of, each once, nearest first, up to `COMPOSED_PARTS_MAX`. */
export function composedOf(
  schema: JsonSchema,
  definitions: Definitions,
  keywords: readonly string[] = COMPOSING
): readonly JsonSchema[] {
  const parts = new Set([schema])
  for (const part of parts) {
    for (const keyword of keywords) {
      const value = part[keyword]
      const given = typeof value === 'string' ? definitions[value.slice(REF.length)] : value
      for (const one of Array.isArray(given) ? (given as unknown[]) : [given]) {
        if (parts.size === COMPOSED_PARTS_MAX) return [...parts]
        if (isObject(one)) parts.add(one)
      }
    }
  }
  return [...parts]
}

/** A member of an object that one part describes; undefined if it does not. */
export function memberOf({ properties }: JsonSchema, name: string): unknown {
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}
