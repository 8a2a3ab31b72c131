import { SoukError } from '../../../lib/base/errors.ts'
import type { JsonObject } from './encoding.ts'
import type { SoapOperation } from './operation.ts'

/** How many operation names an error lists. */
const HINTS = 10

export interface Selected {
  /** The consumer's name for the operation. */
  readonly name: string
  readonly operation: SoapOperation
  readonly parameters: JsonObject
}

/**
 * Splits a call into its operation and the parameters. `operation` is the name. If several ports have an operation with that
 * name, `port` or `service` selects one, or the name is written `port.operation`. A parameter called `operation` is given as
 * `$operation`.
 *
 * @throws SoukError `invalid_request`, `operation_not_found`
 */
export function selectOperation(operations: ReadonlyMap<string, SoapOperation>, call: JsonObject): Selected {
  const { operation: name, $operation: escaped, ...rest } = call
  if (typeof name !== 'string' || name === '') {
    throw new SoukError(
      'invalid_request',
      `$.operation is required: the name of a SOAP operation. ${available(operations)}`
    )
  }
  const parameters: { [name: string]: unknown } = rest
  if (Object.hasOwn(call, '$operation')) parameters.operation = escaped
  const exact = operations.get(name)
  if (exact !== undefined) return { name, operation: exact, parameters }
  const candidates = [...operations].filter(([, operation]) => operation.name === name)
  if (candidates.length === 0) {
    throw new SoukError(
      'operation_not_found',
      `The API has no operation ${JSON.stringify(name.slice(0, 80))}. ${available(operations)}`
    )
  }
  const { port, service, ...others } = parameters
  const chosen = candidates.filter(
    ([, one]) => (port === undefined || one.port === port) && (service === undefined || one.service === service)
  )
  const [only] = chosen
  if (only === undefined || chosen.length > 1) {
    const names = candidates
      .map(([key]) => key)
      .slice(0, HINTS)
      .join(', ')
    throw new SoukError('invalid_request', `Several ports have the operation ${name}. Call one of ${names}.`)
  }
  const [key, operation] = only
  return { name: key, operation, parameters: others }
}

function available(operations: ReadonlyMap<string, SoapOperation>): string {
  const names = [...operations.keys()]
  const more = names.length > HINTS ? ` and ${names.length - HINTS} more` : ''
  return `Available: ${names.slice(0, HINTS).join(', ')}${more}.`
}
