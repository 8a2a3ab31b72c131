import { cappedDay } from '../../base/capped-day.ts'
import type { Clock } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import {
  UNEARNED_GAS_ATOMS_MAX,
  UNEARNED_NAMES_MAX,
  UNEARNED_STEPS_MAX,
  UNEARNED_STEPS_MIN
} from '../../base/limits/chain.ts'
import { DAY_MS } from '../../base/limits/time.ts'
import type { Atoms } from '../../base/money.ts'
import type { Documents } from '../../interface/store.ts'
import type { PayeeChannel } from './payee-channel.ts'

/** Gives back what was taken, for a transaction that was never sent. Durable when it resolves. */
export type GiveBack = () => Promise<void>

/** The owner's document with the UTC day and the sum of that day. */
const COLLECTION = 'unearned-gas'
const KEY = 'today'

export interface UnearnedGasInit {
  readonly documents: Documents
  readonly clock: Pick<Clock, 'now'>
}

/**
 * The owner's daily allowance of gas for payers whose channels earned less than their gas cost. The daily sum is durable, so a
 * restart does not reset it. The counts per payer restart with the process.
 */
export class UnearnedGas {
  readonly #init: UnearnedGasInit
  /** Keyed by the payer's node and by the payer's address. */
  readonly #stepsOf = new Map<string, number>()
  #day = 0
  #steps = 0
  #sum: Atoms = 0n

  constructor(init: UnearnedGasInit) {
    this.#init = init
  }

  /** Reads the sum of an earlier process. */
  async start(): Promise<void> {
    const kept = await this.#init.documents.get(COLLECTION, KEY)
    if (kept === undefined) return
    const { day, steps, sum } = JSON.parse(kept) as { day: number; steps: number; sum: string }
    this.#day = day
    this.#steps = steps
    this.#sum = BigInt(sum)
  }

  /**
   * Takes the part of `cost` that exceeds the channel's total earnings. Durable when it resolves.
   * @throws SoukError as `take`
   */
  async takeFor({ info, payeeFunds }: PayeeChannel, cost: Atoms, detail: string): Promise<GiveBack> {
    const missing = cost - payeeFunds.captured
    if (missing <= 0n) return async () => {}
    const { peer, config } = info
    return this.take(missing, [config.payer, ...(peer === undefined ? [] : [peer])], detail)
  }

  /**
   * Takes `amount` from today's allowance, counted for all of these names. Durable when it resolves.
   * @param detail of the error: the refused step, and what the payer can do
   * @throws SoukError `settlement_unavailable` with the time until the next day
   */
  async take(amount: Atoms, names: readonly string[], detail: string): Promise<GiveBack> {
    this.#turn()
    const day = this.#day
    const fresh = names.filter((name) => !this.#stepsOf.has(name)).length
    const isUsedUp =
      (this.#sum + amount > UNEARNED_GAS_ATOMS_MAX && this.#steps >= UNEARNED_STEPS_MIN) ||
      this.#stepsOf.size + fresh > UNEARNED_NAMES_MAX ||
      names.some((name) => (this.#stepsOf.get(name) ?? 0) >= UNEARNED_STEPS_MAX)
    if (isUsedUp) {
      const retryAfterMs = (this.#day + 1) * DAY_MS - this.#init.clock.now()
      throw new SoukError('settlement_unavailable', detail, { source: 'owner', retryAfterMs })
    }
    await this.#add(1, amount, names)
    return async () => {
      this.#turn()
      if (this.#day === day) await this.#add(-1, -amount, names)
    }
  }

  async #add(steps: 1 | -1, amount: Atoms, names: readonly string[]): Promise<void> {
    for (const name of names) {
      const counted = (this.#stepsOf.get(name) ?? 0) + steps
      if (counted === 0) this.#stepsOf.delete(name)
      else this.#stepsOf.set(name, counted)
    }
    this.#steps += steps
    this.#sum += amount
    const value = JSON.stringify({ day: this.#day, steps: this.#steps, sum: this.#sum.toString() })
    await this.#init.documents.put(COLLECTION, KEY, value)
  }

  #turn(): void {
    const before = this.#day
    this.#day = cappedDay(before, Math.floor(this.#init.clock.now() / DAY_MS))
    if (this.#day <= before) return
    this.#steps = 0
    this.#sum = 0n
    this.#stepsOf.clear()
  }
}
