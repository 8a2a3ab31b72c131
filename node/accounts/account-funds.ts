import { LRUCache } from 'lru-cache'
import { type Atoms, formatUsdc, limits, SoukError } from '../../lib/index.ts'
import type { Clock, Drawn, Ledger } from '../../lib/interface/index.ts'
import { Slices } from '../spending/slices.ts'
import { balanceOf, kindOf, leasedTo, moved, soldTo } from './account-ledger.ts'
import type { Leases } from './leases.ts'

/** Whose money. */
export interface AccountRef {
  readonly id: string
}

export interface AccountFundsInit {
  readonly ledger: Ledger
  readonly leases: Leases
  readonly clock: Clock
  /** As the leases'. */
  readonly holder: string
  /** Told that little of an account is free: once, and again when there was more in between. Default: nobody is. */
  readonly onLow?: (account: string, balance: Atoms) => void
  /** As `Store.refusal`: what is begun now could not be charged. Default: it always can. */
  readonly refusal?: () => SoukError | undefined
  readonly log: { warn(message: string, facts?: Readonly<Record<string, unknown>>): void }
}

/** Spends from prepaid balances: reserved from a lease that this process holds, charged in the ledger. */
export class AccountFunds {
  readonly #init: AccountFundsInit
  readonly #slices: Slices<AccountRef>
  readonly #low = new LRUCache<string, true>({ max: limits.KEYS_CACHED_MAX })

  constructor(init: AccountFundsInit) {
    this.#init = init
    const { leases } = init
    this.#slices = new Slices(init.clock, {
      take: (account, needed, wanted) => this.#take(account, needed, wanted),
      giveBack: async ({ id }, amount) => void (await leases.giveBack(id, amount))
    })
  }

  /**
   * At once where a lease covers it.
   * @throws SoukError `insufficient_funds`, with the `balance`, `store_unavailable` (or rejects)
   */
  reserve(account: AccountRef, amount: Atoms): void | Promise<void> {
    const refusal = this.#init.refusal?.()
    if (refusal !== undefined) throw refusal
    return this.#slices.reserve(account, amount)
  }

  release(account: AccountRef, amount: Atoms): void {
    this.#slices.release(account, amount)
  }

  /**
   * Charges what was reserved. Durable when it resolves: only then may the response leave that it is for. `reference` names the
   * call: it is charged once.
   */
  async charge(account: AccountRef, amount: Atoms, reference: string): Promise<void> {
    const { holder, log } = this.#init
    const { id } = account
    const drawn = await this.#charge(id, leasedTo(id, holder), amount, reference)
    if (drawn === 'repeated') return this.#slices.release(account, amount)
    if (drawn === 'booked') return
    // This process was taken for dead, and its lease went back to where it came from.
    this.#slices.forget(account)
    if ((await this.#charge(id, balanceOf(id), amount, reference)) !== 'short') return
    log.warn('a call could not be charged: its account was spent elsewhere meanwhile', {
      account: id,
      request_id: reference,
      amount: formatUsdc(amount)
    })
  }

  /** Lets go of what this process holds of one balance. */
  giveBack(account: AccountRef): Promise<void> {
    return this.#slices.giveBack(account)
  }

  /** This process was taken for dead: its leases went back to where they came from. */
  forgetAll(): void {
    this.#slices.forgetAll()
  }

  /** When nothing is reserved any more. */
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
  const detail = `${balance} USDC of this account are free: top it up by POST /v1/account/deposits.`
  return new SoukError('insufficient_funds', detail, { members: { balance, top_up: '/v1/account/deposits' } })
}
