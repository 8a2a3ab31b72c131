import { REFUSED_ROW_MS } from '../../base/limits/chain.ts'
import type { Clock } from '../../base/clock.ts'
import type { Chain, Simulation } from '../../interface/chain.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { Redemption } from '../../interface/redeem.ts'
import type { Address } from '../../interface/signer.ts'
import type { Claimable } from './claimable.ts'
import type { SettlementCalls } from '../chain/settlement-calls.ts'

export interface ClaimSimulationInit {
  readonly chain: Chain
  readonly calls: SettlementCalls
  readonly clock: Clock
  readonly claimer: Address
}

/** Simulations left in a round. */
export interface Budget {
  left: number
}

/** Finds the rows that the contract would reject, because one of them fails the whole claim. */
export class ClaimSimulation {
  readonly #init: ClaimSimulationInit
  readonly #refused = new Map<ChannelId, { readonly reason: string; readonly until: number }>()

  constructor(init: ClaimSimulationInit) {
    this.#init = init
  }

  /** True if the row was rejected recently; it is claimed in a transaction of its own. */
  isSuspect(channelId: ChannelId): boolean {
    return this.#refused.has(channelId)
  }

  /** True if the row was rejected too recently for another simulation. */
  isResting(channelId: ChannelId): boolean {
    const found = this.#refused.get(channelId)
    return found !== undefined && found.until > this.#init.clock.elapsed()
  }

  get refused(): Redemption['refused'] {
    return Array.from(this.#refused, ([channelId, { reason }]) => ({ channelId, reason }))
  }

  /** Drops the records of channels that owe nothing any more. */
  forgetOthers(owing: ReadonlySet<ChannelId>): void {
    for (const id of this.#refused.keys()) if (!owing.has(id)) this.#refused.delete(id)
  }

  /**
   * The rows that can be claimed together, found by bisection. When the budget ends, unverified rows are left out.
   * @throws SoukError `settlement_unavailable`
   */
  async good(rows: readonly Claimable[], budget: Budget): Promise<Claimable[]> {
    const [first] = rows
    if (first === undefined || budget.left <= 0) return []
    budget.left--
    const simulation = await this.#try(rows)
    if (simulation.ok) {
      for (const { channelId } of rows) this.#refused.delete(channelId)
      return [...rows]
    }
    if (rows.length === 1) {
      const until = this.#init.clock.elapsed() + REFUSED_ROW_MS
      this.#refused.set(first.channelId, { reason: simulation.reason, until })
      return []
    }
    const half = Math.ceil(rows.length / 2)
    return [...(await this.good(rows.slice(0, half), budget)), ...(await this.good(rows.slice(half), budget))]
  }

  #try(rows: readonly Claimable[]): Promise<Simulation> {
    const { chain, calls, claimer } = this.#init
    return chain.simulate(claimer, calls.claim(rows.map(({ row }) => row)))
  }
}
