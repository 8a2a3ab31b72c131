import type { Atoms } from '../base/money.ts'

/** One side of an entry. A debit is positive, a credit negative. */
export interface Posting {
  /** Account name. Parts are separated by `/`, so accounts of one kind share a prefix. */
  readonly account: string
  readonly amount: Atoms
}

/** A money event: at least two postings on different accounts that sum to zero. */
export interface Entry {
  /** Kind of event: `call`, `deposit`, `claim`, … */
  readonly kind: string
  /** Id of the event within its kind, so that nothing is booked twice. For a `call`, its request id. */
  readonly reference: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly postings: readonly Posting[]
}

export interface BookedEntry extends Entry {
  /** Increases with every entry of this store; numbers may be skipped. */
  readonly seq: number
}

export interface Balance {
  readonly account: string
  readonly amount: Atoms
}

/** A document written in the same transaction as another change. */
export interface DocumentPut {
  readonly collection: string
  readonly key: string
  readonly value: string
  /** Milliseconds since the epoch. The store may delete the document from this time on. Default: never. */
  readonly expiresAt?: number | undefined
}

export interface EntryQuery {
  readonly after?: number
  readonly limit: number
  /** Entry kinds to return. The cost is proportional to the result. Entries of calls are never returned here. */
  readonly kinds?: readonly string[]
}

/** `booked`: written. `repeated`: booked before. `short`: the balance is too low. Only `booked` writes. */
export type Drawn = 'booked' | 'repeated' | 'short'

/**
 * The double-entry book of a node. Entries never change. All balances always sum to zero. The balance of an account is
 * the sum of its entries plus its carried total, which replaces entries deleted by `Retention`.
 */
export interface Ledger {
  /**
   * Resolves to true when the entry and the documents are durable. Resolves to false, and writes nothing, where this
   * kind and reference was booked before. Concurrent bookings share one disk sync.
   * @throws SoukError `internal_error` for an entry that does not sum to zero, or where the store failed
   */
  book(entry: Entry, documents?: readonly DocumentPut[]): Promise<boolean>
  /**
   * Like `book`, but only while `account` keeps a credit balance or zero after the debit. So a balance is never spent
   * twice, not even by concurrent processes.
   * @throws SoukError `internal_error` like `book`, and where the entry does not debit the account
   */
  draw(entry: Entry, account: string, documents?: readonly DocumentPut[]): Promise<Drawn>
  /** 0 for an account without entries. */
  balance(account: string): Promise<Atoms>
  /** Balances of all accounts with this prefix, sorted by name. */
  balances(prefix: string): Promise<Balance[]>
  /** Sums of the deleted entries of these accounts, sorted by name. */
  carried(prefix: string): Promise<Balance[]>
  /** Oldest first, from the entry after number `after`; only `kinds`, where given. */
  entries(query: EntryQuery): Promise<BookedEntry[]>
}
