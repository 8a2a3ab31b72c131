import type { Clock, Timer } from '../../base/clock.ts'
import { RECEIPTS_CHECK_MS, RECEIPTS_CHECKED_MAX } from '../../base/limits/pay.ts'
import type { PayerChannel } from './payer-channel.ts'
import type { Expected } from './receipt-fault.ts'
import type { Receipt, ReceiptCheck } from '../signing/receipt.ts'

export interface ReceiptInspectorInit {
  readonly check: ReceiptCheck
  readonly clock: Pick<Clock, 'after'>
  /** Called for a receipt that the owner did not sign. */
  readonly onForged: (channel: PayerChannel, expected: Expected) => void
}

interface Waiting {
  readonly receipt: Receipt
  readonly channel: PayerChannel
  readonly expected: Expected
}

/**
 * Checks the signatures of receipts in the background: all of them at low load, only the newest at high load. Every receipt is
 * stored, checked or not. A forged receipt only spoils the proof of that one call, and the owner cannot know which receipts are
 * checked.
 */
export class ReceiptInspector {
  readonly #init: ReceiptInspectorInit
  #waiting: Waiting[] = []
  #next = 0
  #timer: Timer | undefined

  constructor(init: ReceiptInspectorInit) {
    this.#init = init
  }

  look(receipt: Receipt, channel: PayerChannel, expected: Expected): void {
    // A ring buffer: under load, newer receipts replace older ones.
    this.#waiting[this.#next++ % RECEIPTS_CHECKED_MAX] = { receipt, channel, expected }
    this.#timer ??= this.#init.clock.after(RECEIPTS_CHECK_MS, () => this.#inspect())
  }

  stop(): void {
    this.#timer?.cancel()
    this.#inspect()
  }

  #inspect(): void {
    const { check, onForged } = this.#init
    const waiting = this.#waiting
    this.#waiting = []
    this.#next = 0
    this.#timer = undefined
    for (const { receipt, channel, expected } of waiting) {
      if (!check.isSigned(receipt, channel.info.config.receiverAuthorizer)) onForged(channel, expected)
    }
  }
}
