import { toHex } from '../../base/hex.ts'
import type { Admission, Payment, Reservation } from '../../interface/payment-scheme.ts'
import { PaidResponses } from './paid-responses.ts'
import { BATCH_SCHEME, isRefund } from './batch-payment.ts'
import { BatchScheme, type BatchSchemeInit } from './batch-scheme.ts'
import { ExactScheme, type ExactSchemeInit } from './exact-scheme.ts'
import type { Offers } from './offers.ts'
import { peekPayment, readPayment } from './payment-text.ts'

export type KeylessInit = Omit<ExactSchemeInit & BatchSchemeInit, 'paidResponses' | 'parameters'>

/** The owner's side of calls by clients without a node: x402 version 2. */
export class Keyless {
  readonly #offers: Offers
  readonly #exact: ExactScheme
  readonly #batch: BatchScheme

  constructor(init: KeylessInit) {
    const { offers, chain, documents, clock } = init
    this.#offers = offers
    this.#exact = new ExactScheme(init)
    const paidResponses = new PaidResponses(documents, init.calls, clock)
    this.#batch = new BatchScheme({ ...init, parameters: chain.parameters, paidResponses })
  }

  async start(): Promise<void> {
    await this.#exact.start()
  }

  stop(): void {
    this.#exact.stop()
  }

  /** True for a refund: it runs no call, so its method and path do not matter. */
  runsNothing(text: string): boolean {
    return isRefund(peekPayment(text))
  }

  /** Admits a call that brings its own payment; never for free. @throws SoukError */
  async admit(admission: Admission, { text, requestHash }: Payment): Promise<Reservation> {
    if (text === '') throw await this.#offers.ask(admission)
    const payload = await readPayment(text)
    const { scheme } = payload.accepted
    if (scheme === BATCH_SCHEME) return this.#batch.admit(admission, toHex(requestHash), payload)
    if (scheme === 'exact' && this.#offers.takesExact(admission)) {
      return this.#exact.admit(admission, toHex(requestHash), payload)
    }
    const detail = 'The payment is rejected: this API does not accept its scheme.'
    throw this.#offers.refuse(admission, { code: 'payment_rejected', reason: 'unsupported_scheme', detail })
  }
}
