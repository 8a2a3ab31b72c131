import type { Atoms } from '../base/money.ts'

/** One side of an entry. A debit is above zero, a credit below. */
export interface Posting {
  /** Any name; parts divided by `/`, so that accounts of one sort share a beginning. */
  readonly account: string
  readonly amount: Atoms
}

/** Something that happened to money: two postings or more, each on another account, that sum to zero. */
export interface Entry {
  /** What sort of thing: `call`, `deposit`, `claim`, … */
  readonly kind: string
  /** Which one: with `kind` it names the event, so that nothing is booked twice. For a `call`, its request id. */
  readonly reference: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly postings: readonly Posting[]
}

export interface BookedEntry extends Entry {
  /** Grows with every entry of this store; not without gaps. */
  readonly seq: number
}

export interface Balance {
  readonly account: string
  readonly amount: Atoms
}

/** A document that is put together with something else. */
export interface DocumentPut {
  readonly collection: string
  readonly key: string
  readonly value: string
  /** Milliseconds since the epoch. It may be deleted from then on, and is not found any more some time after. Default: never. */
  readonly expiresAt?: number
}

export interface EntryQuery {
  readonly after?: number
  readonly limit: number
  /** Costs as much as it gives, for each kind. Entries of calls are not found by it. */
  readonly kinds?: readonly string[]
}

/** `booked`; or nothing was written: it was `repeated`, or there was too little to draw on. */
export type Drawn = 'booked' | 'repeated' | 'short'

/**
 * The book of all money of a node. Entries never change. All balances sum to zero at any moment, and the balance of an account is
 * the sum of its entries and of what is carried for those that were deleted for their age (`Retention`).
 */
export interface Ledger {
  /**
   * Resolves when the entry, and the documents with it, are durable; false where an entry of this kind and reference was
   * booked before, and then nothing is written. Appends made at the same time share a disk wait, as those of calls do.
   * @throws SoukError `internal_error` for an entry that does not sum to zero, and where the store failed
   */
  book(entry: Entry, documents?: readonly DocumentPut[]): Promise<boolean>
  /**
   * As `book`, but only where `account`, which the entry debits, is no debit after it: what a credit stands for (a balance
   * somebody holds) is never drawn on twice, whoever draws at the same time in whichever process.
   * @throws SoukError `internal_error` as `book`, and where the entry does not debit the account
   */
  draw(entry: Entry, account: string, documents?: readonly DocumentPut[]): Promise<Drawn>
  /** 0 for an account that nothing was booked on. */
  balance(account: string): Promise<Atoms>
  /** Of all accounts whose name begins so, by name. */
  balances(prefix: string): Promise<Balance[]>
  /** What deleted entries of these accounts summed to, by name. */
  carried(prefix: string): Promise<Balance[]>
  /** Oldest first, those after the one numbered `after`; of these kinds only, where some are named. */
  entries(query: EntryQuery): Promise<BookedEntry[]>
}
