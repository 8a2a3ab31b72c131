import { utf8 } from '../../../lib/base/bytes.ts'
import { INLINE_DESCRIPTION_BYTES_MAX, OPERATION_TEXT_CHARS_MAX } from '../../../lib/base/limits/descriptions.ts'
import type { ApiDescription, Operation } from '../../../lib/interface/adapter.ts'
import { fieldsOf, withDefinitions } from './openapi-fields.ts'
import { readSnapshot } from '../snapshot.ts'
import { publishedSchema } from './published-schema.ts'
import type { RestApi, RestOperation } from './rest-api.ts'
import { sharedDefinitions } from './shared-definitions.ts'

/** The published description: each operation complete in itself where all of them are small, else with shared definitions. */
export function describeOpenapi(api: RestApi): ApiDescription {
  const complete = completeOperations(api)
  if (complete !== undefined) return { operations: complete }
  const shared = sharedDefinitions(api.definitions)
  const operations = api.operations.map((each) => described(each, api, shared))
  const definitions = Object.entries(shared.definitions).map(([name, one]) => [name, publishedSchema(one)] as const)
  return { operations, definitions: Object.fromEntries(definitions) }
}

/** The published description of a stored document. @throws SoukError `invalid_request` if it cannot be read */
export function describeSnapshot(snapshot: string): ApiDescription {
  const read = readSnapshot(snapshot)
  return read === undefined ? { operations: [] } : describeOpenapi(read.api)
}

/**
 * Undefined as soon as they are too large: each operation copies the definitions that it refers to, which may be the whole
 * document.
 */
function completeOperations(api: RestApi): Operation[] | undefined {
  const { definitions } = api
  const operations: Operation[] = []
  let bytes = 0
  for (const each of api.operations) {
    const one = described(each, api, {
      input: (schema) => withDefinitions(schema, definitions, 'readOnly'),
      output: (schema) => withDefinitions(schema, definitions, 'writeOnly')
    })
    bytes += utf8(JSON.stringify(one)).byteLength
    if (bytes > INLINE_DESCRIPTION_BYTES_MAX) return undefined
    operations.push(one)
  }
  return operations
}

type Directed = Pick<ReturnType<typeof sharedDefinitions>, 'input' | 'output'>

function described(operation: RestOperation, { definitions }: RestApi, directed: Directed): Operation {
  const { name, description, output } = operation
  return {
    name,
    ...(description === undefined ? {} : { description: description.slice(0, OPERATION_TEXT_CHARS_MAX) }),
    input: publishedSchema(directed.input(fieldsOf(operation, definitions).schema)),
    ...(output === undefined ? {} : { output: publishedSchema(directed.output(output)) })
  }
}
