import type { ApiId } from '../base/api-name.ts'
import type { SoukError } from '../base/errors.ts'
import type { Atoms } from '../base/money.ts'
import type { PeerAddress } from './link.ts'
import type { Headers, Payload } from './payload.ts'
import type { RateStanding } from './rate.ts'
import type { Quota } from './subscription.ts'

/** What of a listing a call is for, beside the API itself: the subscriptions to it. */
export const SUBSCRIPTION_SERVICE = 1

/** A call on its way to one owner: everything of it that crosses the link. */
export interface Call {
  /** Sixteen bytes, UUID version 7: names the call everywhere, in logs, books and repeats. */
  readonly requestId: Uint8Array
  readonly api: ApiId
  readonly method: string
  /** Empty, or starting with `/` or `?`. */
  readonly path: string
  readonly headers: Headers
  readonly body: Payload
  /** Time left when it was handed over, milliseconds. */
  readonly timeoutMs: number
  /** Most the consumer pays. */
  readonly maxPrice?: Atoms
  /** Manifest revision the consumer knows. */
  readonly revision: number
  /** What the payer's till sends along. */
  readonly authorization?: Uint8Array
  /**
   * In place of an authorization: a payment its payer made without this node, as x402 v2 writes it. Empty where there is none
   * yet: then nothing is run, and the refusal says how the call can be paid.
   */
  readonly payment?: string
  /**
   * Who calls, by a name of `CONSUMER_BYTES` bytes that the consumer node gives one account at one provider. Absent where the
   * node calls for itself.
   */
  readonly consumer?: Uint8Array
  readonly idempotencyKey?: string
  /** Absent: as far as the consumer node knows, this is the first call with its idempotency key. */
  readonly keyUse?: KeyUse
  readonly traceparent?: string
  /** Absent: the API itself. */
  readonly service?: typeof SUBSCRIPTION_SERVICE
  /** Sixteen bytes: it is called on the terms of this subscription. */
  readonly subscription?: Uint8Array
  /**
   * Request id of a call that this owner answers by a stream: it runs nothing, and pays for further events of that stream, up to
   * `events` of them. 0: no more will be paid for.
   */
  readonly stream?: Uint8Array
  /** Without `stream`: events that will be paid for one by one, should the answer be a stream of them. Default 0. */
  readonly events?: number
  /** It may have been sent to this owner before, under the same id: asks what became of it, and never has it run. */
  readonly isRepeat?: boolean
}

/** What the consumer node remembers of an earlier call with the same idempotency key, sent to the same owner. */
export interface KeyUse {
  /** When it was first sent: milliseconds since the epoch, by the consumer node's clock. */
  readonly firstAt: number
  /** The owner answered it, so the key is in the owner's books, unless these are of an older backup. */
  readonly isAnswered: boolean
}

/** How a call is made that is on other terms than the manifest's price for everybody. */
export interface CallTerms {
  readonly service?: typeof SUBSCRIPTION_SERVICE
  readonly subscription?: Uint8Array
  /** What its owner is promised, in place of the manifest's price; and the most that it may cost. */
  readonly price: Atoms
  readonly maxPrice: Atoms
  /** The fee of a plan. */
  readonly isFee?: boolean
  /** Peer id of an owner that is asked in any case; no other where `isOnly`. */
  readonly owner: string
  readonly isOnly: boolean
  /** Events of a streamed answer that have a price are paid for, as they are without a plan. */
  readonly paysEvents: boolean
}

/** A call as its owner sees it. */
export interface IncomingCall extends Omit<Call, 'isRepeat'> {
  /** Consumer node, authenticated by the link; the node's own id for a call of its own. */
  readonly peer: string
  /**
   * Set on a repeat after a broken link: the boot epoch of the owner process the call was first sent to. An owner that has
   * started again since never runs it: it answers from its books, or `call_interrupted`. `UNKNOWN_EPOCH` where the consumer
   * does not know it any more.
   */
  readonly resentFromEpoch?: bigint
}

/** The boot epoch of no process. */
export const UNKNOWN_EPOCH = 0n

/** What became of a call at its owner. */
export interface CallAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Payload
  readonly charged: Atoms
  readonly receipt: Uint8Array
  readonly ownerMs: number
  readonly upstreamMs: number
  /** What became of the call's own payment, as x402 v2 writes it. */
  readonly payment?: string
  /** The body is a stream whose further events are to be paid for at this price each. */
  readonly eventPrice?: Atoms
  /** Of the subscription it was called with, this call included. */
  readonly quota?: Quota
  /** It was given before, to another call with the same idempotency key. */
  readonly replayed?: boolean
  /** Where there is a rate limit. */
  readonly rate?: RateStanding
}

/** What a payment for further events is answered with: they were paid for; there were none to pay for yet; the stream is over. */
export const EVENTS_ANSWER = { paid: 200, none: 204, over: 410 } as const

/**
 * The owner's half: runs a call, or throws a SoukError (`notAccepted` where nothing happened and another owner may be tried).
 * What it returns or throws is durable already.
 */
export type CallHandler = (call: IncomingCall, signal: AbortSignal) => Promise<CallAnswer>

/**
 * The fate of one attempt at one owner. It decides whether another owner may be tried:
 * - `answered`: done.
 * - `not_accepted`: nothing was sent, or the owner said it did not take the call. Safe to try elsewhere.
 * - `failed`: the owner took it and says what went wrong. Final, unless the API is declared idempotent.
 * - `lost`: it was sent and what became of it is unknown. Final, unless the API is declared idempotent.
 */
export type Attempt =
  | { readonly fate: 'answered'; readonly answer: CallAnswer; readonly ms: number }
  | { readonly fate: 'not_accepted' | 'failed' | 'lost'; readonly error: SoukError }

/** The consumer's half. Never throws; an abort of `signal` is a fate as well, and reaches the owner. */
export interface Caller {
  call(owner: PeerAddress, call: Call, signal: AbortSignal | undefined): Promise<Attempt>
}
