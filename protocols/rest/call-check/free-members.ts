import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject } from '../../exact-json.ts'
import { type Definitions, dereferenced, withSubschemas } from '../openapi/openapi-schemas.ts'

/** Keywords whose schemas describe the values within a value. */
const WITHIN: readonly string[] = ['properties', 'patternProperties', 'additionalProperties', 'items']
/** Keywords that accept every object. */
const BARE: ReadonlySet<string> = new Set(
  'type title description default deprecated readOnly writeOnly examples xml'.split(' ')
)

/**
 * A schema that accepts any value for a member described as `type: object` and nothing else. Generators write so a value of any type,
 * such as `Object` and `JsonNode` of Java, and `additionalProperties: {type: object}` for maps with any values.
 */
export function withFreeMembers(schema: JsonSchema, definitions: Definitions): JsonSchema {
  return withSubschemas(schema, (value, keyword) => {
    if (!isObject(value)) return value
    return WITHIN.includes(keyword) && isAnyObject(value, definitions) ? {} : withFreeMembers(value, definitions)
  })
}

function isAnyObject(given: JsonSchema, definitions: Definitions): boolean {
  const schema = dereferenced(given, definitions)
  // A schema that may be null is the alternative of another and null.
  const [first, second, ...others] = [schema['anyOf'] ?? []].flat() as unknown[]
  const isNullable = isObject(first) && isObject(second) && second['type'] === 'null' && others.length === 0
  const { type, properties = {}, ...rest } = isNullable ? dereferenced(first, definitions) : schema
  const isObjects = type !== 'null' && [type].flat().every((one) => one === 'object' || one === 'null')
  const isOpen = isObject(properties) && Object.keys(properties).length === 0
  return isObjects && isOpen && Object.keys(rest).every((keyword) => BARE.has(keyword))
}
