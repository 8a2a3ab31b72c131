import type { ApiDescription, JsonSchema, Operation } from '../../lib/interface/adapter.ts'
import { INLINE_DESCRIPTION_BYTES_MAX, LISTING_DESCRIPTION_BYTES_MAX } from '../../lib/base/limits/descriptions.ts'
import { DESCRIPTION_CHARS_MAX } from '../../lib/base/limits/names.ts'
import { SchemaTooLarge, SchemaWriter } from './mapping/json-schema.ts'
import type { SoapService } from './service.ts'

export interface Described {
  readonly api: ApiDescription
  readonly warning: string | undefined
}

/** The published description: each operation complete in itself where all of them are small, else with shared definitions. */
export function describe(service: SoapService): Described {
  const operations = completeOperations(service)
  return operations === undefined ? sharedDescription(service) : { api: { operations }, warning: undefined }
}

/** Undefined as soon as the operations are too large: each copies the types that it refers to. */
function completeOperations(service: SoapService): Operation[] | undefined {
  const operations: Operation[] = []
  let bytes = 0
  try {
    for (const name of service.operations.keys()) {
      const writer = (direction: 'input' | 'output') =>
        new SchemaWriter(direction, service.types, INLINE_DESCRIPTION_BYTES_MAX)
      const operation = described(service, name, writer('input'), writer('output'))
      bytes += Buffer.byteLength(JSON.stringify(operation))
      if (bytes > INLINE_DESCRIPTION_BYTES_MAX) return undefined
      operations.push(operation)
    }
  } catch (error) {
    if (error instanceof SchemaTooLarge) return undefined
    throw error
  }
  return operations
}

/** One writer per direction, so that each type is written once. Requests and responses differ in form. */
function sharedDescription(service: SoapService): Described {
  const charsMax = LISTING_DESCRIPTION_BYTES_MAX / 2
  const definitions = new Map<string, JsonSchema>()
  const input = new SchemaWriter('input', service.types, charsMax, definitions)
  const output = new SchemaWriter('output', service.types, charsMax, definitions)
  const names = [...service.operations.keys()]
  let missing = 0
  const operations = names.map((name) => {
    try {
      return described(service, name, input, output)
    } catch (error) {
      if (!(error instanceof SchemaTooLarge)) throw error
      missing++
      return { name }
    }
  })
  const warning =
    missing === 0 ? undefined : `The types are too large to be published in full: ${missing} operations have no schema.`
  return { api: { operations, definitions: Object.fromEntries(definitions) }, warning }
}

function described(
  { operations, mapping }: SoapService,
  name: string,
  inputs: SchemaWriter,
  outputs: SchemaWriter
): Operation {
  const mapped = mapping.get(name)
  const operation = operations.get(name)
  if (operation === undefined) return { name }
  const { input, output, documentation } = operation
  return {
    name,
    ...(documentation === undefined ? {} : { description: documentation.slice(0, DESCRIPTION_CHARS_MAX) }),
    input: inputs.request(input(), name, mapped?.input),
    ...(output === undefined ? {} : { output: outputs.response(output(), mapped?.output) })
  }
}
