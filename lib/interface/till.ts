import type { ApiId } from '../base/api-name.ts'
import type { Atoms } from '../base/money.ts'
import type { CallRecord } from './store.ts'

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
}

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
}

/** What the owner says became of a call; everything of `CallRecord` that the till does not know by itself. */
export type Outcome = Omit<CallRecord, 'charged' | 'outcome' | 'api' | 'peer' | 'requestId' | 'revision' | 'price'>

/** Money side of a finished call. */
export interface Settled {
  readonly charged: Atoms
  /** Signed outcome for the consumer, in the till's own format; empty where the till signs none. */
  readonly receipt: Uint8Array
}

/** Room for one call that was let in. Exactly one of the two is called, once. */
export interface Reservation {
  /** The call succeeded. Resolves when the outcome is durable: only then may the reply leave. */
  capture(outcome: Outcome): Promise<Settled>
  /** It did not; what was reserved is free again. Durable as well, so that a repeat hears the same. */
  release(outcome: Outcome): Promise<Settled>
}

/**
 * The one interface through which payments ride on calls. A consumer node uses `authorise` and `accept`, an owner node
 * `admit`; a node that calls its own API uses both.
 */
export interface Till {
  /** Name of the scheme, told in `status`: `metered`, later `channel`. */
  readonly scheme: string
  /** This till moves money: `charged` can be above 0. */
  readonly movesMoney: boolean
  /**
   * What to send along with a call, or undefined for nothing.
   * @throws SoukError `price_exceeds_limit`, `spend_cap_reached`, `insufficient_funds`, `settlement_unavailable`
   */
  authorise(order: Order): Promise<Uint8Array | undefined>
  /** The owner's word on a call that was authorised; undefined when the call is known not to have been accepted. */
  accept(order: Order, settled: Settled | undefined): void
  /**
   * Lets a call in, before anything reaches the upstream.
   * @throws SoukError `payment_required`, `payment_rejected`, `payment_malformed`, `overloaded`
   */
  admit(admission: Admission): Reservation | Promise<Reservation>
}
