import { type Atoms, SoukError } from '../../lib/index.ts'
import type { AccountFunds, AccountRef } from '../accounts/account-funds.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { DailyCaps, KeyDay } from './daily-caps.ts'

/** Whose money and cap a call takes. */
export type Budget = Pick<KeyHolder, 'id' | 'dailyCap' | 'account' | 'isPublic'>

/** The cost of one call to the holder of its key. A reservation is a maximum: the charge is never higher, and only made on success. */
export interface Purchase {
  /**
   * Call before sending the call, and again if its price has changed.
   * @throws SoukError `spend_cap_reached`, `insufficient_funds` (or rejects)
   */
  reserve(price: Atoms): void | Promise<void>
  /** The call succeeded. Frees the uncharged rest of the reservation. Durable when it resolves. */
  capture(charged: Atoms, reference: string): void | Promise<void>
  /**
   * The call failed. Has no effect after a capture. With `mayBeCharged`, the provider may have charged the operator, so the key’s cap
   * counts the call. An account never pays for a call without a response.
   */
  release(mayBeCharged?: boolean): void
  /**
   * The error to return to the holder. If the node itself lacks money or reached its own limit, the holder gets a general error, because it
   * cannot fix that. Other errors are returned unchanged.
   */
  explain(error: SoukError): SoukError
}

export interface SpendingInit {
  readonly caps: DailyCaps
  /** Funds of prepaid accounts. Absent if there are none: the operator pays for all keys. */
  readonly funds?: AccountFunds
  /** Called if this node could not pay for a call that its account could have paid for. Default: no call. */
  readonly onUnpaid?: (error: SoukError) => void
}

/** Enforces the spending limits of keys and the balances of their accounts. */
export class Spending {
  readonly #init: SpendingInit

  constructor(init: SpendingInit) {
    this.#init = init
  }

  /** @throws SoukError `key_not_permitted` */
  begin(holder: Budget): Purchase {
    if (holder.account !== undefined && this.#init.funds === undefined) {
      throw new SoukError('key_not_permitted', 'This ingress has no accounts.')
    }
    return new KeyPurchase(this.#init, holder)
  }

  /** The rest of today’s cap of a key. */
  left(holder: Budget): Promise<Atoms> {
    return this.#init.caps.left(holder)
  }

  /**
   * The fee of a subscription. The holder agreed to it separately, so it does not count against a key’s cap.
   * @param account - undefined for the operator, whose fees are not charged here
   * @throws SoukError `key_not_permitted`
   */
  beginFee(account: string | undefined): Purchase {
    const { funds, onUnpaid } = this.#init
    if (account === undefined) return UNPAID
    if (funds === undefined) throw new SoukError('key_not_permitted', 'This ingress has no accounts.')
    return new FeePurchase(funds, { id: account }, onUnpaid)
  }
}

const UNPAID: Purchase = { reserve() {}, capture() {}, release() {}, explain: (error) => error }

/** Whether the error is about the node’s own limits. The error of a subscription’s cap names the subscription. */
function isOfTheOperator({ code, members }: SoukError): boolean {
  return code === 'insufficient_funds' || (code === 'spend_cap_reached' && members?.['subscription'] === undefined)
}

function cannotPay(cause: SoukError, onUnpaid: SpendingInit['onUnpaid']): SoukError {
  onUnpaid?.(cause)
  const detail =
    'This ingress cannot pay for calls at the moment. Your balance is not the cause, and the operator has been notified. Try again later.'
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
  readonly #holder: Budget
  #day: KeyDay | undefined
  #account: AccountRef | undefined
  #reserved = 0n
  /** The key’s own cap or balance refused the call. */
  #isRefused = false

  constructor(init: SpendingInit, holder: Budget) {
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
    const { caps, funds } = this.#init
    const [day, account] = [this.#day, this.#account]
    this.#end(cost)
    if (day === undefined || account === undefined || cost === 0n) return
    return funds?.charge(account, cost, reference).catch((error: unknown) => {
      caps.release(day, cost)
      throw error
    })
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
