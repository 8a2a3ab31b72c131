import type { CallLog } from '../interface/store.ts'
import type { PaymentScheme } from '../interface/payment-scheme.ts'
import { checkPrice } from '../base/check-price.ts'
import { unpaidReservation } from './payee/unpaid-reservation.ts'

/**
 * The payment scheme of free APIs and private networks. It records each call with its price, but sends no authorisation, admits
 * every call, charges 0 and signs no receipts.
 */
export function createMeteredScheme({ log }: { readonly log: Pick<CallLog, 'append'> }): PaymentScheme {
  return {
    scheme: 'metered',
    movesMoney: false,
    /** @throws SoukError `price_exceeds_limit`: a price limit applies under every payment scheme, even without payment. */
    authorise({ price, maxPrice }) {
      checkPrice(price, maxPrice)
      return undefined
    },
    accept() {},
    fail: () => false,
    admit: (admission) => unpaidReservation(log, admission)
  }
}
