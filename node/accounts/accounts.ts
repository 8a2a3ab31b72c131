import { type Atoms, limits, SoukError } from '../../lib/index.ts'
import type { Address, BookedEntry, Clock, Documents, Ledger, Random } from '../../lib/interface/index.ts'
import type { IssuedKey, Keys } from '../keys/keys.ts'
import { ACCOUNTS, balanceOf, ENTRY_KINDS, type EntryKind, kindOf, soldTo } from './account-ledger.ts'

/** A prepaid account. */
export interface Account {
  readonly id: string
  readonly label: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Payer of the first deposit. Only this address may deposit, and withdrawals go only to it. */
  readonly funding?: Address
}

export interface AccountBalance {
  /** The customer’s whole balance. */
  readonly balance: Atoms
  /** The part of the balance that processes have leased to pay calls. Unused leases return within a minute. */
  readonly setAside: Atoms
}

/** A change of an account’s balance. */
export interface AccountEntry {
  readonly seq: number
  readonly kind: EntryKind
  /** Request id or withdrawal id; for a deposit, the payer’s address and nonce. */
  readonly reference: string
  readonly at: number
  /** Positive for money that comes in. */
  readonly amount: Atoms
}

export interface AccountEntryQuery {
  readonly after?: number
  readonly limit: number
  /** Default: all kinds. */
  readonly kinds?: readonly EntryKind[]
}

export interface AccountsInit {
  readonly documents: Documents
  readonly ledger: Ledger
  readonly keys: Pick<Keys, 'issue'>
  /** Called before an account is opened. Throws or rejects if there are too many. Default: no limit. */
  readonly makeRoom?: () => Promise<void>
  readonly clock: Clock
  readonly random: Random
}

/** Collection of the accounts, by id. */
export const ACCOUNT_DOCUMENTS = 'accounts'
const ID_BYTES = 12

/** The accounts of one ingress, or of several that share a store. */
export class Accounts {
  readonly #init: AccountsInit

  constructor(init: AccountsInit) {
    this.#init = init
  }

  /** The ledger with the balances. */
  get ledger(): Ledger {
    return this.#init.ledger
  }

  /** Opens an empty account. @throws SoukError `quota_exceeded` */
  async open(label = ''): Promise<{ readonly account: Account; readonly key: IssuedKey }> {
    const { documents, keys, clock, random, makeRoom } = this.#init
    await makeRoom?.()
    const id = `acct_${Buffer.from(random.fill(new Uint8Array(ID_BYTES))).toString('hex')}`
    const account: Account = { id, label, createdAt: clock.now() }
    // Create the key first: an account without a key is useless, and a key without its account cannot spend.
    const key = await keys.issue({ label, account: id, manages: true })
    await documents.put(ACCOUNT_DOCUMENTS, id, JSON.stringify(account))
    return { account, key }
  }

  /** @throws SoukError `invalid_request` */
  async get(id: string): Promise<Account> {
    const value = await this.#init.documents.get(ACCOUNT_DOCUMENTS, id)
    if (value === undefined) throw new SoukError('invalid_request', `There is no account ${id.slice(0, 80)}.`)
    return JSON.parse(value) as Account
  }

  /** Sorted, oldest first. */
  async list(): Promise<Account[]> {
    const all = (await this.#init.documents.list(ACCOUNT_DOCUMENTS)).map(({ value }) => JSON.parse(value) as Account)
    return all.sort((a, b) => a.createdAt - b.createdAt)
  }

  async balance(id: string): Promise<AccountBalance> {
    const parts = await this.#init.ledger.balances(balanceOf(id))
    const sum = (of: typeof parts): Atoms => -of.reduce((total, { amount }) => total + amount, 0n)
    return { balance: sum(parts), setAside: sum(parts.filter(({ account }) => account !== balanceOf(id))) }
  }

  /** The sum of all balances. The operator owes it, so its wallets must cover it. */
  async held(): Promise<Atoms> {
    const all = await this.#init.ledger.balances(ACCOUNTS)
    return -all.reduce((total, { amount }) => total + amount, 0n)
  }

  /** The total that calls have cost an account. */
  async spent(id: string): Promise<Atoms> {
    return -(await this.#init.ledger.balance(soldTo(id)))
  }

  /** Sorted, oldest first. */
  async entries(id: string, query: AccountEntryQuery): Promise<AccountEntry[]> {
    const { after = 0, kinds = ENTRY_KINDS } = query
    const limit = Math.min(query.limit, limits.PAGE_MAX)
    const wanted = kinds.map((kind) => kindOf(kind, id))
    return (await this.#init.ledger.entries({ after, limit, kinds: wanted })).map(shown)
  }

  /** Sets the funding address at the first deposit. Returns false if the account has another one. */
  async bind(id: string, funding: Address): Promise<boolean> {
    const { documents } = this.#init
    for (;;) {
      const before = await documents.get(ACCOUNT_DOCUMENTS, id)
      if (before === undefined) throw new SoukError('invalid_request', `There is no account ${id.slice(0, 80)}.`)
      const account = JSON.parse(before) as Account
      if (account.funding !== undefined) return account.funding === funding
      if (await documents.replace(ACCOUNT_DOCUMENTS, id, before, JSON.stringify({ ...account, funding }))) return true
    }
  }
}

function shown({ seq, kind: name, reference, at, postings }: BookedEntry): AccountEntry {
  const kind = ENTRY_KINDS.find((known) => name.startsWith(`${known}/`)) ?? 'charge'
  const amount = postings.find(({ amount: each }) => each > 0n)?.amount ?? 0n
  const isIn = kind === 'deposit' || kind === 'withdrawal_failed'
  return { seq, kind, reference, at, amount: isIn ? amount : -amount }
}
