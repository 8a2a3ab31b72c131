import { utf8 } from '../../../lib/base/bytes.ts'
import { API_DESCRIPTION_BYTES_MAX } from '../../../lib/base/limits/descriptions.ts'
import type { ApiDescription, Operation } from '../../../lib/interface/adapter.ts'
import { fieldsOf, withDefinitions } from './openapi-fields.ts'
import type { RestApi } from './rest-api.ts'

const DESCRIPTION_CHARS = 300

interface Parts {
  readonly input: boolean
  readonly output: boolean
  readonly text: boolean
}

/** The parts to omit, in order, when a description is too large. The input is kept longest, because consumers need it first. */
const STAGES: ReadonlyArray<readonly [lost: string, parts: Parts]> = [
  ['', { input: true, output: true, text: true }],
  ['the schemas of responses', { input: true, output: false, text: true }],
  ['all schemas', { input: false, output: false, text: true }],
  ['all schemas and descriptions', { input: false, output: false, text: false }]
]

/**
 * The published description of a document, which may be larger than a manifest. The least informative parts are removed first;
 * calls do not need them.
 */
export function describeOpenapi(api: RestApi): { description: ApiDescription; warnings: string[] } {
  for (const [lost, parts] of STAGES) {
    const operations = operationsWithin(api, parts)
    if (operations === undefined) continue
    const warnings =
      lost === '' ? [] : [`The document is too large to be published in full, so ${lost} had to be omitted.`]
    return { description: { operations }, warnings }
  }
  return { description: { operations: [] }, warnings: ['The document is too large to be published at all.'] }
}

/**
 * Undefined as soon as they are too large. Each operation copies the definitions that it refers to, which may be the whole
 * document.
 */
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
      ...(input ? { input: withDefinitions(fieldsOf(operation, definitions).schema, definitions, 'readOnly') } : {}),
      ...(output && operation.output !== undefined
        ? { output: withDefinitions(operation.output, definitions, 'writeOnly') }
        : {})
    }
    bytes += utf8(JSON.stringify(one)).byteLength + ','.length
    if (bytes > API_DESCRIPTION_BYTES_MAX) return undefined
    described.push(one)
  }
  return described
}
