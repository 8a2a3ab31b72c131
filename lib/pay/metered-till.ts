import { EMPTY_BYTES } from '../base/bytes.ts'
import { SoukError } from '../base/errors.ts'
import { formatUsdc } from '../base/money.ts'
import type { CallLog, CallOutcome } from '../interface/store.ts'
import type { Admission, Outcome, Reservation, Settled, Till } from '../interface/till.ts'

/**
 * The honest till of free APIs and private networks: every call is recorded with what it is worth, and nobody pays. It
 * sends nothing along with a call, lets every call in, charges 0 and signs no receipts.
 */
export function createMeteredTill({ log }: { readonly log: Pick<CallLog, 'append'> }): Till {
  return {
    scheme: 'metered',
    movesMoney: false,
    /** @throws SoukError `price_exceeds_limit`: a limit is kept although nothing is paid, as it would be under any till. */
    async authorise({ price, maxPrice }) {
      if (maxPrice === undefined || price <= maxPrice) return undefined
      const [asked, limit] = [formatUsdc(price), formatUsdc(maxPrice)]
      throw new SoukError('price_exceeds_limit', `A call costs ${asked} USDC, your limit is ${limit} USDC.`)
    },
    accept() {},
    fail: () => false,
    admit: (admission) => meteredReservation(log, admission)
  }
}

function meteredReservation(log: Pick<CallLog, 'append'>, admission: Admission): Reservation {
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
