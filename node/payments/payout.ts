import { type Atoms, SoukError } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import { type ProfileLocation, readProfileJson, writeProfileJson } from '../profile/profile.ts'

export interface PayoutInit {
  readonly profile: ProfileLocation
  readonly payout: Address | undefined
  /** Priced APIs are paid for on this node. */
  readonly isNeeded: boolean
  /** Why the node cannot be paid, and what to do about it. */
  readonly why?: string
}

/** The payout address of this node’s provider, one for all its APIs. The node never needs the address’s key. */
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

  /** Durable in `profile.json` when it resolves. */
  async set(address: Address): Promise<void> {
    const { profile } = this.#init
    const saved = await readProfileJson(profile, 'settings')
    await writeProfileJson(profile, 'settings', { ...(saved as object | undefined), payout: address })
    this.#address = address
  }

  /** Checks that calls can be paid for here. @throws SoukError `settlement_unavailable`, with the command to run */
  checkEarning(price: Atoms): void {
    const { isNeeded, why } = this.#init
    if (price > 0n && isNeeded && why !== undefined) {
      throw new SoukError('settlement_unavailable', `This node cannot receive payments. ${why}`)
    }
  }

  /**
   * Checks that an API of this provider may have a price.
   * @throws SoukError `settlement_unavailable`, `invalid_request`, both with the command to run
   */
  check(price: Atoms): void {
    this.checkEarning(price)
    if (price === 0n || !this.#init.isNeeded || this.#address !== undefined) return
    const detail = 'A price needs a payout address. Run: souk payout set <address>'
    throw new SoukError('invalid_request', detail)
  }
}
