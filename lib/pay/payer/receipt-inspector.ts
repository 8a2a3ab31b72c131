import type { Clock, Timer } from '../../base/clock.ts'
import { RECEIPTS_CHECK_MS, RECEIPTS_CHECKED_MAX } from '../../base/limits.ts'
import type { PayerChannel } from './payer-channel.ts'
import type { Receipt, ReceiptCheck } from '../signing/receipt.ts'

export interface ReceiptInspectorInit {
  readonly check: ReceiptCheck
  readonly clock: Pick<Clock, 'after'>
  /** An owner gave a receipt that it did not sign. */
  readonly onForged: (channel: PayerChannel) => void
}

/**
 * Checks the signatures of receipts behind the calls: all of them while there are few, and of a busy owner's the last so many.
 * A receipt is kept whether it was looked at or not; what an owner could gain by a false one is the proof of that one call,
 * and it does not know which of them are looked at.
 */
export class ReceiptInspector {
  readonly #init: ReceiptInspectorInit
  #waiting: Array<readonly [Receipt, PayerChannel]> = []
  #next = 0
  #timer: Timer | undefined

  constructor(init: ReceiptInspectorInit) {
    this.#init = init
  }

  look(receipt: Receipt, channel: PayerChannel): void {
    // A ring: under load the older ones make room.
    this.#waiting[this.#next++ % RECEIPTS_CHECKED_MAX] = [receipt, channel]
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
    for (const [receipt, channel] of waiting) {
      if (!check.isSigned(receipt, channel.info.config.receiverAuthorizer)) onForged(channel)
    }
  }
}
