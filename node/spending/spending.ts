import { type Atoms, SoukError } from '../../lib/index.ts'
import type { AccountFunds, AccountRef } from '../accounts/account-funds.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { DailyCaps, KeyDay } from './daily-caps.ts'

/** What one call costs whoever holds its key. A reservation is a ceiling: at most that much is charged, and only on success. */
export interface Purchase {
  /**
   * Before the call is sent, and again where its price has changed since.
   * @throws SoukError `spend_cap_reached`, `insufficient_funds` (or rejects)
   */
  reserve(price: Atoms): void | Promise<void>
  /** The call succeeded; what it was not charged is free again. Whatever it was is durable when this resolves. */
  capture(charged: Atoms, reference: string): void | Promise<void>
  /**
   * It did not. Nothing happens after a capture. Where the owner may have charged the operator all the same, the key's cap counts
   * it; an account is never charged for what was not answered.
   */
  release(mayBeCharged?: boolean): void
  /**
   * What its holder is told of the error that a call ended with: that this node has no money, or has signed for all it may, is nothing
   * that an account's holder could mend. The error itself in all other cases.
   */
  explain(error: SoukError): SoukError
}

export interface SpendingInit {
  readonly caps: DailyCaps
  /** Of prepaid accounts. Absent where there are none: all keys are the operator's. */
  readonly funds?: AccountFunds
  /** Told where this node could not pay for a call that its account could have paid for. Default: nobody is. */
  readonly onUnpaid?: (error: SoukError) => void
}

/** Holds the calls of keys to what their keys may spend and their accounts have. */
export class Spending {
  readonly #init: SpendingInit

  constructor(init: SpendingInit) {
    this.#init = init
  }

  /** @throws SoukError `key_not_permitted` */
  begin(holder: KeyHolder): Purchase {
    if (holder.account !== undefined && this.#init.funds === undefined) {
      throw new SoukError('key_not_permitted', 'This ingress keeps no accounts.')
    }
    return new KeyPurchase(this.#init, holder)
  }

  /** What the calls of a key may still cost today. */
  left(holder: KeyHolder): Promise<Atoms> {
    return this.#init.caps.left(holder)
  }

  /**
   * The fee of a subscription, which whoever holds it agreed to apart from what calls may cost: no key's cap counts it.
   * @param account - undefined for the operator's, which nothing is taken from here
   * @throws SoukError `key_not_permitted`
   */
  beginFee(account: string | undefined): Purchase {
    const { funds, onUnpaid } = this.#init
    if (account === undefined) return UNPAID
    if (funds === undefined) throw new SoukError('key_not_permitted', 'This ingress keeps no accounts.')
    return new FeePurchase(funds, { id: account }, onUnpaid)
  }
}

const UNPAID: Purchase = { reserve() {}, capture() {}, release() {}, explain: (error) => error }

/** Of a limit of the node's own; what a subscription's own cap refuses names the subscription. */
function isOfTheOperator({ code, members }: SoukError): boolean {
  return code === 'insufficient_funds' || (code === 'spend_cap_reached' && members?.['subscription'] === undefined)
}

function cannotPay(cause: SoukError, onUnpaid: SpendingInit['onUnpaid']): SoukError {
  onUnpaid?.(cause)
  const detail =
    'This ingress cannot pay for calls at the moment. That is no matter of your balance, and its operator is told: try again later.'
  return new SoukError('settlement_unavailable', detail, { cause })
}

class FeePurchase implements Purchase {
  readonly #funds: AccountFunds
  readonly #account: AccountRef
  readonly #onUnpaid: SpendingInit['onUnpaid']
  #reserved = 0n
  #isRefused = false

  constructor(funds: AccountFunds, account: AccountRef, onUnpaid: SpendingInit['onUnpaid']) {
    this.#funds = funds
    this.#account = account
    this.#onUnpaid = onUnpaid
  }

  async reserve(fee: Atoms): Promise<void> {
    const more = fee - this.#reserved
    if (more <= 0n) return
    this.#isRefused = true
    await this.#funds.reserve(this.#account, more)
    this.#isRefused = false
    this.#reserved += more
  }

  async capture(charged: Atoms, reference: string): Promise<void> {
    const cost = charged < this.#reserved ? charged : this.#reserved
    this.#funds.release(this.#account, this.#reserved - cost)
    this.#reserved = 0n
    if (cost > 0n) await this.#funds.charge(this.#account, cost, reference)
  }

  release(): void {
    this.#funds.release(this.#account, this.#reserved)
    this.#reserved = 0n
  }

  explain(error: SoukError): SoukError {
    return !this.#isRefused && isOfTheOperator(error) ? cannotPay(error, this.#onUnpaid) : error
  }
}

class KeyPurchase implements Purchase {
  readonly #init: SpendingInit
  readonly #holder: KeyHolder
  #day: KeyDay | undefined
  #account: AccountRef | undefined
  #reserved = 0n
  /** Its own key or account does not cover it. */
  #isRefused = false

  constructor(init: SpendingInit, holder: KeyHolder) {
    this.#init = init
    this.#holder = holder
  }

  reserve(price: Atoms): void | Promise<void> {
    const more = price - this.#reserved
    if (more <= 0n) return
    this.#isRefused = true
    const reserving = this.#reserve(more)
    if (reserving !== undefined) return reserving.then(() => void (this.#isRefused = false))
    this.#isRefused = false
  }

  #reserve(more: Atoms): void | Promise<void> {
    const { caps } = this.#init
    const day = (this.#day ??= caps.today(this.#holder))
    const { account } = this.#holder
    if (account !== undefined) this.#account ??= { id: account }
    const capping = caps.reserve(day, more)
    return capping === undefined ? this.#fund(day, more) : capping.then(() => this.#fund(day, more))
  }

  #fund(day: KeyDay, more: Atoms): void | Promise<void> {
    const { caps, funds } = this.#init
    const funding = this.#account && funds?.reserve(this.#account, more)
    if (funding === undefined) this.#reserved += more
    else {
      return funding.then(
        () => void (this.#reserved += more),
        (error: unknown) => {
          caps.release(day, more)
          throw error
        }
      )
    }
  }

  capture(charged: Atoms, reference: string): void | Promise<void> {
    const cost = charged < this.#reserved ? charged : this.#reserved
    const account = this.#account
    this.#end(cost)
    if (account !== undefined && cost > 0n) return this.#init.funds?.charge(account, cost, reference)
  }

  release(mayBeCharged = false): void {
    this.#end(0n, mayBeCharged && this.#account === undefined)
  }

  explain(error: SoukError): SoukError {
    const isOthers = this.#holder.account !== undefined || this.#holder.isPublic === true
    return isOthers && !this.#isRefused && isOfTheOperator(error) ? cannotPay(error, this.#init.onUnpaid) : error
  }

  #end(cost: Atoms, isCapSpent = false): void {
    const rest = this.#reserved - cost
    if (this.#day !== undefined && rest > 0n) {
      if (!isCapSpent) this.#init.caps.release(this.#day, rest)
      if (this.#account !== undefined) this.#init.funds?.release(this.#account, rest)
    }
    this.#day = this.#account = undefined
    this.#reserved = 0n
  }
}
