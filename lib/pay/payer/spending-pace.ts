import { DEPOSIT_SETTLES_MS } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'

const HALF_MS = DEPOSIT_SETTLES_MS / 2

/** What a channel spent lately: in the last half of `DEPOSIT_SETTLES_MS`, and so far in the current one. */
export class SpendingPace {
  #since = -Infinity
  #from: Atoms = 0n
  #last: Atoms = 0n

  /**
   * @param spent the channel's total
   * @param now on the monotonic clock
   */
  recent(spent: Atoms, now: number): Atoms {
    const elapsedMs = now - this.#since
    if (elapsedMs >= HALF_MS) {
      this.#last = elapsedMs < DEPOSIT_SETTLES_MS ? spent - this.#from : 0n
      this.#from = spent
      this.#since = now
    }
    return this.#last + spent - this.#from
  }
}
