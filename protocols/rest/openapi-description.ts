import { utf8 } from '../../lib/base/bytes.ts'
import { API_DESCRIPTION_BYTES_MAX } from '../../lib/base/limits.ts'
import type { ApiDescription, Operation } from '../../lib/interface/adapter.ts'
import { fieldsOf, withDefinitions } from './openapi-fields.ts'
import type { RestApi } from './openapi-operations.ts'

const DESCRIPTION_CHARS = 300

interface Parts {
  readonly input: boolean
  readonly output: boolean
  readonly text: boolean
}

/** What is given up first where a description is too large: a consumer needs to know what to send before anything else. */
const STAGES: ReadonlyArray<readonly [lost: string, parts: Parts]> = [
  ['', { input: true, output: true, text: true }],
  ['the schemas of answers', { input: true, output: false, text: true }],
  ['all schemas', { input: false, output: false, text: true }],
  ['all schemas and descriptions', { input: false, output: false, text: false }]
]

/** What is published of a document. One can be larger than a manifest: the least telling parts go first; calls need none of them. */
export function describeOpenapi(api: RestApi): { description: ApiDescription; warnings: string[] } {
  for (const [lost, parts] of STAGES) {
    const operations = operationsWithin(api, parts)
    if (operations === undefined) continue
    const warnings = lost === '' ? [] : [`The document is too large to be published whole: ${lost} had to be left out.`]
    return { description: { operations }, warnings }
  }
  return { description: { operations: [] }, warnings: ['The document is too large to be published at all.'] }
}

/** Undefined as soon as they are too large: each operation has its own copy of what it refers to, which may be the whole document. */
function operationsWithin(
  { operations, definitions }: RestApi,
  { input, output, text }: Parts
): Operation[] | undefined {
  const described: Operation[] = []
  let bytes = '[]'.length
  for (const operation of operations) {
    const { name, description } = operation
    const one: Operation = {
      name,
      ...(text && description !== undefined ? { description: description.slice(0, DESCRIPTION_CHARS) } : {}),
      ...(input ? { input: withDefinitions(fieldsOf(operation, definitions).schema, definitions) } : {}),
      ...(output && operation.output !== undefined ? { output: withDefinitions(operation.output, definitions) } : {})
    }
    bytes += utf8(JSON.stringify(one)).byteLength + ','.length
    if (bytes > API_DESCRIPTION_BYTES_MAX) return undefined
    described.push(one)
  }
  return described
}
