import type { ComponentLogger } from '@libp2p/interface'
import type { ApiId } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import type { Atoms } from '../base/money.ts'
import type { Random } from '../base/random.ts'
import type { HashedRequest } from '../base/request-hash.ts'
import type { Attempt } from './call.ts'
import type { DocumentPut, Ledger } from './ledger.ts'
import type { Link } from './link.ts'
import type { Address } from './signer.ts'
import type { CallLog, CallRecord, Documents, StoredResponse } from './store.ts'

/** A call to be sent, as its payer sees it. */
export interface Order {
  readonly requestId: Uint8Array
  readonly api: ApiId
  /** Peer id of the owner node to pay. */
  readonly owner: string
  readonly revision: number
  readonly price: Atoms
  /** The consumer's price limit for this call. */
  readonly maxPrice?: Atoms | undefined
  /** The order pays a plan's fee. The limit on unearned money at an owner does not apply. Default false. */
  readonly isFee?: boolean
  /** Address that receives the provider's money, from the manifest. */
  readonly payout?: Address | undefined
}

/** An x402 v2 payment that came with a call. Its payer needs no node. */
export interface Payment {
  /** The payment as the client wrote it. Empty: the client asks how to pay. */
  readonly text: string
  /** Hash of the request. The same payment with the same hash is a repeat; with another hash it is refused. */
  readonly requestHash: Uint8Array
  /** The client's idempotency key, if it sent one. */
  readonly idempotencyKey?: string
  /** The URL at which the client asks how to pay. It is not trusted. */
  readonly resourceUrl?: string
}

/** Header of a call that asks how to pay: the URL at which its client asks. */
export const RESOURCE_HEADER = 'souk-resource'

/**
 * Error member with the payment options: the fields of x402's `PaymentRequired` except version and resource, which the
 * ingress adds.
 */
export const PAYMENT_MEMBER = 'x402'

/**
 * x402 extension that gives each 402 response an id. Clients return it in the payment, so two payments with equal text are one
 * payment sent twice.
 */
export const CHALLENGE_EXTENSION = 'souk-challenge'

/** A call that asks its owner for admission. */
export interface Admission {
  readonly requestId: Uint8Array
  readonly api: ApiId
  /** Peer id of the consumer node, authenticated by the link. */
  readonly peer: string
  readonly revision: number
  readonly price: Atoms
  /** Data from the payer's payment scheme. Absent where it sent none. */
  readonly authorization?: Uint8Array | undefined
  /** Address that receives the provider's money, from the manifest. */
  readonly payout?: Address | undefined
  /** Present where the call carries its own payment, or asks how to pay. */
  readonly payment?: Payment | undefined
}

/** The owner's report on a finished call: the fields of `CallRecord` that the payment scheme does not know itself. */
export type Outcome = Omit<CallRecord, 'charged' | 'outcome' | 'api' | 'peer' | 'requestId' | 'revision' | 'price'>

/** Payment result of a finished call. */
export interface Settled {
  readonly charged: Atoms
  /** Receipt for the consumer in the scheme's own format. Empty where the scheme signs none. */
  readonly receipt: Uint8Array
  /** Result of the call's own payment, for its client. */
  readonly payment?: string
}

/** The response to a paid call, as its payer sees it. */
export interface PaidAnswer extends Pick<Settled, 'charged' | 'receipt'> {
  /** HTTP status. */
  readonly status: number
}

/** The stored response to a payment that was already spent on the same request. */
export interface Replay {
  readonly response: StoredResponse
  readonly settled: Settled
}

/**
 * Payment reservation of an admitted call. Call `capture` or `release` exactly once, or neither where `replay` is set.
 */
export interface Reservation {
  /** Return this response and run nothing. */
  readonly replay?: Replay
  /**
   * Ends a successful call. Resolves when the outcome is durable; send the response only then.
   * @param amount - charge below the reserved price. A payment made for this one call may still be taken in full
   * @param alongside - called once, right before the record is stored. Its documents are written in the same
   *   transaction
   */
  capture(outcome: Outcome, amount?: Atoms, alongside?: () => readonly DocumentPut[]): Promise<Settled>
  /** Ends a failed call and frees the reservation. The outcome is durable, so that a repeat gets the same response. */
  release(outcome: Outcome): Promise<Settled>
}

/** Components that a payment scheme is built from. */
export interface PaymentSchemeComponents {
  readonly calls: CallLog
  readonly documents: Documents
  /** The documents that this node shares with the other owners of its APIs. Absent: it shares none. */
  readonly shared?: Documents | undefined
  readonly ledger: Ledger
  readonly link: Pick<Link, 'self' | 'exchange' | 'serve'>
  readonly clock: Clock
  readonly random: Random
  /** Addresses that receive the money of the providers this node serves. */
  readonly payouts: () => Iterable<Address>
  readonly logger: ComponentLogger
}

/** The outcome of an order without a response. */
export type Failure = Exclude<Attempt, { fate: 'answered' }>

/** Retention rules for the payment scheme's own data. */
export interface PaymentSchemeRetention {
  /** Document collections whose keys are request ids in UUID form. */
  readonly collections: readonly string[]
  /** Prefixes of entry kinds. */
  readonly kinds: readonly string[]
  /** Like `TrimRules.isDue`. */
  isDue(account: string, total: Atoms): boolean | Promise<boolean>
}

/**
 * The interface of payment schemes. A consumer node uses `authorise`, `accept` and `fail`; an owner node uses `admit`.
 * A node that calls its own API uses all four.
 */
export interface PaymentScheme {
  /** Name of the scheme, shown in `status`. */
  readonly scheme: string
  /** True where the scheme moves money: `charged` can be above 0. */
  readonly movesMoney: boolean
  /** Calls may carry a `payment` or ask how to pay. `admit` then never admits a call for free. Default false. */
  readonly takesPayments?: boolean
  /**
   * Returns the data to send with a call, or undefined for none. Not a promise where nothing has to be waited for.
   * @throws SoukError `price_exceeds_limit`, `spend_cap_reached`, `insufficient_funds`, `settlement_unavailable`
   */
  authorise(order: Order): Promise<Uint8Array | undefined> | Uint8Array | undefined
  /**
   * Call this when the owner responded to an authorised call. If it returns a promise, deliver the response when it resolves: then
   * a disputed charge is durable. It never rejects.
   * @param sent the request as it was sent. The receipt must state its hash
   */
  accept(order: Order, answer: PaidAnswer, sent: HashedRequest): void | Promise<void>
  /**
   * Call this when the owner did not respond. Returns true to retry once at the same owner, which did not accept the
   * call, with a new `authorise`.
   */
  fail(order: Order, failure: Failure): boolean
  /**
   * Admits a call before anything reaches the upstream.
   * @throws SoukError `payment_required`, `payment_rejected`, `payment_malformed`, `payment_id_conflict`, `overloaded`
   */
  admit(admission: Admission): Reservation | Promise<Reservation>
  /**
   * Returns the charge of an earlier captured call for a repeat, and its receipt, signed again. Default: the record's charge,
   * without a receipt.
   */
  settled?(record: CallRecord): Promise<Settled>
  /**
   * True if `admit` responds to this payment without a call, as to a request for a refund. Then the API need not accept the
   * call's method. Default: false.
   * @param text the payment as the client wrote it
   */
  runsNothing?(text: string): boolean
  /** Peers with unsettled money between them and this node. Their connections are closed last. */
  boundPeers?(): Iterable<string>
  /**
   * Retention rules for the scheme's own data. Default: its data is never deleted, and calls are deleted however they
   * were paid.
   */
  readonly retention?: PaymentSchemeRetention
  /** Called with the store open, before the link starts. */
  start?(): Promise<void>
  /** Called when no call is running, with the store still open. */
  stop?(): Promise<void>
}
