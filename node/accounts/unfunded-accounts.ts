import { limits, SoukError, trustedTime } from '../../lib/index.ts'
import type { Clock, Documents, Ledger } from '../../lib/interface/index.ts'
import type { Keys } from '../keys/keys.ts'
import { balanceOf, soldTo } from './account-ledger.ts'
import { type Account, ACCOUNT_DOCUMENTS } from './accounts.ts'

export interface UnfundedAccountsInit {
  readonly documents: Documents
  readonly ledger: Pick<Ledger, 'balance' | 'balances'>
  readonly keys: Pick<Keys, 'list' | 'drop'>
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
}

interface Counted {
  count: number
}

/**
 * Accounts without a deposit, which anybody can open for nothing. Limits their number, and deletes those whose keys were never used.
 * An account that was ever used or funded is never deleted.
 */
export class UnfundedAccounts {
  readonly #init: UnfundedAccountsInit
  #counted: Promise<Counted> | undefined
  #countedAt = 0

  constructor(init: UnfundedAccountsInit) {
    this.#init = init
  }

  /** Call it before an account is opened. @throws SoukError `quota_exceeded` */
  async makeRoom(): Promise<void> {
    const counted = await this.#recent()
    if (counted.count >= limits.ACCOUNTS_UNFUNDED_MAX) {
      const detail = 'This ingress has its maximum of accounts without a deposit. Try again later.'
      throw new SoukError('quota_exceeded', detail, { retryAfterMs: limits.ACCOUNTS_COUNTED_MS })
    }
    counted.count++
  }

  /** The last count, or a new one where that is too old. Requests at the same time share it. */
  #recent(): Promise<Counted> {
    const now = this.#init.clock.elapsed()
    if (this.#counted !== undefined && now - this.#countedAt < limits.ACCOUNTS_COUNTED_MS) return this.#counted
    const counting = this.#clean().then((count) => ({ count }))
    this.#countedAt = now
    this.#counted = counting
    counting.catch(() => {
      if (this.#counted === counting) this.#counted = undefined
    })
    return counting
  }

  /** Deletes what is old and unused. Returns the number of the other accounts without a deposit. */
  async #clean(): Promise<number> {
    const { documents, keys, clock } = this.#init
    // A clock that may be wrong deletes nothing.
    const now = (await trustedTime(documents, clock)) ?? 0
    const before = now - limits.ACCOUNT_UNUSED_KEPT_MS
    const [rows, issued] = await Promise.all([documents.list(ACCOUNT_DOCUMENTS), keys.list()])
    const known = new Set(rows.map(({ key }) => key))
    const used = new Set(issued.filter(({ lastUsedAt }) => lastUsedAt !== undefined).map(({ account }) => account))
    for (const key of issued) {
      const { account, createdAt } = key
      // The key of a new account is stored before its account.
      if (account !== undefined && !known.has(account) && createdAt < before) await keys.drop(key)
    }
    let unfunded = 0
    for (const { key, value } of rows) {
      const { funding, createdAt } = JSON.parse(value) as Account
      if (funding !== undefined) continue
      const isOver = createdAt < before && !used.has(key) && !(await this.#hasBooks(key))
      // A deposit that is made meanwhile rewrites the account without an expiry. Its keys are deleted after it.
      if (!isOver || !(await documents.replace(ACCOUNT_DOCUMENTS, key, value, value, now))) unfunded++
    }
    return unfunded
  }

  async #hasBooks(id: string): Promise<boolean> {
    const { ledger } = this.#init
    return (await ledger.balances(balanceOf(id))).length > 0 || (await ledger.balance(soldTo(id))) !== 0n
  }
}
