import type { Hex } from '../../base/hex.ts'
import { PAYMENT_REPLAY_MS } from '../../base/limits/pay.ts'
import type { Documents } from '../../interface/store.ts'
import { type ExactPayment, nameOf } from './exact-payment.ts'

/** Collection of the owners that took a payment, by payer and nonce. */
const HOLDERS = 'x402-exact-holders'

/** The owner that took a payment, and the request that it pays for. */
export interface PaymentHolder {
  /** Peer id. */
  readonly holder: string
  readonly requestHash: Hex
}

export interface PaymentHoldersInit {
  /** The documents that all owners of the same APIs share. */
  readonly shared: Documents
  /** Peer id of this owner. */
  readonly self: string
}

/** The payments that owners with one shared store took. Without it, each owner of an API would serve a call for the same payment. */
export class PaymentHolders {
  readonly #init: PaymentHoldersInit

  constructor(init: PaymentHoldersInit) {
    this.#init = init
  }

  /**
   * Takes a payment for this owner. Resolves to undefined when that is durable, or to the other owner that has it. An owner that
   * was killed during the call may take it again.
   */
  async take(payment: ExactPayment, requestHash: Hex): Promise<PaymentHolder | undefined> {
    const { shared, self } = this.#init
    const value = JSON.stringify({ holder: self, requestHash } satisfies PaymentHolder)
    for (;;) {
      if (await shared.insert(HOLDERS, nameOf(payment), value, expiryOf(payment))) return undefined
      const stored = await shared.get(HOLDERS, nameOf(payment))
      if (stored === undefined) continue
      const known = JSON.parse(stored) as PaymentHolder
      return known.holder === self ? undefined : known
    }
  }

  /** The call failed: any owner may take the payment. */
  async free(payment: ExactPayment): Promise<void> {
    await this.#init.shared.delete(HOLDERS, nameOf(payment))
  }
}

/** Until then, an owner counts the transfer of the payment. A payment can be valid for ever. */
function expiryOf({ validBefore }: ExactPayment): number | undefined {
  const at = validBefore * 1_000n + BigInt(PAYMENT_REPLAY_MS)
  return at > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(at)
}
