import { createHash } from 'node:crypto'
import { asSoukError, type Atoms, formatUsdc, limits, parseUsdc, sleep, SoukError } from '../../lib/index.ts'
import type { Address, Clock, Documents, Ledger, Random, Wallet } from '../../lib/interface/index.ts'
import { balanceOf, kindOf, moved, PREPAID, withdrawingFrom } from './account-books.ts'
import type { AccountFunds } from './account-funds.ts'
import type { Account, Accounts } from './accounts.ts'

export interface AccountWithdrawalsInit {
  readonly accounts: Pick<Accounts, 'balance'>
  readonly funds: Pick<AccountFunds, 'giveBack'>
  readonly documents: Documents
  readonly ledger: Ledger
  readonly clock: Clock
  readonly random: Random
  /** This node: its wallet pays what was asked of it. */
  readonly holder: string
  /** Undefined where this node moves no money. */
  readonly wallet: () => Wallet | undefined
  readonly log: { warn(message: string, facts?: Readonly<Record<string, unknown>>): void }
}

/**
 * Money on its way back to whom it came from. `pending`: it has left the balance. `sent`: it is in a block, which can still be
 * taken back; it is then sent again. `done`: for good. `failed`: nothing was sent, and it is in the balance again.
 */
export interface AccountWithdrawal {
  readonly id: string
  readonly account: string
  readonly to: Address
  /** Decimal USDC. */
  readonly amount: string
  readonly holder: string
  readonly at: number
  readonly state: 'pending' | 'sent' | 'done' | 'failed'
  /** Hash of the transaction, once it is in a block. */
  readonly transaction?: string
}

/** By id, in the store that accounts are in. */
const OPEN = 'account-withdrawals'
/** Those that are done or failed: no start reads them. */
const ENDED = 'account-withdrawals-ended'
const ID_BYTES = 16

/** Pays balances out, to the funding address only: debited first, then sent once, also over restarts. */
export class AccountWithdrawals {
  readonly #init: AccountWithdrawalsInit
  readonly #running = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(init: AccountWithdrawalsInit) {
    this.#init = init
  }

  /** Goes on with what an earlier process left. */
  async start(): Promise<void> {
    const { documents, holder, wallet } = this.#init
    const known = wallet()
    if (known === undefined) return
    for (const { value } of await documents.list(OPEN)) {
      const withdrawal = JSON.parse(value) as AccountWithdrawal
      if (withdrawal.holder !== holder) continue
      const hasEnded = (await documents.get(ENDED, withdrawal.id)) !== undefined
      if (hasEnded) await documents.delete(OPEN, withdrawal.id)
      else this.#follow(known, withdrawal)
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new SoukError('settlement_pending', 'This node stops.'))
    await Promise.allSettled(this.#running.values())
  }

  /**
   * Takes money out of the balance, durably, and sends it behind. The same `idempotencyKey` names the same withdrawal.
   * @throws SoukError `invalid_request`, `insufficient_funds`, `settlement_unavailable`, `idempotency_mismatch`
   */
  async withdraw(account: Account, amount: Atoms, idempotencyKey?: string): Promise<AccountWithdrawal> {
    const { ledger, funds, clock, holder } = this.#init
    const id = this.#idFor(account.id, idempotencyKey)
    const known = await this.#find(id)
    if (known !== undefined) return repeated(JSON.parse(known) as AccountWithdrawal, amount)
    const to = await this.#checkAmount(account, amount)
    const wallet = await this.#walletWith(amount)
    await funds.giveBack(account)
    const withdrawal: AccountWithdrawal = {
      id,
      account: account.id,
      to,
      amount: formatUsdc(amount),
      holder,
      at: clock.now(),
      state: 'pending'
    }
    const event = { kind: kindOf('withdrawal', account.id), reference: id, at: clock.now() }
    const entry = moved(event, amount, balanceOf(account.id), withdrawingFrom(account.id))
    const drawn = await ledger.draw(entry, balanceOf(account.id), [put(withdrawal)])
    if (drawn === 'short') throw await this.#insufficient(account.id)
    if (drawn === 'repeated') return repeated(await this.get(account.id, id), amount)
    this.#follow(wallet, withdrawal)
    return withdrawal
  }

  /** @throws SoukError `invalid_request` */
  async get(account: string, id: string): Promise<AccountWithdrawal> {
    const value = await this.#find(id)
    const withdrawal = value === undefined ? undefined : (JSON.parse(value) as AccountWithdrawal)
    if (withdrawal?.account === account) return withdrawal
    throw new SoukError('invalid_request', 'There is no such withdrawal.')
  }

  /** Where it is in both collections, a process was ended between the two writes: how it ended counts. */
  async #find(id: string): Promise<string | undefined> {
    const { documents } = this.#init
    return (await documents.get(ENDED, id)) ?? (await documents.get(OPEN, id))
  }

  #idFor(account: string, idempotencyKey: string | undefined): string {
    const random = () => this.#init.random.fill(new Uint8Array(ID_BYTES))
    const bytes =
      idempotencyKey === undefined
        ? random()
        : createHash('sha256').update(`${account}\0${idempotencyKey}`).digest().subarray(0, ID_BYTES)
    return `wd_${Buffer.from(bytes).toString('hex')}`
  }

  async #walletWith(amount: Atoms): Promise<Wallet> {
    const wallet = this.#init.wallet()
    if (wallet === undefined) throw new SoukError('settlement_unavailable', 'No money can be paid out at this ingress.')
    const { latest } = await wallet.balance()
    if (latest >= amount) return wallet
    throw new SoukError(
      'settlement_unavailable',
      'This ingress cannot pay out as much at the moment. Nothing was taken.'
    )
  }

  async #checkAmount({ id, funding }: Account, amount: Atoms): Promise<Address> {
    if (funding === undefined) throw new SoukError('invalid_request', 'Nothing was ever paid into this account.')
    if (amount <= 0n) throw new SoukError('invalid_request', 'The amount has to be above 0.')
    if (amount >= limits.ACCOUNT_WITHDRAWAL_ATOMS_MIN) return funding
    const { balance } = await this.#init.accounts.balance(id)
    if (amount === balance) return funding
    const least = formatUsdc(limits.ACCOUNT_WITHDRAWAL_ATOMS_MIN)
    throw new SoukError('invalid_request', `A withdrawal is of ${least} USDC at least, or of all there is.`)
  }

  async #insufficient(id: string): Promise<SoukError> {
    const { balance, setAside } = await this.#init.accounts.balance(id)
    const [all, aside] = [formatUsdc(balance), formatUsdc(setAside)]
    const detail = `The account holds ${all} USDC, of which ${aside} are set aside for calls; what is not used comes back soon.`
    return new SoukError('insufficient_funds', detail, { members: { balance: all, set_aside: aside } })
  }

  #follow(wallet: Wallet, withdrawal: AccountWithdrawal): void {
    const { id } = withdrawal
    if (this.#running.has(id)) return
    const { log } = this.#init
    const following = this.#payOn(wallet, withdrawal)
      .catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) log.warn('a withdrawal stopped', { id, cause: error })
      })
      .finally(() => this.#running.delete(id))
    this.#running.set(id, following)
  }

  /** Over outages of the database. */
  async #payOn(wallet: Wallet, withdrawal: AccountWithdrawal): Promise<void> {
    const { clock } = this.#init
    const { signal } = this.#stopping
    for (;;) {
      try {
        return await this.#pay(wallet, withdrawal)
      } catch (error) {
        if (signal.aborted || asSoukError(error).code !== 'store_unavailable') throw error
      }
      await sleep(clock, limits.FINAL_POLL_MS, signal)
    }
  }

  async #pay(wallet: Wallet, withdrawal: AccountWithdrawal): Promise<void> {
    const { clock, log } = this.#init
    const { signal } = this.#stopping
    const { to, id } = withdrawal
    const order = { to, amount: parseUsdc(withdrawal.amount), id }
    for (;;) {
      // Asked first: the submitter forgets what is long final, and would send it again.
      const final = await wallet.final(order)
      if (final?.succeeded === true) return this.#end(withdrawal, order.amount, 'done', final.hash)
      try {
        const { hash } = await wallet.withdraw(order, signal)
        withdrawal = await this.#note({ ...withdrawal, state: 'sent', transaction: hash })
      } catch (thrown) {
        const error = asSoukError(thrown)
        if (signal.aborted || error.code === 'internal_error') throw error
        const isRefused = error.code === 'payment_rejected' || error.code === 'insufficient_funds'
        // One that was mined and did nothing may still be mined again elsewhere, as long as it is not final.
        if (isRefused && !wallet.isUnderWay(order)) return this.#end(withdrawal, order.amount, 'failed')
        log.warn(`a withdrawal waits: ${error.message}`, { id })
      }
      await sleep(clock, limits.FINAL_POLL_MS, signal)
    }
  }

  async #note(withdrawal: AccountWithdrawal): Promise<AccountWithdrawal> {
    const { collection, key, value } = put(withdrawal)
    await this.#init.documents.put(collection, key, value)
    return withdrawal
  }

  async #end(
    withdrawal: AccountWithdrawal,
    amount: Atoms,
    state: 'done' | 'failed',
    transaction?: string
  ): Promise<void> {
    const { ledger, clock, log, documents } = this.#init
    const { account, id } = withdrawal
    const kind = state === 'done' ? 'withdrawn' : kindOf('withdrawal_failed', account)
    const event = { kind, reference: id, at: clock.now() }
    const from = withdrawingFrom(account)
    const ended = { ...withdrawal, state, ...(transaction === undefined ? {} : { transaction }) }
    const document = { ...put(ended), collection: ENDED }
    await ledger.draw(moved(event, amount, from, state === 'done' ? PREPAID : balanceOf(account)), from, [document])
    await documents.delete(OPEN, id)
    if (state === 'failed')
      log.warn('a withdrawal was refused by the chain, and is in its balance again', { id, account })
  }
}

function put(withdrawal: AccountWithdrawal) {
  return { collection: OPEN, key: withdrawal.id, value: JSON.stringify(withdrawal) }
}

/** @throws SoukError `idempotency_mismatch` */
function repeated(withdrawal: AccountWithdrawal, amount: Atoms): AccountWithdrawal {
  if (withdrawal.amount === formatUsdc(amount)) return withdrawal
  throw new SoukError('idempotency_mismatch', 'This Idempotency-Key was used for another amount.')
}
