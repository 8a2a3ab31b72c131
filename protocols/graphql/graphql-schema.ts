import { type GraphQLObjectType, type GraphQLSchema, buildSchema, parse, print, visit } from 'graphql'
import { utf8 } from '../../lib/base/bytes.ts'
import { API_DESCRIPTION_BYTES_MAX, OPERATIONS_MAX } from '../../lib/base/limits.ts'
import type { ApiDescription, Operation } from '../../lib/interface/adapter.ts'

/** What is published of a schema, and what had to be left out of it. */
export interface Described {
  readonly description: ApiDescription
  readonly warnings: readonly string[]
}

/** @param sdl - as `printSchema` wrote it; empty where the schema was never read. */
export function describeSdl(sdl: string): Described {
  if (sdl === '') return { description: { operations: [] }, warnings: [] }
  return describeSchema(buildSchema(sdl, { assumeValidSDL: true }), sdl)
}

/** Operations are the fields of the query and mutation types; a mutation that shares a query's name says so in its own. */
function describeSchema(schema: GraphQLSchema, sdl: string): Described {
  const queries = fieldsOf(schema.getQueryType())
  const taken = new Set(queries.map(({ name }) => name))
  const mutations = fieldsOf(schema.getMutationType()).map((field) =>
    taken.has(field.name) ? { ...field, name: `mutation ${field.name}` } : field
  )
  const warnings: string[] = []
  if (schema.getSubscriptionType() != null) warnings.push('Subscriptions are not served, only queries and mutations.')

  let operations: readonly Operation[] = [...queries, ...mutations]
  if (operations.length > OPERATIONS_MAX) {
    warnings.push(
      `The schema has ${operations.length} operations; the first ${OPERATIONS_MAX} are listed. All can be called.`
    )
    operations = operations.slice(0, OPERATIONS_MAX)
  }
  return fitted({ operations, sdl }, warnings)
}

/** A schema can be far larger than a manifest: the least telling parts go first, and calls are not touched by it. */
function fitted(description: ApiDescription, warnings: string[]): Described {
  const { operations, sdl = '' } = description
  const bare = operations.map(({ name }) => ({ name }))
  const candidates: ReadonlyArray<readonly [lost: string, candidate: () => ApiDescription]> = [
    ['', () => description],
    ['the descriptions inside the schema', () => ({ operations, sdl: undescribed(sdl) })],
    ['the schema', () => ({ operations })],
    ['the schema and all descriptions', () => ({ operations: bare })]
  ]
  for (const [lost, candidate] of candidates) {
    const smaller = candidate()
    if (utf8(JSON.stringify(smaller)).byteLength > API_DESCRIPTION_BYTES_MAX) continue
    if (lost !== '') warnings.push(`The schema is too large to be published whole: ${lost} had to be left out.`)
    return { description: smaller, warnings }
  }
  return { description: { operations: [] }, warnings: [...warnings, 'The schema is too large to be published at all.'] }
}

/** The same schema without its texts. */
function undescribed(sdl: string): string {
  const document = parse(sdl, { noLocation: true })
  return print(visit(document, { StringValue: (_node, key) => (key === 'description' ? null : undefined) }))
}

function fieldsOf(type: GraphQLObjectType | null | undefined): Operation[] {
  return Object.values(type?.getFields() ?? {}).map(({ name, description }) =>
    description == null || description === '' ? { name } : { name, description }
  )
}
