import { CALL_SCHEMA_BYTES_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { withoutRequired } from '../openapi/directed-schema.ts'
import type { RestOperation } from '../openapi/rest-api.ts'
import type { Definitions } from '../openapi/openapi-schemas.ts'
import { mentionsOf } from './checkable-schema.ts'
import type { CallSchemas } from './check-code.ts'
import { withFreeMembers } from './free-members.ts'

/** Completes a sentence that starts with "Calls of <operation>". */
export const NOT_CHECKED = 'are not checked: no check can be made of its schemas.'

/** The schemas that calls of an operation are checked against. Undefined if they are too large. */
export function callSchemas({ parameters, body }: RestOperation, all: Definitions): CallSchemas | undefined {
  const own = { parameters: parametersSchema(parameters), ...(body === undefined ? {} : { body: body.schema }) }
  const needed = new Map<string, JsonSchema>()
  const waiting: JsonSchema[] = Object.values(own)
  let chars = 0
  // Measured before anything is converted, because a description may hold megabytes.
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    chars += JSON.stringify(at).length
    if (chars > CALL_SCHEMA_BYTES_MAX) return undefined
    for (const name of mentionsOf(at).references) {
      const definition = Object.hasOwn(all, name) ? all[name] : undefined
      if (definition === undefined || needed.has(name)) continue
      needed.set(name, definition)
      waiting.push(definition)
    }
  }
  const sent = (schema: JsonSchema) => withFreeMembers(withoutRequired(schema, 'readOnly', all), all)
  return {
    parameters: sent(own.parameters),
    ...(own.body === undefined ? {} : { body: sent(own.body) }),
    definitions: Object.fromEntries([...needed].map(([name, one]) => [name, sent(one)]))
  }
}

/** Keyed by place and name, which together are unique. */
function parametersSchema(parameters: RestOperation['parameters']): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map((one) => [`${one.in}.${one.name}`, one.schema])),
    required: parameters.filter(({ required }) => required).map((one) => `${one.in}.${one.name}`)
  }
}
