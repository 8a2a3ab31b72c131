import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { composedOf, memberOf } from './composed-schema.ts'
import { isFlagged } from './directed-schema.ts'
import { type Definitions, definitionsOf } from './openapi-schemas.ts'
import type { RestApi } from './rest-api.ts'

const NAME_CHARS_SHOWN = 200

/** Sentences about the schemas of calls that no object fits, because `additionalProperties: false` excludes a required member. */
export function closedWarnings({ operations, definitions }: RestApi): string[] {
  const bodies = operations.flatMap(({ name, body }) => (body === undefined ? [] : [[name, body.schema] as const]))
  const parameters = operations.flatMap((operation) => operation.parameters.map(({ schema }) => schema))
  const used = definitionsOf([...bodies.map(([, schema]) => schema), ...parameters], definitions)
  return [
    ...bodies
      .filter(([, schema]) => schema['$ref'] === undefined)
      .map(([name, schema]) => [`The body of ${name}`, schema] as const),
    ...Object.entries(used).map(([name, schema]) => [`The schema ${name}`, schema] as const)
  ].flatMap(([subject, schema]) => {
    const member = excludedMember(schema, definitions)
    if (member === undefined) return []
    const shown = JSON.stringify(member.slice(0, NAME_CHARS_SHOWN))
    return [
      `${subject} fits no object: a part of its allOf requires ${shown}, and another excludes it by additionalProperties: false.`
    ]
  })
}

/** A member that a part of the schema requires and another one excludes. A readOnly member is not required in a call. */
function excludedMember(schema: JsonSchema, definitions: Definitions): string | undefined {
  if (!Array.isArray(schema['allOf'])) return undefined
  const parts = composedOf(schema, definitions, ['$ref', 'allOf'])
  const closed = parts.filter(
    (part) => part['additionalProperties'] === false && part['patternProperties'] === undefined
  )
  if (closed.length === 0) return undefined
  const isReadOnly = (name: string) => parts.some((part) => isFlagged(memberOf(part, name), 'readOnly', definitions))
  return parts
    .flatMap(({ required }) => (Array.isArray(required) ? (required as string[]) : []))
    .find((name) => closed.some((part) => memberOf(part, name) === undefined) && !isReadOnly(name))
}
