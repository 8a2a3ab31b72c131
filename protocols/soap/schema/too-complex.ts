import { SoukError } from '../../../lib/base/errors.ts'
import { SCHEMA_DERIVATIONS_MAX } from '../../../lib/base/limits/soap.ts'

export function tooDeep(): SoukError {
  return tooLarge(`The types or groups of the WSDL are derived or nested in more than ${SCHEMA_DERIVATIONS_MAX} steps.`)
}

export function tooLarge(detail: string): SoukError {
  return new SoukError('description_too_complex', detail)
}
