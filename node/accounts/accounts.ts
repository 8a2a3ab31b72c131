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
  /** Who pays in, and where alone money goes back to: the payer of the first deposit. */
  readonly funding?: Address
}

export interface AccountBalance {
  /** What the customer has. */
  readonly balance: Atoms
  /** Of it, what processes have set aside to pay calls from; it comes back within a minute of not being used. */
  readonly setAside: Atoms
}

/** Something that happened to an account's money. */
export interface AccountEntry {
  readonly seq: number
  readonly kind: EntryKind
  /** Request id, or id of the withdrawal; of a deposit the payer's address and nonce. */
  readonly reference: string
  readonly at: number
  /** Above zero where it came in. */
  readonly amount: Atoms
}

export interface AccountEntryQuery {
  readonly after?: number
  readonly limit: number
  /** Default: all of them. */
  readonly kinds?: readonly EntryKind[]
}

export interface AccountsInit {
  readonly documents: Documents
  readonly ledger: Ledger
  readonly keys: Pick<Keys, 'issue'>
  readonly clock: Clock
  readonly random: Random
}

const COLLECTION = 'accounts'
const ID_BYTES = 12

/** The accounts of an ingress, or of several that share a store. */
export class Accounts {
  readonly #init: AccountsInit

  constructor(init: AccountsInit) {
    this.#init = init
  }

  /** Where what they hold is booked. */
  get ledger(): Ledger {
    return this.#init.ledger
  }

  /** Opens an account with nothing in it. @throws SoukError `quota_exceeded` */
  async open(label = ''): Promise<{ readonly account: Account; readonly key: IssuedKey }> {
    const { documents, keys, clock, random } = this.#init
    const id = `acct_${Buffer.from(random.fill(new Uint8Array(ID_BYTES))).toString('hex')}`
    const account: Account = { id, label, createdAt: clock.now() }
    // The key comes first: an account without one would be of no use to anybody, a key without an account pays for nothing.
    const key = await keys.issue({ label, account: id, manages: true })
    await documents.put(COLLECTION, id, JSON.stringify(account))
    return { account, key }
  }

  /** @throws SoukError `invalid_request` */
  async get(id: string): Promise<Account> {
    const value = await this.#init.documents.get(COLLECTION, id)
    if (value === undefined) throw new SoukError('invalid_request', `There is no account ${id.slice(0, 80)}.`)
    return JSON.parse(value) as Account
  }

  /** Oldest first. */
  async list(): Promise<Account[]> {
    const all = (await this.#init.documents.list(COLLECTION)).map(({ value }) => JSON.parse(value) as Account)
    return all.sort((a, b) => a.createdAt - b.createdAt)
  }

  async balance(id: string): Promise<AccountBalance> {
    const parts = await this.#init.ledger.balances(balanceOf(id))
    const sum = (of: typeof parts): Atoms => -of.reduce((total, { amount }) => total + amount, 0n)
    return { balance: sum(parts), setAside: sum(parts.filter(({ account }) => account !== balanceOf(id))) }
  }

  /** What all accounts hold: the operator owes it, and its wallets have to have it. */
  async held(): Promise<Atoms> {
    const all = await this.#init.ledger.balances(ACCOUNTS)
    return -all.reduce((total, { amount }) => total + amount, 0n)
  }

  /** What calls have cost it in all. */
  async spent(id: string): Promise<Atoms> {
    return -(await this.#init.ledger.balance(soldTo(id)))
  }

  /** Oldest first. */
  async entries(id: string, query: AccountEntryQuery): Promise<AccountEntry[]> {
    const { after = 0, kinds = ENTRY_KINDS } = query
    const limit = Math.min(query.limit, limits.PAGE_MAX)
    const wanted = kinds.map((kind) => kindOf(kind, id))
    return (await this.#init.ledger.entries({ after, limit, kinds: wanted })).map(shown)
  }

  /** Where the first deposit came from, once and for all; false where it came from elsewhere before. */
  async bind(id: string, funding: Address): Promise<boolean> {
    const { documents } = this.#init
    for (;;) {
      const before = await documents.get(COLLECTION, id)
      if (before === undefined) throw new SoukError('invalid_request', `There is no account ${id.slice(0, 80)}.`)
      const account = JSON.parse(before) as Account
      if (account.funding !== undefined) return account.funding === funding
      if (await documents.replace(COLLECTION, id, before, JSON.stringify({ ...account, funding }))) return true
    }
  }
}

function shown({ seq, kind: name, reference, at, postings }: BookedEntry): AccountEntry {
  const kind = ENTRY_KINDS.find((known) => name.startsWith(`${known}/`)) ?? 'charge'
  const amount = postings.find(({ amount: each }) => each > 0n)?.amount ?? 0n
  const isIn = kind === 'deposit' || kind === 'withdrawal_failed'
  return { seq, kind, reference, at, amount: isIn ? amount : -amount }
}
