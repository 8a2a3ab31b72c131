import { cappedDay } from '../../base/capped-day.ts'
import type { Clock } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { CONTRACT_PAYMENTS_MAX } from '../../base/limits/pay.ts'
import { DAY_MS } from '../../base/limits/time.ts'

/**
 * Payments and deposits from accounts with code, until they are collected. The code can accept a signature in each simulation and
 * refuse it in the transaction: that costs this node gas, perhaps a call, and the payer nothing. So few may be open or fail in a day.
 */
export class ContractPayments {
  readonly #clock: Pick<Clock, 'now'>
  readonly #names = new Set<string>()
  #day = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** Counts a payment until `giveBack`, at most until the next UTC day. @throws SoukError `settlement_unavailable` */
  take(name: string): void {
    const now = this.#clock.now()
    const day = cappedDay(this.#day, Math.floor(now / DAY_MS))
    if (day > this.#day) this.#names.clear()
    this.#day = day
    if (!this.#names.has(name) && this.#names.size < CONTRACT_PAYMENTS_MAX) return void this.#names.add(name)
    const retryAfterMs = (day + 1) * DAY_MS - now
    throw new SoukError('settlement_unavailable', USED_UP, { retryAfterMs })
  }

  /** The payment was collected, or no transaction was sent for it. */
  giveBack(name: string): void {
    this.#names.delete(name)
  }
}

const USED_UP =
  'Too many payments of smart wallets failed at this node today, or wait for the chain. ' +
  'Pay from an account without code, or try again later.'
