import type { CallLog } from '../interface/store.ts'
import type { Till } from '../interface/till.ts'
import { checkPrice } from '../base/check-price.ts'
import { unpaidReservation } from './payee/unpaid-reservation.ts'

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
      checkPrice(price, maxPrice)
      return undefined
    },
    accept() {},
    fail: () => false,
    admit: (admission) => unpaidReservation(log, admission)
  }
}
