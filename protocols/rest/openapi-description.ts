import { utf8 } from '../../lib/base/bytes.ts'
import { API_DESCRIPTION_BYTES_MAX } from '../../lib/base/limits.ts'
import type { ApiDescription, Operation } from '../../lib/interface/adapter.ts'
import { fieldsOf, withDefinitions } from './openapi-fields.ts'
import type { RestApi } from './openapi-operations.ts'

const DESCRIPTION_CHARS = 300

/** What is published of a document. One can be larger than a manifest: the least telling parts go first; calls need none of them. */
export function describeOpenapi(api: RestApi): { description: ApiDescription; warnings: string[] } {
  const whole = api.operations.map((operation): Operation => {
    const { name, description, output } = operation
    return {
      name,
      ...(description === undefined ? {} : { description: description.slice(0, DESCRIPTION_CHARS) }),
      input: fieldsOf(operation, api.definitions).schema,
      ...(output === undefined ? {} : { output: withDefinitions(output, api.definitions) })
    }
  })
  const stages: ReadonlyArray<readonly [lost: string, operations: () => Operation[]]> = [
    ['', () => whole],
    ['the schemas of answers', () => whole.map(({ output: _, ...rest }) => rest)],
    ['all schemas', () => whole.map(({ input: _, output: __, ...rest }) => rest)],
    ['all schemas and descriptions', () => whole.map(({ name }) => ({ name }))]
  ]
  for (const [lost, make] of stages) {
    const operations = make()
    if (utf8(JSON.stringify(operations)).byteLength > API_DESCRIPTION_BYTES_MAX) continue
    const warnings = lost === '' ? [] : [`The document is too large to be published whole: ${lost} had to be left out.`]
    return { description: { operations }, warnings }
  }
  return { description: { operations: [] }, warnings: ['The document is too large to be published at all.'] }
}
