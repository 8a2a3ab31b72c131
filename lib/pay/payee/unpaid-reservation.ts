import { EMPTY_BYTES } from '../../base/bytes.ts'
import { SoukError } from '../../base/errors.ts'
import type { CallLog, CallOutcome } from '../../interface/store.ts'
import type { DocumentPut } from '../../interface/ledger.ts'
import type { Admission, Outcome, Reservation, Settled } from '../../interface/payment-scheme.ts'
import { recordOf } from './call-entry.ts'

const UNPAID: Settled = { charged: 0n, receipt: EMPTY_BYTES }
const unpaid = () => UNPAID

/** Admits a call without payment: it is recorded, charges 0 and gets no receipt. */
export function unpaidReservation(log: Pick<CallLog, 'append'>, admission: Admission): Reservation {
  let isSettled = false
  const settle = (outcome: CallOutcome, rest: Outcome, alongside?: () => readonly DocumentPut[]): Promise<Settled> => {
    if (isSettled) throw new SoukError('internal_error', 'The call is already settled.')
    isSettled = true
    const effects = alongside === undefined ? undefined : { documents: alongside() }
    return log.append(recordOf(admission, rest, outcome, 0n), effects).then(unpaid)
  }
  return {
    capture: (rest, _, alongside) => settle('captured', rest, alongside),
    release: (rest) => settle('void', rest)
  }
}
