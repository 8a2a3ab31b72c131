import { EMPTY_BYTES } from '../../base/bytes.ts'
import { SoukError } from '../../base/errors.ts'
import type { CallLog, CallOutcome } from '../../interface/store.ts'
import type { Admission, Outcome, Reservation, Settled } from '../../interface/till.ts'
import { recordOf } from './call-entry.ts'

/** Lets a call in that nobody pays for: it is recorded, charged 0, and no receipt is signed. */
export function unpaidReservation(log: Pick<CallLog, 'append'>, admission: Admission): Reservation {
  let isSettled = false
  const settle = (outcome: CallOutcome, rest: Outcome): Promise<Settled> => {
    if (isSettled) throw new SoukError('internal_error', 'The call was settled before.')
    isSettled = true
    return log.append(recordOf(admission, rest, outcome, 0n)).then(() => ({ charged: 0n, receipt: EMPTY_BYTES }))
  }
  return {
    capture: (rest) => settle('captured', rest),
    release: (rest) => settle('void', rest)
  }
}
