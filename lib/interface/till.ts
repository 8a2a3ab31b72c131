import type { ComponentLogger } from '@libp2p/interface'
import type { ApiId } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import type { Atoms } from '../base/money.ts'
import type { Random } from '../base/random.ts'
import type { Attempt } from './call.ts'
import type { DocumentPut, Ledger } from './ledger.ts'
import type { Link } from './link.ts'
import type { Address } from './signer.ts'
import type { CallLog, CallRecord, Documents, StoredResponse } from './store.ts'

/** A call about to be sent, as its payer sees it. */
export interface Order {
  readonly requestId: Uint8Array
  readonly api: ApiId
  /** Peer id of the owner node that is to be paid. */
  readonly owner: string
  readonly revision: number
  readonly price: Atoms
  /** The consumer's own ceiling for this call, where there is one. */
  readonly maxPrice?: Atoms
  /** It is the fee of a plan, agreed to as such: what an owner may hold unearned otherwise is no measure of it. Default false. */
  readonly isFee?: boolean
  /** Where the provider is paid, as its manifest says. */
  readonly payout?: Address
}

/** A payment that came with a call, made by somebody who needs no node: x402 version 2. */
export interface Payment {
  /** As its client wrote it; empty where it asks how to pay. */
  readonly text: string
  /** The same payment for the same request is a repeat; for another one it is refused. */
  readonly requestHash: Uint8Array
  /** The client's name for the call, where it has one beside the payment's own. */
  readonly idempotencyKey?: string
}

/**
 * Member of a refusal that says how the call can be paid: what x402's `PaymentRequired` holds but version and resource, which
 * are for the ingress to say.
 */
export const PAYMENT_MEMBER = 'x402'

/** A call as it asks to be let in, at its owner. */
export interface Admission {
  readonly requestId: Uint8Array
  readonly api: ApiId
  /** Consumer node, authenticated by the link. */
  readonly peer: string
  readonly revision: number
  readonly price: Atoms
  /** What the payer's till sent along; absent when it sent nothing. */
  readonly authorization?: Uint8Array
  /** Where the provider is paid, as its manifest says. */
  readonly payout?: Address
  /** Set where the call comes with its own payment, or asks for how to pay. */
  readonly payment?: Payment
}

/** What the owner says became of a call; everything of `CallRecord` that the till does not know by itself. */
export type Outcome = Omit<CallRecord, 'charged' | 'outcome' | 'api' | 'peer' | 'requestId' | 'revision' | 'price'>

/** Money side of a finished call. */
export interface Settled {
  readonly charged: Atoms
  /** Signed outcome for the consumer, in the till's own format; empty where the till signs none. */
  readonly receipt: Uint8Array
  /** What became of the call's own payment, for its client. */
  readonly payment?: string
}

/** A payment that was spent on the same request before: what was answered then. */
export interface Replay {
  readonly response: StoredResponse
  readonly settled: Settled
}

/** Room for one call that was let in. Exactly one of the two is called, once; neither where there is a `replay`. */
export interface Reservation {
  /** Nothing is to be run: this is the answer. */
  readonly replay?: Replay
  /**
   * The call succeeded. Resolves when the outcome is durable: only then may the reply leave.
   * @param amount - what it costs, where that is less than the price that was reserved; a payment that was made for this one
   *   call may be taken whole all the same
   * @param alongside - asked right before the record is handed to the store, once: documents that are written with it, or not at all
   */
  capture(outcome: Outcome, amount?: Atoms, alongside?: () => readonly DocumentPut[]): Promise<Settled>
  /** It did not; what was reserved is free again. Durable as well, so that a repeat hears the same. */
  release(outcome: Outcome): Promise<Settled>
}

/** What a till is made of. */
export interface TillComponents {
  readonly calls: CallLog
  readonly documents: Documents
  readonly ledger: Ledger
  readonly link: Pick<Link, 'self' | 'exchange' | 'serve'>
  readonly clock: Clock
  readonly random: Random
  /** Where the providers of what this node serves are paid. */
  readonly payouts: () => Iterable<Address>
  readonly logger: ComponentLogger
}

/** Why an order brought no answer. */
export type Failure = Exclude<Attempt, { fate: 'answered' }>

/** What of a till's own may be deleted for its age, and when. */
export interface TillRetention {
  /** Collections of documents whose keys are request ids in their usual form. */
  readonly collections: readonly string[]
  /** Beginnings of kinds of entries. */
  readonly kinds: readonly string[]
  /** As `TrimRules.isDue`. */
  isDue(account: string, total: Atoms): boolean | Promise<boolean>
}

/**
 * The one interface through which payments ride on calls. A consumer node uses `authorise`, `accept` and `fail`, an owner
 * node `admit`; a node that calls its own API uses both.
 */
export interface Till {
  /** Name of the scheme, told in `status`: `metered`, later `channel`. */
  readonly scheme: string
  /** This till moves money: `charged` can be above 0. */
  readonly movesMoney: boolean
  /** Calls may come with a `payment`, or ask how to pay: `admit` then never lets one in for free. Default false. */
  readonly takesPayments?: boolean
  /**
   * What to send along with a call, or undefined for nothing.
   * @throws SoukError `price_exceeds_limit`, `spend_cap_reached`, `insufficient_funds`, `settlement_unavailable`
   */
  authorise(order: Order): Promise<Uint8Array | undefined>
  /** The owner answered a call that was authorised. */
  accept(order: Order, settled: Settled): void
  /**
   * It did not. True where the same owner, which did not take the call, is worth one more try with what `authorise` makes then.
   */
  fail(order: Order, failure: Failure): boolean
  /**
   * Lets a call in, before anything reaches the upstream.
   * @throws SoukError `payment_required`, `payment_rejected`, `payment_malformed`, `payment_id_conflict`, `overloaded`
   */
  admit(admission: Admission): Reservation | Promise<Reservation>
  /** Peers with money between them and this node that is not settled yet: their connections are the last to go. */
  boundPeers?(): Iterable<string>
  /** What of the till's own may be deleted for its age. Default: nothing; then calls may be deleted whatever they are paid with. */
  readonly retention?: TillRetention
  /** With the store open, before the link starts. */
  start?(): Promise<void>
  /** When no call is under way any more, with the store still open. */
  stop?(): Promise<void>
}
