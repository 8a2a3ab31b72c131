import type { ApiId } from '../base/api-name.ts'
import type { Atoms } from '../base/money.ts'
import type { ErrorCode, SoukError } from '../base/errors.ts'
import type { ChargeRule } from './charge-rule.ts'
import type { DocumentPut, Ledger, Posting } from './ledger.ts'
import type { ListingIndex } from './listing-index.ts'
import type { Headers } from './payload.ts'

/** Outcome of a call at its owner. `captured`: it succeeded and counts. `void`: it failed and costs nothing. */
export type CallOutcome = 'captured' | 'void'

/**
 * The response stored for a repeat of the same call. Absent for streams, for bodies over `STORED_BODY_BYTES_MAX`, and
 * where the consumer node has used its share of `STORED_BYTES_MAX`.
 */
export interface StoredResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

/** One finished call in an owner's books. Append-only; `(peer, requestId)` is unique. */
export interface CallRecord {
  /** Peer id of the consumer node. */
  readonly peer: string
  /** Sixteen bytes, UUID version 7. */
  readonly requestId: Uint8Array
  readonly api: ApiId
  readonly revision: number
  readonly outcome: CallOutcome
  /** HTTP status returned to the consumer. */
  readonly status: number
  /** Present where the response is a Souk error. */
  readonly code?: ErrorCode | undefined
  /** Listed price at the time. */
  readonly price: Atoms
  /** Amount charged: 0 for `void`, and always 0 under the metered payment scheme. */
  readonly charged: Atoms
  /** Reason for the charge. Absent for `void`, and in records of earlier versions. */
  readonly rule?: ChargeRule | undefined
  /** SHA-256 of the request. A repeat under the same id must be the same request. */
  readonly requestHash: Uint8Array
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Milliseconds at the owner without the upstream, and milliseconds at the upstream. */
  readonly ownerMs: number
  readonly upstreamMs: number
  readonly response?: StoredResponse | undefined
  /** Ledger account that the charge debits. Read by `find` from the call's postings; `append` ignores it. */
  readonly debited?: string
  /** Written with the record. `find` does not return it. */
  readonly claim?: ClaimMark | undefined
  /** The response also belongs to a payment, so `acknowledge` keeps it. `find` does not return this field. */
  readonly isHeld?: true | undefined
}

/** A record without its response. `seq` increases with every append; numbers may be skipped. */
export interface LoggedCall extends Omit<CallRecord, 'response' | 'debited'> {
  readonly seq: number
}

/** Totals of one API's calls. */
export interface UsageRow {
  readonly api: ApiId
  /** Payments for further events of a stream count in the sums only, because they are no calls. */
  readonly captured: number
  readonly voided: number
  /** Sum of `price` over captured calls. */
  readonly metered: Atoms
  /** Sum of `charged`. */
  readonly charged: Atoms
}

/** Changes written in the same transaction as a call's record. */
export interface CallEffects {
  /** Booked as an entry of kind `call`. */
  readonly postings?: readonly Posting[]
  readonly documents?: readonly DocumentPut[]
}

/** The owner's call records. */
export interface CallLog {
  /**
   * Resolves when the record is durable: it survives kill -9 and power loss. Concurrent appends share one disk sync.
   * Rejects a second record under the same `(peer, requestId)`. If the outcome of a commit is unknown, an append waits
   * until the store knows it. Only a store that failed or is closed rejects it with `isChargeUnknown`; the process must
   * then stop. Postings that do not sum to zero are rejected with the record.
   * @throws SoukError `idempotency_in_flight` for the second record (`find` returns the first, with its response), else
   *   `internal_error`.
   */
  append(record: CallRecord, effects?: CallEffects): Promise<void>
  find(peer: string, requestId: Uint8Array): Promise<CallRecord | undefined>
  /**
   * The consumer has these responses. Deletes them, unless they also belong to an idempotency key or a payment; keeps
   * the records. Written asynchronously.
   */
  acknowledge(peer: string, requestIds: readonly Uint8Array[]): void
  /** Newest first; only records before number `before`, where given. */
  recent(query: { readonly api?: ApiId; readonly before?: number; readonly limit: number }): Promise<LoggedCall[]>
  usage(): Promise<UsageRow[]>
  /** Deletes stored responses (never records) older than `before`, and returns their number. */
  dropResponses(before: number): Promise<number>
}

/** The claim on an idempotency key. While it exists, no other call runs under the same name. */
export interface Claim {
  /** SHA-256 of the key's holder, the API and the key. */
  readonly name: Uint8Array
  /** Peer id of the node that runs the call, and the boot epoch of its process. */
  readonly holder: string
  readonly epoch: bigint
  /** Milliseconds since the epoch: time of the claim, then time of the response. */
  readonly at: number
}

/** A claim with its outcome. */
export interface KnownClaim extends Claim {
  /** The call's outcome. Absent: none is stored. */
  readonly answered?: {
    /** SHA-256 of the whole request, body included. */
    readonly requestHash: Uint8Array
    readonly record: CallRecord
  }
}

/** A call record's effect on its claim. */
export interface ClaimMark {
  readonly name: Uint8Array
  /**
   * Present: the call is the response to this key from now on. Absent: the call has no response, and the name is free
   * again.
   */
  readonly requestHash?: Uint8Array
}

/** Idempotency keys: those in an owner's books, and those that a consumer node has sent. */
export interface ClaimLog {
  /**
   * Claims a name that is free, or whose claim is older than `expired`. Resolves to undefined when the claim is
   * durable, or to the existing claim. Of concurrent attempts, one succeeds.
   */
  take(claim: Claim, expired: number): Promise<KnownClaim | undefined>
  /** Writes a claim and replaces the one with the same name. Durable when it resolves. */
  put(claim: Claim): Promise<void>
  /** Frees the name of a call that did not run. */
  free(name: Uint8Array): Promise<void>
  /** Deletes claims older than `before`, and the oldest beyond `most`. Returns their number. */
  drop(before: number, most: number): Promise<number>
}

/**
 * Small JSON values by collection and key: listings, pins, keys, delegations, cached peers. Every write is durable when
 * its promise resolves.
 */
export interface Documents {
  get(collection: string, key: string): Promise<string | undefined>
  put(collection: string, key: string, value: string): Promise<void>
  /** Writes only where the key does not exist. Resolves to true if it wrote. @param expiresAt as in `DocumentPut` */
  insert(collection: string, key: string, value: string, expiresAt?: number): Promise<boolean>
  /**
   * Writes only where the value equals `before`. Resolves to true if it wrote. Of concurrent attempts, one succeeds.
   * @param expiresAt as in `DocumentPut`
   */
  replace(collection: string, key: string, before: string, value: string, expiresAt?: number): Promise<boolean>
  /** Resolves to true when it existed. */
  delete(collection: string, key: string): Promise<boolean>
  /** In reverse key order, from the key before `before`, where given. The cost is proportional to the result. */
  last(
    collection: string,
    query: { readonly before?: string; readonly limit: number }
  ): Promise<Array<{ key: string; value: string }>>
  /**
   * In key order, by code point. Reads the whole collection, so use it only for collections that do not grow over time.
   */
  list(collection: string): Promise<Array<{ key: string; value: string }>>
  /** Writes all documents in one commit. */
  putAll(documents: readonly DocumentPut[]): Promise<void>
  /** Deletes the first `limit` documents of a collection whose keys are before `before`. Returns their number. */
  trim(collection: string, before: string, limit: number): Promise<number>
  /** Deletes up to `limit` documents that expired before `now`, oldest first. Returns their number. */
  sweep(now: number, limit: number): Promise<number>
}

/** Rows of the books that may be deleted. */
export interface TrimRules {
  /** Deletes charged calls, and entries, older than this time. */
  readonly before: number
  /** Deletes free calls older than this time, which is not before `before`. */
  readonly freeBefore: number
  /** Rows from after this time carry a wrong time and are skipped. */
  readonly now: number
  /**
   * Entries of calls are deleted with their calls. Other entries are deleted only where their kind has one of these
   * prefixes.
   */
  readonly kinds: readonly string[]
  /**
   * Whether entries of an account may be deleted when the sum of all its deleted entries becomes `total`. An entry
   * stays if this returns false for one of its accounts.
   */
  readonly isDue: (account: string, total: Atoms) => boolean | Promise<boolean>
  /** Rows per slice. */
  readonly limit: number
}

/** Result of one slice. */
export interface Trimmed {
  readonly calls: number
  readonly entries: number
  /** The pass is complete. The next slice starts again with the oldest row. */
  readonly isOver: boolean
}

/**
 * Deletes old rows of the books. Usage totals and account balances do not change, because they are stored separately.
 * `Ledger.carried` returns the sums of deleted entries by account.
 */
export interface Retention {
  /**
   * Checks the next `limit` rows, oldest first, and deletes the due ones in one short transaction. Continues after the
   * previous slice, also after a restart. Processes that share a store delete and count each row once. A call stays
   * while its response is stored or belongs to an idempotency key.
   */
  trim(rules: TrimRules): Promise<Trimmed>
}

/**
 * Tells processes that share a store which of their cached data is stale. A signal usually arrives within milliseconds.
 * A lost one is not repeated, so listeners must also reread from time to time.
 */
export interface Signals {
  /** Resolves when it is sent to all listeners, this process included. @throws SoukError `internal_error` */
  send(topic: string, text: string): Promise<void>
  /** `hear` receives `undefined` where signals may have been lost. Returns a function that stops listening. */
  listen(topic: string, hear: (text: string | undefined) => void): () => void
}

/**
 * Stops writes of a process that was presumed dead. Each transaction carries a token that the database checks; `fence`
 * revokes it. A process that is still alive fails at its next write, gets a new token, and `onFenced` reports it: its
 * cached data may be stale.
 */
export interface Fencing {
  /** Id of this process for `fence`. It may change when `onFenced` reports. */
  readonly id: string
  /**
   * Resolves when no earlier transaction of process `id` can be written any more. @throws SoukError `store_unavailable`
   */
  fence(id: string): Promise<void>
  /** Returns a function that stops listening. */
  onFenced(hear: () => void): () => void
}

/**
 * All storage of a node. Implementations pass `test/suites/store.ts`. On a store that is not open, every operation
 * rejects with `internal_error`, except `acknowledge`, which does nothing.
 */
export interface Store {
  readonly calls: CallLog
  readonly claims: ClaimLog
  readonly documents: Documents
  readonly ledger: Ledger
  readonly retention: Retention
  /** Absent where only one process can open the store. */
  readonly signals?: Signals
  readonly fencing?: Fencing
  readonly listings: ListingIndex
  /**
   * The reason to reject new work that writes here: `store_unavailable` or `storage_full`; undefined for none. Work in
   * progress may still use `calls.append`, `ledger.book` and `ledger.draw`, which wait for an unavailable database.
   */
  refusal?(): SoukError | undefined
  /**
   * Copies the store while it is in use, as of one commit, into a new file of mode 0600. `createSqliteStore` opens the
   * file.
   * @throws SoukError `invalid_request` if the file exists, `internal_error` if it cannot be written,
   *   `backup_not_supported` from a store that needs other tools for a copy; the message names them
   */
  backUp(path: string): Promise<void>
  /**
   * Does nothing where it is open. @throws SoukError `internal_error`, `store_unavailable` (a later attempt may
   * succeed)
   */
  open(): Promise<void>
  /** Writes pending data, then closes. May be opened again. */
  close(): Promise<void>
}
