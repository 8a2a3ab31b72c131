import type { ApiDescription, Operation } from '../../lib/interface/adapter.ts'
import { API_DESCRIPTION_BYTES_MAX } from '../../lib/base/limits/descriptions.ts'
import { DESCRIPTION_CHARS_MAX } from '../../lib/base/limits/names.ts'
import { SchemaTooLarge, SchemaWriter } from './mapping/json-schema.ts'
import type { SoapService } from './service.ts'

type Parts = { readonly input: boolean; readonly output: boolean; readonly text: boolean }

/** The parts to omit, in order, when a description is too large. The input is kept longest, because consumers need it first. */
const STEPS: ReadonlyArray<Parts & { readonly warning: string }> = [
  { input: true, output: true, text: true, warning: '' },
  { input: true, output: false, text: true, warning: 'it omits the schemas of responses' },
  { input: false, output: false, text: true, warning: 'it omits JSON Schemas' },
  { input: false, output: false, text: false, warning: 'it omits JSON Schemas and descriptions' }
]

/** The operations for the manifest, as complete as `API_DESCRIPTION_BYTES_MAX` allows. */
export function describe(service: SoapService): { readonly api: ApiDescription; readonly warning: string | undefined } {
  for (const step of STEPS) {
    const operations = operationsWithin(service, step)
    if (operations === undefined) continue
    const warning = step.warning === '' ? undefined : `The description is too large for a manifest: ${step.warning}.`
    return { api: { operations }, warning }
  }
  return { api: { operations: [] }, warning: 'There are too many operations for a manifest, so it describes none.' }
}

/** Undefined as soon as the operations are too large. */
function operationsWithin(service: SoapService, parts: Parts): Operation[] | undefined {
  const operations: Operation[] = []
  let bytes = 0
  for (const name of service.operations.keys()) {
    const operation = operationOf(service, name, parts, API_DESCRIPTION_BYTES_MAX - bytes)
    if (operation === undefined) return undefined
    bytes += Buffer.byteLength(JSON.stringify(operation)) + 1
    if (bytes > API_DESCRIPTION_BYTES_MAX) return undefined
    operations.push(operation)
  }
  return operations
}

/** Undefined if the operation is larger than `bytesMax`. */
function operationOf(service: SoapService, name: string, parts: Parts, bytesMax: number): Operation | undefined {
  try {
    return described(service, name, parts, bytesMax)
  } catch (error) {
    if (error instanceof SchemaTooLarge) return undefined
    throw error
  }
}

function described(
  { operations, types, mapping }: SoapService,
  name: string,
  parts: Parts,
  bytesMax: number
): Operation {
  const mapped = mapping.get(name)
  const operation = operations.get(name)
  const text = operation?.documentation?.slice(0, DESCRIPTION_CHARS_MAX)
  if (operation === undefined) return { name }
  const { input, output } = operation
  return {
    name,
    ...(parts.text && text !== undefined ? { description: text } : {}),
    ...(parts.input ? { input: new SchemaWriter('input', types, bytesMax).request(input(), name, mapped?.input) } : {}),
    ...(parts.output && output !== undefined
      ? { output: new SchemaWriter('output', types, bytesMax).response(output(), mapped?.output) }
      : {})
  }
}
