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
  /** Gas of steps that are under way. */
  #reserved = 0n
  /** Gas of steps that ended, as far as the last look may not have seen that they were paid for. */
  #spent = 0n

  constructor(chain: Chain, account: Address) {
    this.#chain = chain
    this.#account = account
  }

  /** @throws SoukError `settlement_unavailable` */
  async look(): Promise<void> {
    const before = this.#spent
    const [wei, { maxFee }] = await Promise.all([this.#chain.gas(this.#account), this.#chain.fees()])
    this.#seen = { wei, price: maxFee > 0n ? maxFee : 1n }
    this.#spent -= before
  }

  /** How many claims it lasts for; undefined before the first look. */
  get claims(): bigint | undefined {
    return this.#seen === undefined ? undefined : this.#seen.wei / (CLAIM_GAS * this.#seen.price)
  }

  /**
   * That `gas` can be spent on a payer's behalf and enough is left to claim what channels earn.
   * @param submitted gas of all transactions that are on their way, also those of an earlier process
   * @throws SoukError `settlement_unavailable`
   */
  check(gas = 0n, submitted = 0n): void {
    if (this.#seen === undefined) throw new SoukError('settlement_unavailable', 'The chain was not seen yet.')
    const { wei, price } = this.#seen
    const underWay = submitted > this.#reserved ? submitted : this.#reserved
    if (wei >= (CLAIMS_IN_HAND_MIN * CLAIM_GAS + underWay + this.#spent + gas) * price) return
    throw new SoukError('settlement_unavailable', `The owner's account ${this.#account} is almost out of ETH for gas.`)
  }

  /** Sets gas aside for a step until the returned function is called: when it is mined, or will not be. */
  reserve(gas: bigint): () => void {
    this.#reserved += gas
    return () => {
      this.#reserved -= gas
      this.#spent += gas
    }
  }

  /** An amount is worth fetching at this much gas. */
  pays(amount: Atoms, gas: bigint): boolean {
    return this.#seen !== undefined && amount * ETHER >= gas * this.#seen.price * ETHER_ATOMS
  }

  /** What this much gas costs, rounded up; undefined before the first look. */
  cost(gas: bigint): Atoms | undefined {
    return this.#seen && (gas * this.#seen.price * ETHER_ATOMS + ETHER - 1n) / ETHER
  }
}

/** As `Wallet.feeFor`: looks now. */
export async function feeFor(chain: Chain, account: Address, gas: bigint): Promise<Atoms> {
  const tank = new GasTank(chain, account)
  await tank.look()
  tank.check(gas)
  return tank.cost(gas) ?? 0n
}
