import type { Clock } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import {
  DAY_MS,
  UNEARNED_GAS_ATOMS_MAX,
  UNEARNED_NAMES_MAX,
  UNEARNED_STEPS_MAX,
  UNEARNED_STEPS_MIN
} from '../../base/limits.ts'
import type { Atoms } from '../../base/money.ts'
import type { Documents } from '../../interface/store.ts'
import type { PayeeChannel } from './payee-channel.ts'

/** Document of an owner: the UTC day, and the sum of that day. */
const COLLECTION = 'unearned-gas'
const KEY = 'today'

export interface UnearnedGasInit {
  readonly documents: Documents
  readonly clock: Pick<Clock, 'now'>
}

/**
 * What an owner gives away in a day: gas for payers whose channels earned less than the gas they cost. The sum of all is
 * durable, so that restarts add nothing to it. The counts of each payer begin anew in a new process.
 */
export class UnearnedGas {
  readonly #init: UnearnedGasInit
  /** By payer's node and by payer's address. */
  readonly #stepsOf = new Map<string, number>()
  #day = 0
  #steps = 0
  #sum: Atoms = 0n

  constructor(init: UnearnedGasInit) {
    this.#init = init
  }

  /** Reads what an earlier process gave away. */
  async start(): Promise<void> {
    const kept = await this.#init.documents.get(COLLECTION, KEY)
    if (kept === undefined) return
    const { day, steps, sum } = JSON.parse(kept) as { day: number; steps: number; sum: string }
    this.#day = day
    this.#steps = steps
    this.#sum = BigInt(sum)
  }

  /**
   * Takes what `cost` is above all that the channel earned. Durable when it resolves.
   * @throws SoukError as `take`
   */
  async takeFor({ info, tab }: PayeeChannel, cost: Atoms, detail: string): Promise<void> {
    const missing = cost - tab.captured
    if (missing <= 0n) return
    const { peer, config } = info
    await this.take(missing, [config.payer, ...(peer === undefined ? [] : [peer])], detail)
  }

  /**
   * Takes `amount` out of today's allowance, for all of these names. Durable when it resolves.
   * @param detail of the error: says what is refused, and what the payer can do
   * @throws SoukError `settlement_unavailable` with the time until the next day
   */
  async take(amount: Atoms, names: readonly string[], detail: string): Promise<void> {
    this.#turn()
    const fresh = names.filter((name) => !this.#stepsOf.has(name)).length
    const isUsedUp =
      (this.#sum + amount > UNEARNED_GAS_ATOMS_MAX && this.#steps >= UNEARNED_STEPS_MIN) ||
      this.#stepsOf.size + fresh > UNEARNED_NAMES_MAX ||
      names.some((name) => (this.#stepsOf.get(name) ?? 0) >= UNEARNED_STEPS_MAX)
    if (isUsedUp) {
      const retryAfterMs = (this.#day + 1) * DAY_MS - this.#init.clock.now()
      throw new SoukError('settlement_unavailable', detail, { source: 'owner', retryAfterMs })
    }
    for (const name of names) this.#stepsOf.set(name, (this.#stepsOf.get(name) ?? 0) + 1)
    this.#steps++
    this.#sum += amount
    const value = JSON.stringify({ day: this.#day, steps: this.#steps, sum: this.#sum.toString() })
    await this.#init.documents.put(COLLECTION, KEY, value)
  }

  /** A clock that was put back begins no new day. */
  #turn(): void {
    const day = Math.floor(this.#init.clock.now() / DAY_MS)
    if (day <= this.#day) return
    this.#day = day
    this.#steps = 0
    this.#sum = 0n
    this.#stepsOf.clear()
  }
}
