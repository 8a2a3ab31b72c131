import { SoukError } from './errors.ts'

/** The refusal of a value that is wrong in itself, not only unknown here: the member `invalid` names it, as for a schema. */
export function malformed(field: string, message: string, cause?: unknown): SoukError {
  return new SoukError('invalid_request', message, { members: { invalid: [{ field, message }] }, cause })
}
