import { SoukError } from '../../base/errors.ts'
import { CLAIM_GAS, CLAIMS_IN_HAND_MIN, ETHER_ATOMS } from '../../base/limits/chain.ts'
import type { Atoms } from '../../base/money.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Address } from '../../interface/signer.ts'

const ETHER = 10n ** 18n

/** The account's ETH balance and the gas price, as last read. */
export class GasTank {
  readonly #chain: Chain
  readonly #account: Address
  #seen: { readonly wei: bigint; readonly price: bigint } | undefined
  /** Gas reserved for steps in progress. */
  #reserved = 0n
  /** Gas of finished steps that the last read may not include yet. */
  #spent = 0n
  #reading: Promise<void> | undefined

  constructor(chain: Chain, account: Address) {
    this.#chain = chain
    this.#account = account
  }

  /** Concurrent callers share one read. @throws SoukError `settlement_unavailable` */
  look(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    const before = this.#spent
    const [wei, { maxFee }] = await Promise.all([this.#chain.gas(this.#account), this.#chain.fees()])
    this.#seen = { wei, price: maxFee > 0n ? maxFee : 1n }
    this.#spent -= before
  }

  /** How many claims the balance pays for; undefined before the first read. */
  get claims(): bigint | undefined {
    return this.#seen === undefined ? undefined : this.#seen.wei / (CLAIM_GAS * this.#seen.price)
  }

  /**
   * Checks that the account can spend `gas` for a payer and still claim its own earnings.
   * @param submitted gas of all pending transactions, also those of an earlier process
   * @throws SoukError `settlement_unavailable`
   */
  check(gas = 0n, submitted = 0n): void {
    const refusal = this.refusal(gas, submitted)
    if (refusal !== undefined) throw refusal
  }

  /** The error of `check`, if any. */
  refusal(gas = 0n, submitted = 0n): SoukError | undefined {
    if (this.covers(gas, submitted)) return undefined
    const reason =
      this.#seen === undefined
        ? 'The chain has not been read yet. Try again in a moment.'
        : `The owner's account ${this.#account} is almost out of ETH for gas.`
    return new SoukError('settlement_unavailable', reason)
  }

  /** True if the last balance read passes `check`. */
  covers(gas = 0n, submitted = 0n): boolean {
    if (this.#seen === undefined) return false
    const { wei, price } = this.#seen
    const underWay = submitted > this.#reserved ? submitted : this.#reserved
    return wei >= (CLAIMS_IN_HAND_MIN * CLAIM_GAS + underWay + this.#spent + gas) * price
  }

  /** Reserves gas for a step until the returned function is called, when the step is mined or given up. */
  reserve(gas: bigint): () => void {
    this.#reserved += gas
    return () => {
      this.#reserved -= gas
      this.#spent += gas
    }
  }

  /** True if `amount` is worth more than this much gas. */
  pays(amount: Atoms, gas: bigint): boolean {
    return this.#seen !== undefined && amount * ETHER >= gas * this.#seen.price * ETHER_ATOMS
  }

  /** The cost of this much gas, rounded up; undefined before the first read. */
  cost(gas: bigint): Atoms | undefined {
    return this.#seen && (gas * this.#seen.price * ETHER_ATOMS + ETHER - 1n) / ETHER
  }
}

/** Implements `Wallet.feeFor`: reads the chain first. */
export async function feeFor(chain: Chain, account: Address, gas: bigint): Promise<Atoms> {
  const tank = new GasTank(chain, account)
  await tank.look()
  tank.check(gas)
  return tank.cost(gas) ?? 0n
}
