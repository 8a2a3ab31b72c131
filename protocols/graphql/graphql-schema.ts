import { type GraphQLObjectType, type GraphQLSchema, parse, print, printSchema, visit } from 'graphql'
import { utf8 } from '../../lib/base/bytes.ts'
import { API_DESCRIPTION_BYTES_MAX } from '../../lib/base/limits/descriptions.ts'
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
  return fitted(isShown ? { operations, sdl: printed ?? printSchema(schema) } : { operations }, warnings)
}

const UNDESCRIBED_CHARS_MAX = 8 * API_DESCRIPTION_BYTES_MAX

type Candidate = readonly [lost: string, candidate: () => ApiDescription]

function lessOf(operations: readonly Operation[], sdl: string): Candidate[] {
  return [
    // In most schemas, half of the text is descriptions. In a far too large schema, removing them does not suffice.
    ...(sdl.length > UNDESCRIBED_CHARS_MAX
      ? []
      : [['the descriptions inside the schema', () => ({ operations, sdl: undescribed(sdl) })] as const]),
    ['the schema', () => ({ operations })]
  ]
}

/** A schema may be larger than a manifest. The least informative parts are removed first; calls do not need them. */
function fitted(description: ApiDescription, warnings: string[]): Described {
  const { operations, sdl } = description
  const bare = operations.map(({ name }) => ({ name }))
  const candidates: readonly Candidate[] = [
    ['', () => description],
    ...(sdl === undefined ? [] : lessOf(operations, sdl)),
    ['the schema and all descriptions', () => ({ operations: bare })]
  ]
  for (const [lost, candidate] of candidates) {
    const smaller = candidate()
    if (utf8(JSON.stringify(smaller)).byteLength > API_DESCRIPTION_BYTES_MAX) continue
    if (lost !== '') warnings.push(`The schema is too large to be published in full, so ${lost} had to be omitted.`)
    return { description: smaller, warnings }
  }
  return { description: { operations: [] }, warnings: [...warnings, 'The schema is too large to be published at all.'] }
}

/** The schema without its descriptions. */
function undescribed(sdl: string): string {
  const document = parse(sdl, { noLocation: true })
  return print(visit(document, { StringValue: (_node, key) => (key === 'description' ? null : undefined) }))
}

function fieldsOf(type: GraphQLObjectType | null | undefined): Operation[] {
  return Object.values(type?.getFields() ?? {}).map(({ name, description }) =>
    description == null || description === '' ? { name } : { name, description }
  )
}
