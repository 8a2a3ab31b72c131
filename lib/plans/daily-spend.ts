import type { Clock } from '../base/clock.ts'
import { cappedDay } from '../base/capped-day.ts'
import { SoukError } from '../base/errors.ts'
import { leaseSize } from '../base/lease-size.ts'
import { DAY_MS } from '../base/limits/time.ts'
import type { Atoms } from '../base/money.ts'
import { SingleFlight } from '../base/single-flight.ts'
import type { Documents } from '../interface/store.ts'
import { changeDocument } from './change-document.ts'

/** Document collection of a consumer: the leased part of each subscription's daily cap. */
const DAYS = 'subscription-days'

interface Day {
  readonly day: number
  /** Leased by all processes together. */
  readonly leased: Atoms
}

/** One day's lease of this process. */
interface OwnLease {
  readonly day: number
  leased: Atoms
  spent: Atoms
  /** Size of the last lease. */
  size: Atoms
}

/** A permission to spend. Call `end` once. */
export interface Allowed {
  end(charged: Atoms): void
}

/**
 * Enforces the daily cap (UTC) of a subscription. Amounts are taken in leases, which are stored before they are used.
 * A restart does not reset the cap, and processes with the same store share the cap.
 */
export class DailySpend {
  readonly #documents: Documents
  readonly #clock: Pick<Clock, 'now'>
  readonly #own = new Map<string, OwnLease>()
  readonly #leasing = new SingleFlight<string, unknown>()

  constructor(documents: Documents, clock: Pick<Clock, 'now'>) {
    this.#documents = documents
    this.#clock = clock
  }

  /** @throws SoukError `spend_cap_reached` */
  async allow(id: string, cap: Atoms | undefined, amount: Atoms): Promise<Allowed> {
    if (cap === undefined || amount === 0n) return { end() {} }
    for (;;) {
      const own = this.#today(id)
      if (own.spent + amount <= own.leased) {
        own.spent += amount
        return { end: (charged) => void (own.spent -= charged < amount ? amount - charged : 0n) }
      }
      const running = this.#leasing.get(id)
      if (running !== undefined) {
        await running.catch(() => {})
        continue
      }
      await this.#leasing.run(id, () => this.#lease(id, own, cap, own.spent + amount - own.leased))
    }
  }

  /** Returns unspent leases. Call it when nothing more will be spent. */
  async stop(): Promise<void> {
    await Promise.allSettled([...this.#own].map(([id, own]) => this.#giveBack(id, own)))
  }

  #today(id: string) {
    const day = Math.floor(this.#clock.now() / DAY_MS)
    const known = this.#own.get(id)
    if (known !== undefined && cappedDay(known.day, day) === known.day) return known
    const own = { day, leased: 0n, spent: 0n, size: 0n }
    this.#own.set(id, own)
    return own
  }

  async #giveBack(id: string, own: OwnLease): Promise<void> {
    await this.#leasing.get(id)
    const rest = own.leased - own.spent
    if (rest <= 0n) return
    own.leased = own.spent
    await changeDocument(this.#documents, [DAYS, id], (before) => {
      const known = before === undefined ? undefined : readDay(before)
      if (known?.day !== own.day) return undefined
      return JSON.stringify({ day: known.day, leased: String(known.leased - rest) })
    })
  }

  async #lease(id: string, own: OwnLease, cap: Atoms, missing: Atoms): Promise<void> {
    const slice = leaseSize(cap, own.size)
    let taken = 0n
    let isReached = false
    const outcome = await changeDocument(this.#documents, [DAYS, id], (before) => {
      const known = before === undefined ? { day: own.day, leased: 0n } : readDay(before)
      const leased = known.day < own.day ? 0n : known.leased
      const left = cap - leased
      const wanted = missing > slice ? missing : slice
      isReached = left < missing
      taken = isReached ? 0n : wanted < left ? wanted : left
      const day = cappedDay(known.day, own.day)
      // The day of a wrong clock is corrected also if nothing is left, so that the cap is free again tomorrow.
      if (isReached && day === known.day) return undefined
      return JSON.stringify({ day, leased: String(leased + taken) })
    })
    if (isReached) throw capReached(id)
    if (outcome === 'busy')
      throw new SoukError('overloaded', 'Too many calls use this subscription at once. Try again later.')
    own.leased += taken
    own.size = slice
  }
}

function readDay(document: string): Day {
  const { day, leased } = JSON.parse(document) as { day: number; leased: string }
  return { day, leased: BigInt(leased) }
}

function capReached(subscription: string): SoukError {
  return new SoukError('spend_cap_reached', 'The daily cap of the subscription is reached.', {
    members: { subscription }
  })
}
