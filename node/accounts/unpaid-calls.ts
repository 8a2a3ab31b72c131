import { limits, type SoukError } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import type { Events } from '../events/events.ts'
import type { Log } from '../log.ts'

export interface UnpaidCallsInit {
  readonly clock: Pick<Clock, 'elapsed'>
  readonly log: Pick<Log, 'warn'>
  readonly events?: Pick<Events, 'emit'>
}

/**
 * Warns the operator when this node cannot pay for calls of accounts. Each reason is logged at once, then at most once per wallet check
 * interval.
 */
export class UnpaidCalls {
  readonly #init: UnpaidCallsInit
  /** By error code, on the clock’s `elapsed`. */
  readonly #toldAt = new Map<string, number>()

  constructor(init: UnpaidCallsInit) {
    this.#init = init
  }

  tell({ code, message: detail }: SoukError): void {
    const { clock, log, events } = this.#init
    const now = clock.elapsed()
    if (now - (this.#toldAt.get(code) ?? -Infinity) < limits.MONEY_LOOK_MS) return
    this.#toldAt.set(code, now)
    log.warn('calls of prepaid accounts are refused: this node cannot pay for them', { code, detail })
    void events?.emit('wallet.cannot_pay', { code, detail })
  }
}
