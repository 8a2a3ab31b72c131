import { execute, parse } from 'graphql'
import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits/call.ts'
import { schemaSteps } from './built-schema.ts'
import type { JsonObject } from './graphql-request.ts'
import { withoutPauses } from './schema-document.ts'

/** An operation that only asks for the schema, which passed all checks. */
export interface SchemaQuestion {
  readonly sdl: string
  readonly hidden: readonly string[]
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: JsonObject
}

/**
 * The response to such an operation, as JSON. A short one may have gigabytes, because its fragments repeat each other, so this runs
 * in the process for them.
 * @throws SoukError `response_too_large`
 */
export async function introspect({ sdl, hidden, query, operationName, variables }: SchemaQuestion): Promise<string> {
  const schema = withoutPauses(schemaSteps(sdl, hidden))
  const asked = { document: parse(query), operationName: operationName ?? null, variableValues: { ...variables } }
  const json = JSON.stringify(await execute({ schema, ...asked }))
  if (Buffer.byteLength(json) > RESPONSE_BYTES_MAX) throw new SoukError('response_too_large')
  return json
}
