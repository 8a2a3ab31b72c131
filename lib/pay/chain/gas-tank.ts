import { SoukError } from '../../base/errors.ts'
import { CLAIM_GAS, CLAIMS_IN_HAND_MIN, ETHER_ATOMS } from '../../base/limits.ts'
import type { Atoms } from '../../base/money.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Address } from '../../interface/signer.ts'

const ETHER = 10n ** 18n

/** What an account has for gas, and what gas costs, as they were last looked at. */
export class GasTank {
  readonly #chain: Chain
  readonly #account: Address
  #seen: { readonly wei: bigint; readonly price: bigint } | undefined

  constructor(chain: Chain, account: Address) {
    this.#chain = chain
    this.#account = account
  }

  /** @throws SoukError `settlement_unavailable` */
  async look(): Promise<void> {
    const [wei, { maxFee }] = await Promise.all([this.#chain.gas(this.#account), this.#chain.fees()])
    this.#seen = { wei, price: maxFee > 0n ? maxFee : 1n }
  }

  /** How many claims it lasts for; undefined before the first look. */
  get claims(): bigint | undefined {
    return this.#seen === undefined ? undefined : this.#seen.wei / (CLAIM_GAS * this.#seen.price)
  }

  /** @throws SoukError `settlement_unavailable` where it may not last for what a new channel earns */
  check(): void {
    const { claims } = this
    if (claims === undefined) throw new SoukError('settlement_unavailable', 'The chain was not seen yet.')
    if (claims >= CLAIMS_IN_HAND_MIN) return
    throw new SoukError('settlement_unavailable', `The owner's account ${this.#account} is almost out of ETH for gas.`)
  }

  /** An amount is worth fetching at this much gas. */
  pays(amount: Atoms, gas: bigint): boolean {
    return this.#seen !== undefined && amount * ETHER >= gas * this.#seen.price * ETHER_ATOMS
  }
}
