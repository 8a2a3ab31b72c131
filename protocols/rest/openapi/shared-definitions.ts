import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { withoutRequired } from './directed-schema.ts'
import { type Definitions, definitionsOf, REF } from './openapi-schemas.ts'

/** The definitions of a document for requests and responses together. */
export interface SharedDefinitions {
  readonly definitions: Definitions
  /** The schema of a request or a response. It refers to `definitions`. */
  input(schema: JsonSchema): JsonSchema
  output(schema: JsonSchema): JsonSchema
}

/** A definition that differs between requests and responses, directly or through others, exists twice. */
export function sharedDefinitions(all: Definitions): SharedDefinitions {
  const input = (schema: JsonSchema) => withoutRequired(schema, 'readOnly', all)
  const outputForm = (schema: JsonSchema) => withoutRequired(schema, 'writeOnly', all)
  const differing = new Set<string>()
  for (const [name, schema] of Object.entries(all)) {
    if (JSON.stringify(input(schema)) !== JSON.stringify(outputForm(schema))) differing.add(name)
  }
  const names = new Map<string, string>()
  for (const [name, schema] of differing.size === 0 ? [] : Object.entries(all)) {
    const isTwofold = differing.has(name) || Object.keys(definitionsOf([schema], all)).some((one) => differing.has(one))
    if (isTwofold) names.set(name, freeName(`${name}.response`, all))
  }
  const output = (schema: JsonSchema) => renamed(outputForm(schema), names)
  const responses = [...names].map(([name, own]): [string, JsonSchema] => [own, output(all[name] ?? {})])
  const requests = Object.entries(all).map(([name, schema]): [string, JsonSchema] => [name, input(schema)])
  return { definitions: Object.fromEntries([...requests, ...responses]), input, output }
}

function freeName(wanted: string, all: Definitions): string {
  let name = wanted
  for (let at = 2; Object.hasOwn(all, name); at++) name = `${wanted}_${at}`
  return name
}

/** The schema with other names of the definitions that it refers to. */
function renamed(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  if (names.size === 0) return schema
  const follow = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(follow)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, member]): [string, unknown] => {
        const own = key === '$ref' && typeof member === 'string' ? names.get(member.slice(REF.length)) : undefined
        return [key, own === undefined ? follow(member) : REF + own]
      })
    )
  }
  return follow(schema) as JsonSchema
}
