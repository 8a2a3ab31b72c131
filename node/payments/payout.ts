import { type Atoms, SoukError } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import { type ProfileLocation, readProfileJson, writeProfileJson } from '../profile/profile.ts'

export interface PayoutInit {
  readonly profile: ProfileLocation
  readonly payout: Address | undefined
  /** Priced APIs are paid for on this node. */
  readonly isNeeded: boolean
  /** Why the node cannot be paid, with what to do about it. */
  readonly why?: string
}

/** Where the APIs of this node's provider are paid: one address for all of them. The node never needs its key. */
export class Payout {
  readonly #init: PayoutInit
  #address: Address | undefined

  constructor(init: PayoutInit) {
    this.#init = init
    this.#address = init.payout
  }

  get address(): Address | undefined {
    return this.#address
  }

  /** In `profile.json` when it resolves. */
  async set(address: Address): Promise<void> {
    const { profile } = this.#init
    const saved = await readProfileJson(profile, 'settings')
    await writeProfileJson(profile, 'settings', { ...(saved as object | undefined), payout: address })
    this.#address = address
  }

  /** That calls can be paid for here at all. @throws SoukError `settlement_unavailable`, with the command to run */
  checkEarning(price: Atoms): void {
    const { isNeeded, why } = this.#init
    if (price > 0n && isNeeded && why !== undefined) {
      throw new SoukError('settlement_unavailable', `Nobody can be paid here. ${why}`)
    }
  }

  /**
   * That an API of this provider can have a price.
   * @throws SoukError `settlement_unavailable`, `invalid_request`, both with the command to run
   */
  check(price: Atoms): void {
    this.checkEarning(price)
    if (price === 0n || !this.#init.isNeeded || this.#address !== undefined) return
    const detail = 'A price needs an address where you are paid. Run: souk payout set <address>'
    throw new SoukError('invalid_request', detail)
  }
}
