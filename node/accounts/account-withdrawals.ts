import { createHash } from 'node:crypto'
import {
  asSoukError,
  type Atoms,
  formatUsdc,
  KeyedMutex,
  limits,
  parseUsdc,
  SingleFlight,
  sleep,
  SoukError
} from '../../lib/index.ts'
import type {
  Address,
  Clock,
  DocumentPut,
  Documents,
  Entry,
  Ledger,
  Random,
  Wallet
} from '../../lib/interface/index.ts'
import { balanceOf, kindOf, moved, PREPAID, WITHDRAWAL_FEES, withdrawingFrom } from './account-ledger.ts'
import type { AccountFunds } from './account-funds.ts'
import type { Account, Accounts } from './accounts.ts'
import { depositsPaidOut } from './deposits-paid-out.ts'
import { FreeWithdrawals } from './free-withdrawals.ts'
import { openOrEnded } from './open-or-ended.ts'

export interface AccountWithdrawalsInit {
  readonly accounts: Pick<Accounts, 'balance'>
  readonly funds: Pick<AccountFunds, 'giveBack'>
  readonly documents: Documents
  readonly ledger: Ledger
  readonly clock: Clock
  readonly random: Random
  /** This node’s id. Its wallet pays the withdrawals it accepts. */
  readonly holder: string
  /** Undefined if this node moves no money. */
  readonly wallet: () => Wallet | undefined
  readonly log: { warn(message: string, facts?: Readonly<Record<string, unknown>>): void }
}

/**
 * A withdrawal to the depositing address. `pending`: it has left the balance. `sent`: it is in a block that a reorganization can still
 * remove; it is then sent again. `done`: final. `failed`: nothing was sent, and the balance has it back.
 */
export interface AccountWithdrawal {
  readonly id: string
  readonly account: string
  readonly to: Address
  /** Amount that leaves the balance, including the fee, in decimal USDC. */
  readonly amount: string
  /** Fee, as part of the amount, in decimal USDC; absent if free. */
  readonly fee?: string
  readonly holder: string
  readonly at: number
  readonly state: 'pending' | 'sent' | 'done' | 'failed'
  /** Transaction hash, once in a block. */
  readonly transaction?: string
}

export interface WithdrawalRequest {
  readonly amount: Atoms
  /** Maximum fee that the customer accepts. Default 0. */
  readonly feeMax?: Atoms
  /** Identifies the withdrawal: a repeat returns the same one. */
  readonly idempotencyKey?: string | undefined
}

/** The current terms of a withdrawal. */
export interface WithdrawalQuote {
  readonly to: Address
  readonly amount: Atoms
  readonly fee: Atoms
}

/** Gas that the customer pays. It includes the gas of the deposits, so that depositing and withdrawing in circles costs the operator nothing. */
function gasOf(deposits: bigint, isFree: boolean): bigint {
  const paid = isFree ? deposits - BigInt(limits.FREE_DEPOSITS_MAX) : deposits || 1n
  return (isFree ? 0n : limits.WALLET_TRANSFER_GAS) + (paid > 0n ? paid : 0n) * limits.WALLET_DEPOSIT_GAS
}

/** Keyed by id and stored with the accounts. */
const OPEN = 'account-withdrawals'
/** Withdrawals that are done or failed. A start does not read them. */
const ENDED = 'account-withdrawals-ended'
const ID_BYTES = 16

/** Pays balances out, to the funding address only. Each withdrawal is debited first and sent once, even across restarts. */
export class AccountWithdrawals {
  readonly #init: AccountWithdrawalsInit
  readonly #free: FreeWithdrawals
  readonly #running = new SingleFlight<string, void>()
  /** Debits in progress, by withdrawal id. */
  readonly #drawing = new SingleFlight<string, AccountWithdrawal>()
  readonly #turns = new KeyedMutex()
  readonly #stopping = new AbortController()

  constructor(init: AccountWithdrawalsInit) {
    this.#init = init
    this.#free = new FreeWithdrawals(init)
  }

  /** Resumes the withdrawals of an earlier process. */
  async start(): Promise<void> {
    const { documents, holder, wallet } = this.#init
    const known = wallet()
    if (known === undefined) return
    for (const { value } of await documents.list(OPEN)) {
      const withdrawal = JSON.parse(value) as AccountWithdrawal
      if (withdrawal.holder === holder) this.#follow(known, withdrawal.id)
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new SoukError('settlement_pending', 'This node is stopping. Try again later.'))
    await this.#running.settled()
  }

  /**
   * The current cost of a withdrawal. Debits nothing.
   * @throws SoukError as `withdraw`, except `fee_not_accepted`
   */
  async quote(account: Account, amount: Atoms): Promise<WithdrawalQuote> {
    const to = await this.#checkAmount(account, amount)
    const wallet = await this.#walletWith(amount)
    const isFree = await this.#free.isLeft({ id: account.id, funding: to })
    const { count } = await depositsPaidOut(this.#init, account.id, amount)
    return { to, amount, fee: await feeOf(wallet, amount, gasOf(count, isFree)) }
  }

  /**
   * Debits the balance durably, then sends the money asynchronously. One withdrawal a day is free, including the gas of `FREE_DEPOSITS_MAX`
   * deposits. The fee of anything more is deducted.
   * @throws SoukError `invalid_request`, `insufficient_funds`, `settlement_unavailable`, `idempotency_mismatch`, `fee_not_accepted` with
   * the fee
   */
  async withdraw(account: Account, request: WithdrawalRequest): Promise<AccountWithdrawal> {
    const id = this.#idFor(account.id, request.idempotencyKey)
    const known = await this.#find(id)
    if (known !== undefined) return repeated(known, request.amount)
    const drawing = this.#drawing.get(id)
    if (drawing !== undefined) return repeated(await drawing, request.amount)
    // Serialize: two withdrawals at once would both be charged for the same deposits.
    return this.#drawing.run(id, () => this.#turns.run(account.id, () => this.#withdraw(account, id, request)))
  }

  async #withdraw(
    account: Account,
    id: string,
    { amount, feeMax = 0n }: WithdrawalRequest
  ): Promise<AccountWithdrawal> {
    const { funds, clock, holder } = this.#init
    const to = await this.#checkAmount(account, amount)
    const wallet = await this.#walletWith(amount)
    const recipient = { id: account.id, funding: to }
    const isFree = await this.#free.take(recipient)
    try {
      const { count, mark } = await depositsPaidOut(this.#init, account.id, amount)
      const fee = await feeOf(wallet, amount, gasOf(count, isFree))
      if (fee > feeMax) throw notAccepted(amount, fee)
      await funds.giveBack(account)
      const withdrawal: AccountWithdrawal = {
        id,
        account: account.id,
        to,
        amount: formatUsdc(amount),
        ...(fee === 0n ? {} : { fee: formatUsdc(fee) }),
        holder,
        at: clock.now(),
        state: 'pending'
      }
      const drawn = await this.#draw(withdrawal, amount, mark)
      if (drawn === withdrawal) this.#follow(wallet, id)
      else if (isFree) await this.#free.giveBack(recipient)
      return drawn
    } catch (error) {
      // If the store ended, it may have the debit. Then the next start pays the withdrawal.
      if (isFree && !asSoukError(error).isChargeUnknown) await this.#free.giveBack(recipient)
      throw error
    }
  }

  /** Durable when it resolves. If another process was faster, resolves to the withdrawal that it recorded. */
  async #draw(withdrawal: AccountWithdrawal, amount: Atoms, mark: DocumentPut): Promise<AccountWithdrawal> {
    const { id, account, at } = withdrawal
    const event = { kind: kindOf('withdrawal', account), reference: id, at }
    const entry = moved(event, amount, balanceOf(account), withdrawingFrom(account))
    const drawn = await this.#init.ledger.draw(entry, balanceOf(account), [put(withdrawal), mark])
    if (drawn === 'short') throw await this.#insufficient(account)
    return drawn === 'repeated' ? repeated(await this.get(account, id), amount) : withdrawal
  }

  /** @throws SoukError `invalid_request` */
  async get(account: string, id: string): Promise<AccountWithdrawal> {
    const withdrawal = await this.#find(id)
    if (withdrawal?.account === account) return withdrawal
    throw new SoukError('invalid_request', 'This account has no such withdrawal.')
  }

  /** The stored withdrawal. Resumes it if an error had stopped it. */
  async #find(id: string): Promise<AccountWithdrawal | undefined> {
    const withdrawal = await this.#read(id)
    if (withdrawal === undefined || hasEnded(withdrawal)) return withdrawal
    const wallet = this.#init.wallet()
    // A debit in progress is not durable yet.
    const isOwn = withdrawal.holder === this.#init.holder && this.#drawing.get(id) === undefined
    if (isOwn && wallet !== undefined) this.#follow(wallet, id)
    return withdrawal
  }

  async #read(id: string): Promise<AccountWithdrawal | undefined> {
    const value = await openOrEnded(this.#init.documents, { open: OPEN, ended: ENDED }, id)
    return value === undefined ? undefined : (JSON.parse(value) as AccountWithdrawal)
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
    if (wallet === undefined) throw new SoukError('settlement_unavailable', 'This ingress offers no withdrawals.')
    const { latest } = await wallet.balance()
    if (latest >= amount) return wallet
    throw new SoukError(
      'settlement_unavailable',
      'This ingress cannot pay out this amount at the moment. Nothing was debited. Try again later, or withdraw less.'
    )
  }

  async #checkAmount({ id, funding }: Account, amount: Atoms): Promise<Address> {
    if (funding === undefined)
      throw new SoukError(
        'invalid_request',
        'This account has never received a deposit, so it has no address to withdraw to.'
      )
    if (amount <= 0n) throw new SoukError('invalid_request', 'The amount must be above 0.')
    if (amount >= limits.ACCOUNT_WITHDRAWAL_ATOMS_MIN) return funding
    const { balance } = await this.#init.accounts.balance(id)
    if (amount === balance) return funding
    const least = formatUsdc(limits.ACCOUNT_WITHDRAWAL_ATOMS_MIN)
    throw new SoukError('invalid_request', `Withdraw at least ${least} USDC, or the whole balance.`)
  }

  async #insufficient(id: string): Promise<SoukError> {
    const { balance, setAside } = await this.#init.accounts.balance(id)
    const [all, aside] = [formatUsdc(balance), formatUsdc(setAside)]
    const detail = `The account has ${all} USDC, of which ${aside} are reserved for calls. Unused reservations become available within a minute.`
    return new SoukError('insufficient_funds', detail, { members: { balance: all, set_aside: aside } })
  }

  #follow(wallet: Wallet, id: string): void {
    const { log } = this.#init
    const pay = () =>
      this.#payOn(wallet, id).catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) log.warn('a withdrawal stopped', { id, cause: error })
      })
    void this.#running.run(id, pay)
  }

  /** Retries while the database is unreachable. Reads the withdrawal first, because it may have ended. */
  async #payOn(wallet: Wallet, id: string): Promise<void> {
    const { clock, documents } = this.#init
    const { signal } = this.#stopping
    for (;;) {
      try {
        const withdrawal = await this.#read(id)
        if (withdrawal === undefined) return
        if (hasEnded(withdrawal)) return void (await documents.delete(OPEN, id))
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
    const order = { to, amount: parseUsdc(withdrawal.amount) - feeIn(withdrawal), id }
    for (;;) {
      // Check finality first: the submitter forgets old final transactions and would send this one again.
      const final = await wallet.final(order)
      if (final?.succeeded === true) return this.#end(withdrawal, 'done', final.hash)
      try {
        const { hash } = await wallet.withdraw(order, signal)
        withdrawal = await this.#note({ ...withdrawal, state: 'sent', transaction: hash })
      } catch (thrown) {
        const error = asSoukError(thrown)
        if (signal.aborted || error.code === 'internal_error') throw error
        const isRefused = error.code === 'payment_rejected' || error.code === 'insufficient_funds'
        // A reverted transaction that is not final can still be mined in another block.
        if (isRefused && !wallet.isUnderWay(order)) return this.#end(withdrawal, 'failed')
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

  async #end(withdrawal: AccountWithdrawal, state: 'done' | 'failed', transaction?: string): Promise<void> {
    const { ledger, clock, log, documents } = this.#init
    const { account, id } = withdrawal
    const kind = state === 'done' ? 'withdrawn' : kindOf('withdrawal_failed', account)
    const event = { kind, reference: id, at: clock.now() }
    const from = withdrawingFrom(account)
    const ended = { ...withdrawal, state, ...(transaction === undefined ? {} : { transaction }) }
    const document = { ...put(ended), collection: ENDED }
    const [amount, fee] = [parseUsdc(withdrawal.amount), feeIn(withdrawal)]
    const entry = moved(event, amount, from, state === 'done' ? PREPAID : balanceOf(account))
    const isPaid = state === 'done' && fee > 0n
    await ledger.draw(isPaid ? withFee(entry, fee) : entry, from, [document])
    await documents.delete(OPEN, id)
    if (state === 'failed')
      log.warn('a withdrawal was refused by the chain, and is in its balance again', { id, account })
  }
}

const hasEnded = ({ state }: AccountWithdrawal): boolean => state === 'done' || state === 'failed'

function put(withdrawal: AccountWithdrawal) {
  return { collection: OPEN, key: withdrawal.id, value: JSON.stringify(withdrawal) }
}

const feeIn = ({ fee }: AccountWithdrawal): Atoms => (fee === undefined ? 0n : parseUsdc(fee))

/** The fee stays in the wallet, so the outgoing transfer is smaller by the fee. */
function withFee(entry: Entry, fee: Atoms): Entry {
  const postings = entry.postings.map(({ account, amount }) => ({
    account,
    amount: account === PREPAID ? amount + fee : amount
  }))
  return { ...entry, postings: [...postings, { account: WITHDRAWAL_FEES, amount: -fee }] }
}

/** @throws SoukError `invalid_request` if the amount does not cover the fee, `settlement_unavailable` */
async function feeOf(wallet: Wallet, amount: Atoms, gas: bigint): Promise<Atoms> {
  if (gas === 0n) return 0n
  const fee = await wallet.feeFor(gas)
  if (fee < amount) return fee
  const detail = `A withdrawal costs ${formatUsdc(fee)} USDC of gas at the moment. Withdraw a larger amount, or wait until gas is cheaper.`
  throw new SoukError('invalid_request', detail, { members: { fee: formatUsdc(fee) } })
}

function notAccepted(amount: Atoms, fee: Atoms): SoukError {
  const members = { amount: formatUsdc(amount), fee: formatUsdc(fee), receives: formatUsdc(amount - fee) }
  const detail =
    `One withdrawal a day is free, with ${limits.FREE_DEPOSITS_MAX} deposits. This one costs ${members.fee} USDC for gas, and pays out ${members.receives} USDC. ` +
    `Send it again with "max_fee": "${members.fee}" or more.`
  return new SoukError('fee_not_accepted', detail, { members })
}

/** @throws SoukError `idempotency_mismatch` */
function repeated(withdrawal: AccountWithdrawal, amount: Atoms): AccountWithdrawal {
  if (withdrawal.amount === formatUsdc(amount)) return withdrawal
  throw new SoukError('idempotency_mismatch', 'This Idempotency-Key was used for another amount. Use a new key.')
}
