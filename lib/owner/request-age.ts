import { SoukError } from '../base/errors.ts'
import { REQUEST_AGE_MS_MAX, REQUEST_ID_AHEAD_MS } from '../base/limits/store.ts'
import { madeAt } from '../base/request-id.ts'

/**
 * Call records are kept for a limited time. A call with an older id is never run, because the record of an earlier
 * attempt may be deleted.
 * @throws SoukError `request_expired`, `invalid_request`
 */
export function checkAge(requestId: Uint8Array, now: number): void {
  const age = now - madeAt(requestId)
  if (age > REQUEST_AGE_MS_MAX) {
    throw new SoukError(
      'request_expired',
      'The request id is too old. For a new call, check the clock of the consumer node.'
    )
  }
  if (age < -REQUEST_ID_AHEAD_MS) {
    throw new SoukError('invalid_request', 'The request id is from the future. Check the clock of the consumer node.')
  }
}
