import {
  asSoukError,
  type Atoms,
  cappedDay,
  formatUsdc,
  limits,
  parseUsdc,
  SingleFlight,
  sleep,
  SoukError
} from '../../lib/index.ts'
import type {
  Address,
  Clock,
  DepositPayment,
  Deposits,
  DepositTransaction,
  Documents,
  Ledger
} from '../../lib/interface/index.ts'
import { balanceOf, kindOf, moved, PREPAID } from './account-ledger.ts'
import type { Accounts } from './accounts.ts'
import { openOrEnded } from './open-or-ended.ts'
import { Unsettled } from './unsettled.ts'

export interface AccountDepositsInit {
  readonly accounts: Pick<Accounts, 'bind'>
  readonly documents: Documents
  readonly ledger: Ledger
  readonly clock: Clock
  /** This node’s id. It collects the payments that it receives. */
  readonly holder: string
  /** The ids of all nodes with this store that may be alive. A client pays the wallet of the one that it asked first. */
  readonly holders: () => Promise<readonly string[]>
  /** Undefined if this node moves no money. */
  readonly deposits: () => Deposits | undefined
  readonly log: { warn(message: string, facts?: Readonly<Record<string, unknown>>): void }
}

/** A credited deposit. */
export interface DepositDone {
  readonly amount: Atoms
  /** Value of the `PAYMENT-RESPONSE` header. */
  readonly response: string
}

/**
 * Deposits that are not final. Keyed by payment name and stored with the accounts, so that a payment is credited to one account only.
 */
const OPEN = 'account-deposits'
/** Deposits that were credited or refused. One that was credited early is in both until it is final. */
const ENDED = 'account-deposits-ended'
/** By holder: its wallet. */
const WALLETS = 'account-deposit-wallets'

interface DepositDocument {
  readonly account: string
  /** Decimal USDC. */
  readonly amount: string
  readonly text: string
  readonly holder: string
  readonly at: number
  readonly state: 'pending' | 'credited' | 'refused'
  readonly response?: string
}

/**
 * Deposits into accounts: recorded, collected on chain, and credited once they count. A recorded payment is processed to its end, also
 * after a restart.
 */
export class AccountDeposits {
  readonly #init: AccountDepositsInit
  readonly #running = new SingleFlight<string, DepositDocument>()
  readonly #unsettled = new Unsettled()
  /** Today’s deposits by account. Reset when the process restarts. */
  readonly #counts = new Map<string, number>()
  #day = 0
  readonly #stopping = new AbortController()

  constructor(init: AccountDepositsInit) {
    this.#init = init
  }

  /** Resumes the deposits of an earlier process. */
  async start(): Promise<void> {
    const { documents, holder, deposits } = this.#init
    const known = deposits()
    if (known === undefined) return
    await documents.put(WALLETS, holder, known.wallet)
    for (const { key, value } of await documents.list(OPEN)) {
      const document = JSON.parse(value) as DepositDocument
      if (document.holder === holder) await this.#resume(known, key, document)
    }
  }

  async #resume(deposits: Deposits, name: string, document: DepositDocument): Promise<void> {
    const { documents } = this.#init
    const ended = await documents.get(ENDED, name)
    if (ended === undefined) return void this.#follow(deposits, name, document).catch(() => {})
    if ((JSON.parse(ended) as DepositDocument).state === 'refused') return void (await documents.delete(OPEN, name))
    const payment = await deposits.read(document.text)
    // Its depth is not known until the chain is read again.
    this.#unsettled.add(name, { ...payment, depth: 'latest' })
    void this.#settle(deposits, payment, document.account)
  }

  async stop(): Promise<void> {
    this.#stopping.abort(
      new SoukError('settlement_pending', 'This node is stopping. Send the same payment again later.')
    )
    await this.#running.settled()
  }

  /**
   * Deposits a payment into an account. Repeating it with the same payment returns the same response.
   * @param text value of the `PAYMENT-SIGNATURE` header
   * @throws SoukError `payment_required` without a payment, `payment_malformed`, `payment_rejected`, `insufficient_funds`,
   * `payment_id_conflict`, `settlement_pending` until it counts, `settlement_unavailable`, `invalid_request`, `quota_exceeded`
   */
  async deposit(account: string, amount: Atoms, text: string | undefined): Promise<DepositDone> {
    checkAmount(amount)
    const deposits = this.#init.deposits()
    if (deposits === undefined) throw new SoukError('settlement_unavailable', 'This ingress accepts no deposits.')
    if (text === undefined) throw deposits.ask(amount)
    const payment = await deposits.read(text)
    const document = await this.#admit(deposits, account, amount, payment)
    const { state, response } = document.state === 'pending' ? await this.#wait(deposits, payment, document) : document
    if (state === 'credited') return { amount: parseUsdc(document.amount), response: response ?? '' }
    throw new SoukError('payment_rejected', 'The payment could not be collected: the token refuses its transfer.')
  }

  /** Durable when it resolves: an admitted payment is processed to its end. */
  async #admit(deposits: Deposits, account: string, amount: Atoms, payment: DepositPayment): Promise<DepositDocument> {
    for (;;) {
      const known = await this.#find(payment.name)
      if (known !== undefined) {
        const document = JSON.parse(known) as DepositDocument
        if (document.account === account && document.text === payment.text) return document
        throw new SoukError('payment_id_conflict', 'This payment was already used for another purpose.')
      }
      // Counted before anything is awaited: of many at once, each would find room.
      this.#count(account)
      let recorded: DepositDocument | undefined
      try {
        recorded = await this.#record(deposits, account, amount, payment)
        if (recorded !== undefined) return recorded
      } finally {
        if (recorded === undefined) this.#uncount(account)
      }
    }
  }

  /** Undefined if another request has recorded the payment meanwhile. */
  async #record(
    deposits: Deposits,
    account: string,
    amount: Atoms,
    payment: DepositPayment
  ): Promise<DepositDocument | undefined> {
    const { accounts, documents, clock, holder } = this.#init
    const { name, text, payer } = payment
    await deposits.check(payment, amount, await this.#wallets())
    if (!(await accounts.bind(account, payer))) {
      throw new SoukError(
        'payment_rejected',
        'Deposit from the address of the account’s first deposit. Withdrawals go to that address only.'
      )
    }
    const head = { account, amount: formatUsdc(amount), text, holder, at: clock.now() }
    const document: DepositDocument = { ...head, state: 'pending' }
    if (!(await documents.insert(OPEN, name, JSON.stringify(document)))) return undefined
    if ((await documents.get(ENDED, name)) === undefined) return document
    // The payment was credited to another account after it was looked for: then its open document was deleted.
    await documents.delete(OPEN, name)
    return undefined
  }

  /** The wallets of nodes that are alive. That of another one may be lost. */
  async #wallets(): Promise<readonly Address[]> {
    const { documents, holders } = this.#init
    const wallets = await Promise.all((await holders()).map((holder) => documents.get(WALLETS, holder)))
    return wallets.filter((wallet) => wallet !== undefined) as Address[]
  }

  /** @throws SoukError `quota_exceeded`: each deposit costs the operator gas */
  #count(account: string): void {
    const now = this.#init.clock.now()
    const day = Math.floor(now / limits.DAY_MS)
    if (day > this.#day) this.#counts.clear()
    this.#day = cappedDay(this.#day, day)
    const count = this.#counts.get(account) ?? 0
    if (count < limits.ACCOUNT_DEPOSITS_MAX) return void this.#counts.set(account, count + 1)
    const detail = `An account accepts ${limits.ACCOUNT_DEPOSITS_MAX} deposits a day. Make larger deposits, or wait until tomorrow.`
    throw new SoukError('quota_exceeded', detail, { retryAfterMs: (day + 1) * limits.DAY_MS - now })
  }

  /** The day may have ended meanwhile. */
  #uncount(account: string): void {
    const count = this.#counts.get(account) ?? 0
    if (count > 0) this.#counts.set(account, count - 1)
  }

  /** @throws SoukError `settlement_pending` if it takes longer than a client waits */
  async #wait(deposits: Deposits, { name }: DepositPayment, document: DepositDocument): Promise<DepositDocument> {
    const { clock, holder } = this.#init
    const pending = new SoukError(
      'settlement_pending',
      'The payment is being collected. Send the same payment again to get the response.',
      {
        retryAfterMs: limits.WATCH_POLL_MS
      }
    )
    if (document.holder !== holder) throw pending
    const late = sleep(clock, limits.DEPOSIT_WAIT_MS).then((): never => {
      throw pending
    })
    return Promise.race([this.#follow(deposits, name, document), late])
  }

  #follow(deposits: Deposits, name: string, document: DepositDocument): Promise<DepositDocument> {
    return this.#running.run(name, () => this.#collect(deposits, name, document))
  }

  async #collect(deposits: Deposits, name: string, document: DepositDocument): Promise<DepositDocument> {
    const { clock, log } = this.#init
    const { signal } = this.#stopping
    const payment = await deposits.read(document.text)
    const { payer, amount } = payment
    for (;;) {
      let waitMs: number = limits.WATCH_POLL_MS
      try {
        const transaction = await deposits.collect(payment, signal)
        const { depth, succeeded } = transaction
        if (!succeeded && depth === 'finalized') return await this.#refuse(name, document)
        if (succeeded && depth !== undefined && this.#unsettled.counts(name, { payer, amount, depth })) {
          return await this.#credit(deposits, payment, document, transaction)
        }
      } catch (thrown) {
        const error = asSoukError(thrown)
        if (signal.aborted || error.code === 'internal_error') throw error
        if (error.code === 'payment_rejected') return this.#refuse(name, document)
        log.warn(`a deposit waits: ${error.message}`, { account: document.account })
        waitMs = limits.COLLECT_RETRY_MS
      }
      await sleep(clock, waitMs, signal)
    }
  }

  /** Credits a payment once, even if several processes try. */
  async #credit(
    deposits: Deposits,
    payment: DepositPayment,
    document: DepositDocument,
    transaction: DepositTransaction
  ): Promise<DepositDocument> {
    const { ledger, clock, documents } = this.#init
    const { account } = document
    const { payer, name, amount } = payment
    const done: DepositDocument = { ...document, state: 'credited', response: deposits.response(payment, transaction) }
    const event = { kind: kindOf('deposit', account), reference: name, at: clock.now() }
    const put = { collection: ENDED, key: name, value: JSON.stringify(done) }
    const { depth = 'latest' } = transaction
    this.#unsettled.add(name, { payer, amount, depth })
    await ledger.book(moved(event, amount, PREPAID, balanceOf(account)), [put])
    if (depth === 'finalized') await documents.delete(OPEN, name)
    else void this.#settle(deposits, payment, account)
    return done
  }

  async #refuse(name: string, document: DepositDocument): Promise<DepositDocument> {
    const refused: DepositDocument = { ...document, state: 'refused' }
    const { documents } = this.#init
    await documents.put(ENDED, name, JSON.stringify(refused))
    await documents.delete(OPEN, name)
    return refused
  }

  #find(name: string): Promise<string | undefined> {
    return openOrEnded(this.#init.documents, { open: OPEN, ended: ENDED }, name)
  }

  /** Until an early credit is final, it counts against further early credits, also after a restart. */
  async #settle(deposits: Deposits, payment: DepositPayment, account: string): Promise<void> {
    const { clock, documents, log } = this.#init
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await sleep(clock, limits.FINAL_POLL_MS, signal)
        const { depth, succeeded } = await deposits.collect(payment, signal)
        if (depth !== 'finalized') continue
        if (!succeeded) log.warn('a deposit was credited and taken back', { account, payment: payment.name })
        await documents.delete(OPEN, payment.name)
        this.#unsettled.delete(payment.name)
        return
      } catch (error) {
        if (asSoukError(error).code === 'payment_rejected') {
          log.warn('a deposit was credited and taken back', { account, payment: payment.name })
          return
        }
      }
    }
  }
}

function checkAmount(amount: Atoms): void {
  const [least, most] = [limits.ACCOUNT_DEPOSIT_ATOMS_MIN, limits.ACCOUNT_DEPOSIT_ATOMS_MAX]
  if (amount >= least && amount <= most) return
  throw new SoukError('invalid_request', `A deposit must be between ${formatUsdc(least)} and ${formatUsdc(most)} USDC.`)
}
