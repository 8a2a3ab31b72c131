import { EMPTY_BYTES } from '../../base/bytes.ts'
import { SoukError } from '../../base/errors.ts'
import type { CallLog, CallOutcome } from '../../interface/store.ts'
import type { Admission, Outcome, Reservation, Settled } from '../../interface/till.ts'

/** Lets a call in that nobody pays for: it is recorded, charged 0, and no receipt is signed. */
export function unpaidReservation(log: Pick<CallLog, 'append'>, admission: Admission): Reservation {
  const { requestId, api, peer, revision, price } = admission
  let isSettled = false
  const settle = (outcome: CallOutcome, rest: Outcome): Promise<Settled> => {
    if (isSettled) throw new SoukError('internal_error', 'The call was settled before.')
    isSettled = true
    const record = { ...rest, requestId, api, peer, revision, price, outcome, charged: 0n }
    return log.append(record).then(() => ({ charged: 0n, receipt: EMPTY_BYTES }))
  }
  return {
    capture: (rest) => settle('captured', rest),
    release: (rest) => settle('void', rest)
  }
}
