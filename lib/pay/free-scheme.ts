import { SoukError } from '../base/errors.ts'
import type { PaymentScheme, PaymentSchemeComponents } from '../interface/payment-scheme.ts'
import { checkPrice } from '../base/check-price.ts'
import { unpaidReservation } from './payee/unpaid-reservation.ts'

/**
 * The payment scheme of a node that can neither pay nor be paid yet. Free calls work; priced calls are refused on both sides.
 * @param why detail of the error for a priced call from here: the reason and the remedy
 *
 * @example
 * ```ts
 * import { createFreeScheme, createNode, handler } from 'souk'
 *
 * const node = await createNode({ paymentScheme: createFreeScheme('This node has no wallet.') })
 * await node.start()
 * await node.souk.serve({ name: 'ping', price: '0' }, handler(() => 'pong'))
 * const reply = await node.souk.call({ api: 'ping', body: {} })
 * console.log(await reply.json(), reply.charged) // pong 0n
 * await node.stop()
 * ```
 */
export function createFreeScheme(
  why: string
): (components: Pick<PaymentSchemeComponents, 'calls' | 'link'>) => PaymentScheme {
  return ({ calls, link }) => ({
    scheme: 'free',
    movesMoney: false,
    /** @throws SoukError `price_exceeds_limit`, `settlement_unavailable` */
    authorise({ price, maxPrice, owner }) {
      checkPrice(price, maxPrice)
      if (price > 0n && owner !== link.self) throw new SoukError('settlement_unavailable', why)
      return undefined
    },
    accept() {},
    fail: () => false,
    /** @throws SoukError `settlement_unavailable` */
    admit(admission) {
      if (admission.price === 0n || admission.peer === link.self) return unpaidReservation(calls, admission)
      const detail = 'The owner cannot be paid at the moment.'
      throw new SoukError('settlement_unavailable', detail, { source: 'owner', notAccepted: true })
    }
  })
}
