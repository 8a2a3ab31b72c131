import { toHex } from '../../base/hex.ts'
import type { Admission, Payment, Reservation } from '../../interface/till.ts'
import { Answers } from './answers.ts'
import { BatchTill, type BatchTillInit } from './batch-till.ts'
import { ExactTill, type ExactTillInit } from './exact-till.ts'
import type { Offers } from './offers.ts'
import { readPayment } from './payment-text.ts'

export type KeylessInit = Omit<ExactTillInit & BatchTillInit, 'answers' | 'parameters'>

/** The owner's side of calls by clients without a node: x402 version 2. */
export class Keyless {
  readonly #offers: Offers
  readonly #exact: ExactTill
  readonly #batch: BatchTill

  constructor(init: KeylessInit) {
    const { offers, chain, documents, clock } = init
    this.#offers = offers
    this.#exact = new ExactTill(init)
    const answers = new Answers(documents, init.calls, clock)
    this.#batch = new BatchTill({ ...init, parameters: chain.parameters, answers })
  }

  async start(): Promise<void> {
    await this.#exact.start()
  }

  stop(): void {
    this.#exact.stop()
  }

  /** Admits a call that brings its own payment; never for free. @throws SoukError */
  async admit(admission: Admission, { text, requestHash }: Payment): Promise<Reservation> {
    if (text === '') throw this.#offers.ask(admission)
    const payload = await readPayment(text)
    const { scheme } = payload.accepted
    if (scheme === 'batch-settlement') return this.#batch.admit(admission, toHex(requestHash), payload)
    if (scheme === 'exact' && this.#offers.takesExact(admission)) {
      return this.#exact.admit(admission, toHex(requestHash), payload)
    }
    const detail = 'The payment is rejected: this API does not accept its scheme.'
    throw this.#offers.refuse(admission, { code: 'payment_rejected', reason: 'unsupported_scheme', detail })
  }
}
