import { asSoukError, type Atoms, boundedMap, formatUsdc, limits, SoukError } from '../../lib/index.ts'
import type { Clock, Drawn, Ledger } from '../../lib/interface/index.ts'
import { Slices } from '../spending/slices.ts'
import { balanceOf, kindOf, leasedTo, moved, soldTo } from './account-ledger.ts'
import type { Leases } from './leases.ts'

/** The account to charge. */
export interface AccountRef {
  readonly id: string
}

export interface AccountFundsInit {
  readonly ledger: Ledger
  readonly leases: Leases
  readonly clock: Clock
  /** The same holder as in `Leases`. */
  readonly holder: string
  /** Called when the free balance becomes low, and again after it recovered in between. Default: no call. */
  readonly onLow?: (account: string, balance: Atoms) => void
  /** As `Store.refusal`: a new call could not be charged. Default: never refuses. */
  readonly refusal?: () => SoukError | undefined
  readonly log: { warn(message: string, facts?: Readonly<Record<string, unknown>>): void }
}

/** Spends from prepaid balances: reserves from this process’s lease and charges in the ledger. */
export class AccountFunds {
  readonly #init: AccountFundsInit
  readonly #slices: Slices<AccountRef>
  readonly #low = boundedMap<string, true>(limits.KEYS_CACHED_MAX)

  constructor(init: AccountFundsInit) {
    this.#init = init
    const { leases } = init
    this.#slices = new Slices(init.clock, {
      take: (account, needed, wanted) => this.#take(account, needed, wanted),
      giveBack: async ({ id }, amount) => void (await leases.giveBack(id, amount))
    })
  }

  /**
   * Resolves at once if a lease covers the amount. Rejects, and never throws: callers then release what else they reserved.
   * @throws SoukError `insufficient_funds`, with the `balance`, `store_unavailable`
   */
  reserve(account: AccountRef, amount: Atoms): void | Promise<void> {
    const refusal = this.#init.refusal?.()
    if (refusal !== undefined) return Promise.reject(refusal)
    return this.#slices.reserve(account, amount)
  }

  release(account: AccountRef, amount: Atoms): void {
    this.#slices.release(account, amount)
  }

  /**
   * Charges a reservation. Durable when it resolves; send the response only then. `reference` identifies the call, which is charged once. If
   * it rejects, nothing is charged and the reservation is free again.
   */
  async charge(account: AccountRef, amount: Atoms, reference: string): Promise<void> {
    const { holder, log } = this.#init
    const { id } = account
    const drawn = await this.#charge(id, leasedTo(id, holder), amount, reference).catch((error: unknown) => {
      // If that is unknown, the store has ended.
      if (!asSoukError(error).isChargeUnknown) this.#slices.release(account, amount)
      throw error
    })
    if (drawn === 'repeated') return this.#slices.release(account, amount)
    if (drawn === 'booked') return
    // Other processes took this one for dead and returned its lease to the balance.
    this.#slices.forget(account)
    if ((await this.#charge(id, balanceOf(id), amount, reference)) !== 'short') return
    log.warn('a call could not be charged: its account was spent elsewhere meanwhile', {
      account: id,
      request_id: reference,
      amount: formatUsdc(amount)
    })
  }

  /** Returns what this process holds of one balance. */
  giveBack(account: AccountRef): Promise<void> {
    return this.#slices.giveBack(account)
  }

  /** Drops all leases: other processes took this one for dead and returned them. */
  forgetAll(): void {
    this.#slices.forgetAll()
  }

  /** Requires that nothing is reserved any more. */
  stop(): Promise<void> {
    return this.#slices.stop()
  }

  #charge(id: string, from: string, amount: Atoms, reference: string): Promise<Drawn> {
    const { ledger, clock } = this.#init
    const event = { kind: kindOf('charge', id), reference, at: clock.now() }
    return ledger.draw(moved(event, amount, from, soldTo(id)), from)
  }

  #noteLow(account: AccountRef, balance: Atoms): void {
    const { id } = account
    const free = balance + this.#slices.atHand(account)
    if (free >= limits.ACCOUNT_LOW_ATOMS) this.#low.delete(id)
    else if (!this.#low.has(id)) {
      this.#low.set(id, true)
      this.#init.onLow?.(id, free)
    }
  }

  async #take(account: AccountRef, needed: Atoms, wanted: Atoms): Promise<Atoms> {
    const { ledger, leases } = this.#init
    for (;;) {
      const balance = -(await ledger.balance(balanceOf(account.id)))
      this.#noteLow(account, balance)
      if (balance < needed) throw insufficient(balance + this.#slices.atHand(account))
      const part = balance / limits.ACCOUNT_SLICE_PART
      const usual = part < limits.ACCOUNT_SLICE_ATOMS_MAX ? part : limits.ACCOUNT_SLICE_ATOMS_MAX
      const size = [needed, wanted, usual].reduce((most, each) => (each > most ? each : most))
      const amount = size < balance ? size : balance
      if (amount <= 0n) return 0n
      if (await leases.take(account.id, amount)) return amount
    }
  }
}

function insufficient(free: Atoms): SoukError {
  const balance = formatUsdc(free > 0n ? free : 0n)
  const detail = `This account has ${balance} USDC available. Top it up by POST /v1/account/deposits.`
  return new SoukError('insufficient_funds', detail, { members: { balance, top_up: '/v1/account/deposits' } })
}
