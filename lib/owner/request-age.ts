import { SoukError } from '../base/errors.ts'
import { REQUEST_AGE_MS_MAX, REQUEST_ID_AHEAD_MS } from '../base/limits/store.ts'
import { madeAt } from '../base/request-id.ts'
import type { IncomingCall } from '../interface/call.ts'

/**
 * Call records are kept for a limited time. A call with an older id is never run, because the record of an earlier
 * attempt may be deleted. Another owner may run a call that is sent for the first time: this one's clock may be wrong.
 * @throws SoukError `request_expired`, `invalid_request`
 */
export function checkAge({ requestId, resentFromEpoch }: IncomingCall, now: number): void {
  const age = now - madeAt(requestId)
  const notAccepted = resentFromEpoch === undefined
  if (age > REQUEST_AGE_MS_MAX) {
    const detail =
      'The request id is too old. For a new call, the clock of the consumer node or of this owner is wrong.'
    throw new SoukError('request_expired', detail, { notAccepted })
  }
  if (age < -REQUEST_ID_AHEAD_MS) {
    const detail = 'The request id is from the future. The clock of the consumer node or of this owner is wrong.'
    throw new SoukError('invalid_request', detail, { notAccepted })
  }
}
