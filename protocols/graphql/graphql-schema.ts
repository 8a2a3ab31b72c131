import { type GraphQLObjectType, type GraphQLSchema, printSchema } from 'graphql'
import { OPERATION_TEXT_CHARS_MAX } from '../../lib/base/limits/descriptions.ts'
import { OPERATIONS_MAX } from '../../lib/base/limits/names.ts'
import type { ApiDescription, Operation } from '../../lib/interface/adapter.ts'

/** The published description of a schema, with warnings about omitted parts. */
export interface Described {
  readonly description: ApiDescription
  readonly warnings: readonly string[]
}

/**
 * Describes a schema. Operations are the fields of the root types. If a mutation or subscription shares its name with another
 * field, its kind is added to the name.
 *
 * @param isShown whether the schema itself is published, in addition to the names of operations
 * @param printed the schema in SDL, if known already
 */
export function describeSchema(schema: GraphQLSchema, isShown = true, printed?: string): Described {
  const taken = new Set<string>()
  const named = (kind: string, fields: Operation[]) => {
    const renamed = fields.map((field) => (taken.has(field.name) ? { ...field, name: `${kind} ${field.name}` } : field))
    for (const { name } of renamed) taken.add(name)
    return renamed
  }
  const warnings: string[] = []
  let operations: readonly Operation[] = [
    ...named('query', fieldsOf(schema.getQueryType())),
    ...named('mutation', fieldsOf(schema.getMutationType())),
    ...named('subscription', fieldsOf(schema.getSubscriptionType()))
  ]
  if (operations.length > OPERATIONS_MAX) {
    warnings.push(
      `The schema has ${operations.length} operations; the first ${OPERATIONS_MAX} are listed. All can be called.`
    )
    operations = operations.slice(0, OPERATIONS_MAX)
  }
  const description = isShown ? { operations, sdl: printed ?? printSchema(schema) } : { operations }
  return { description, warnings }
}

function fieldsOf(type: GraphQLObjectType | null | undefined): Operation[] {
  return Object.values(type?.getFields() ?? {}).map(({ name, description }) =>
    description == null || description === ''
      ? { name }
      : { name, description: description.slice(0, OPERATION_TEXT_CHARS_MAX) }
  )
}
