import type { ApiId } from '../base/api-name.ts'
import type { Atoms } from '../base/money.ts'
import type { ErrorCode, SoukError } from '../base/errors.ts'
import type { ChargeRule } from './charge-rule.ts'
import type { DocumentPut, Ledger, Posting } from './ledger.ts'
import type { ListingIndex } from './listing-index.ts'
import type { Headers } from './payload.ts'

/** What became of a call, at its owner. `captured`: it succeeded and counts. `void`: it did not, nothing is owed. */
export type CallOutcome = 'captured' | 'void'

/**
 * The answer kept for a repeat of the same call. Absent for streams, for bodies over `STORED_BODY_BYTES_MAX`, and where the consumer
 * node already has its share of `STORED_BYTES_MAX`.
 */
export interface StoredResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

/** One finished call in an owner's books. Append-only; `(peer, requestId)` is unique. */
export interface CallRecord {
  /** Consumer node that sent it. */
  readonly peer: string
  /** Sixteen bytes, UUID version 7. */
  readonly requestId: Uint8Array
  readonly api: ApiId
  readonly revision: number
  readonly outcome: CallOutcome
  /** HTTP status given to the consumer. */
  readonly status: number
  /** Set where the answer was an error of ours. */
  readonly code?: ErrorCode
  /** Listed price at the time. */
  readonly price: Atoms
  /** What was really charged: 0 for `void`, and always under the metered till. */
  readonly charged: Atoms
  /** By what rule it was charged. Absent for `void`, and in records of earlier versions. */
  readonly rule?: ChargeRule
  /** SHA-256 of the request: a repeat under the same id must be the same request. */
  readonly requestHash: Uint8Array
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Time at the owner without the upstream's part, and the upstream's part. */
  readonly ownerMs: number
  readonly upstreamMs: number
  readonly response?: StoredResponse
  /** Written with it; not told again by those that find it. */
  readonly claim?: ClaimMark
  /** The response answers a payment as well: an acknowledgement leaves it. Not told again by those that find the record. */
  readonly isHeld?: true
}

/** A record without its response, and with its place in the book: that grows with every append, not without gaps. */
export interface LoggedCall extends Omit<CallRecord, 'response'> {
  readonly seq: number
}

/** Calls of one API, summed. */
export interface UsageRow {
  readonly api: ApiId
  /** A payment for further events of a stream is no call: it counts in the sums only. */
  readonly captured: number
  readonly voided: number
  /** Sum of `price` over captured calls: what they are worth. */
  readonly metered: Atoms
  /** Sum of `charged`. */
  readonly charged: Atoms
}

/** What is written together with a call's record, or not at all. */
export interface CallEffects {
  /** Booked as an entry of kind `call`. */
  readonly postings?: readonly Posting[]
  readonly documents?: readonly DocumentPut[]
}

/** The owner's book of calls. */
export interface CallLog {
  /**
   * Resolves when the record is durable: it survives kill -9 and power loss. Appends made at the same time share a disk wait.
   * Rejects for a second record under the same `(peer, requestId)`, and for every waiting append when a commit failed:
   * a failed commit may still have survived, so the process must then stop. Postings that do not sum to zero are refused with
   * the record.
   * @throws SoukError `idempotency_in_flight` for the second record (the first is found, with its answer), else
   *   `internal_error`.
   */
  append(record: CallRecord, effects?: CallEffects): Promise<void>
  find(peer: string, requestId: Uint8Array): Promise<CallRecord | undefined>
  /**
   * The consumer has the answer: the stored responses may go, unless they answer an idempotency key or a payment as well; the
   * records stay.
   * Written behind, nobody waits.
   */
  acknowledge(peer: string, requestIds: readonly Uint8Array[]): void
  /** Newest first; those before the one numbered `before`, where it is given. */
  recent(query: { readonly api?: ApiId; readonly before?: number; readonly limit: number }): Promise<LoggedCall[]>
  usage(): Promise<UsageRow[]>
  /** Drops stored responses (never records) from before `at`; returns how many. */
  dropResponses(before: number): Promise<number>
}

/** A call that came with an idempotency key is under way, or was: no other is run under its name. */
export interface Claim {
  /** SHA-256 of whose key it is, the API and the key. */
  readonly name: Uint8Array
  /** Peer id of the node that runs it, and the boot epoch of its process. */
  readonly holder: string
  readonly epoch: bigint
  /** Milliseconds since the epoch: when it was claimed; once it is answered, when that was. */
  readonly at: number
}

/** A claim as it is found. */
export interface KnownClaim extends Claim {
  /** What became of the call. Absent: nothing that anybody wrote down. */
  readonly answered?: {
    /** SHA-256 of the request with all of its body. */
    readonly requestHash: Uint8Array
    readonly record: CallRecord
  }
}

/** What the record of a call does to the claim that was made for it. */
export interface ClaimMark {
  readonly name: Uint8Array
  /** The call is its answer from now on. Absent: it has none, and the name is free again. */
  readonly requestHash?: Uint8Array
}

/** The calls that came with idempotency keys, in an owner's books; and the keys that a consumer node has sent. */
export interface ClaimLog {
  /**
   * Claims a name that nobody has, or whose claim is from before `expired`. Durable when it resolves; with the claim that stands in
   * the way, where there is one: of many that try at once, one has it.
   */
  take(claim: Claim, expired: number): Promise<KnownClaim | undefined>
  /** Writes a claim in place of the one under its name. Durable when it resolves. */
  put(claim: Claim): Promise<void>
  /** The call was not run. */
  free(name: Uint8Array): Promise<void>
  /** Drops claims from before `at`, and the oldest ones past `most`; returns how many. */
  drop(before: number, most: number): Promise<number>
}

/**
 * Small things under a key, by collection: listings, pins, keys, delegations, cached peers. Values are JSON texts.
 * Every write is durable when its promise resolves.
 */
export interface Documents {
  get(collection: string, key: string): Promise<string | undefined>
  put(collection: string, key: string, value: string): Promise<void>
  /** Writes only when there is no such key yet; tells whether it did. */
  insert(collection: string, key: string, value: string): Promise<boolean>
  /** Writes only where the value is still `before`; tells whether it did. Of several that try at once, one succeeds. */
  replace(collection: string, key: string, before: string, value: string): Promise<boolean>
  /** Resolves true when there was one. */
  delete(collection: string, key: string): Promise<boolean>
  /** In reverse key order; those before the key `before`, where it is given. Costs as much as it gives. */
  last(
    collection: string,
    query: { readonly before?: string; readonly limit: number }
  ): Promise<Array<{ key: string; value: string }>>
  /** In key order, by code point. Reads the whole collection: for collections whose size does not grow with time. */
  list(collection: string): Promise<Array<{ key: string; value: string }>>
  /** Writes several in one commit. */
  putAll(documents: readonly DocumentPut[]): Promise<void>
  /** Deletes the first documents of a collection whose keys are before `before`, at most `limit`; returns how many. */
  trim(collection: string, before: string, limit: number): Promise<number>
  /** Deletes documents that have expired at `now`, the oldest first, at most `limit`; returns how many. */
  sweep(now: number, limit: number): Promise<number>
}

/** Which rows of the books may be deleted. */
export interface TrimRules {
  /** Deletes calls that cost something, and entries, from before this time. */
  readonly before: number
  /** Deletes calls that cost nothing from before this time, which is not earlier than `before`. */
  readonly freeBefore: number
  /** Rows from after this time carry a wrong time, and are skipped. */
  readonly now: number
  /** Entries of calls are deleted with their calls; others only where their kind begins with one of these. */
  readonly kinds: readonly string[]
  /**
   * Whether entries on an account may be deleted up to a total: what all deleted entries on that account sum to then. An entry
   * stays where one of its accounts is refused.
   */
  readonly isDue: (account: string, total: Atoms) => boolean | Promise<boolean>
  /** Rows of one slice. */
  readonly limit: number
}

/** What one slice did. */
export interface Trimmed {
  readonly calls: number
  readonly entries: number
  /** The pass is complete: the next slice starts again with the oldest row. */
  readonly isOver: boolean
}

/**
 * Deletes old rows of the books. The sums of usage and the balances of accounts do not change: they are kept apart from the
 * rows. What the deleted entries sum to is kept by account (`Ledger.carried`).
 */
export interface Retention {
  /**
   * Looks at the next `limit` rows, oldest first, and deletes those that are due: one short transaction. Goes on where the last
   * slice ended, also after a restart. Where processes share a store, one row is deleted and counted by one of them. A call stays
   * while its response is stored or answers an idempotency key.
   */
  trim(rules: TrimRules): Promise<Trimmed>
}

/**
 * Tells processes that share a store what of it they may have at hand is out of date. Heard of within milliseconds as a rule; one
 * that is lost on the way is never repeated, so whoever listens reads anew from time to time as well.
 */
export interface Signals {
  /** Resolves when it is on its way to whoever listens, this process too. @throws SoukError `internal_error` */
  send(topic: string, text: string): Promise<void>
  /** `undefined`: some may have been missed. Returns what ends the listening. */
  listen(topic: string, hear: (text: string | undefined) => void): () => void
}

/**
 * Keeps a process that was taken for dead from writing. Each of its transactions carries a token that the database checks; `fence`
 * makes it invalid. A process that lives all the same finds out at its next write, gets a new token, and is told by `onFenced`: what it
 * knew of the store may be out of date.
 */
export interface Fencing {
  /** Names this process to `fence`. It may change where `onFenced` is told. */
  readonly id: string
  /** Resolves when nothing that the process of this id began before is written any more. @throws SoukError `store_unavailable` */
  fence(id: string): Promise<void>
  /** Returns what ends the listening. */
  onFenced(hear: () => void): () => void
}

/**
 * Everything a node keeps. Implementations pass `test/suites/store.ts`. Whatever is asked of a store that is not open
 * rejects with `internal_error`; `acknowledge` then does nothing.
 */
export interface Store {
  readonly calls: CallLog
  readonly claims: ClaimLog
  readonly documents: Documents
  readonly ledger: Ledger
  readonly retention: Retention
  /** Absent where only one process can have the store open. */
  readonly signals?: Signals
  readonly fencing?: Fencing
  readonly listings: ListingIndex
  /**
   * Why no new work may be begun that is to be written here: `store_unavailable`, `storage_full`. Undefined where it may. What was begun
   * before is still taken in by `calls.append`, `ledger.book` and `ledger.draw`, which wait for a database that is away.
   */
  refusal?(): SoukError | undefined
  /**
   * Copies the whole store, as it is between two commits, into a new file of mode 0600 while it is used. `createSqliteStore` opens
   * the file.
   * @throws SoukError `invalid_request` if the file exists, `internal_error` if it cannot be written, `backup_not_supported` from a
   *   store that only other tools can copy; the message names them
   */
  backUp(path: string): Promise<void>
  /** Nothing happens where it is open already. @throws SoukError `internal_error`, `store_unavailable`: it may be possible later */
  open(): Promise<void>
  /** Writes what is waiting, then lets go. May be opened again. */
  close(): Promise<void>
}
