import type { ApiId } from '../base/api-name.ts'
import type { SoukError } from '../base/errors.ts'
import type { Atoms } from '../base/money.ts'
import type { PeerAddress } from './link.ts'
import type { Headers, Payload } from './payload.ts'
import type { RateLimitStatus } from './rate.ts'
import type { Quota } from './subscription.ts'

/** Value of `Call.service` for calls that manage subscriptions, instead of calling the API itself. */
export const SUBSCRIPTION_SERVICE = 1

/** A call to one owner, with every field that crosses the link. */
export interface Call {
  /** Sixteen bytes, UUID version 7. Identifies the call in logs, books and repeats. */
  readonly requestId: Uint8Array
  readonly api: ApiId
  readonly method: string
  /** Empty, or starting with `/` or `?`. */
  readonly path: string
  readonly headers: Headers
  readonly body: Payload
  /** Time left when the call was sent, milliseconds. */
  readonly timeoutMs: number
  /** Price limit set by the consumer. */
  readonly maxPrice?: Atoms | undefined
  /** Manifest revision that the consumer knows. */
  readonly revision: number
  /** Data of the payer's payment scheme. */
  readonly authorization?: Uint8Array | undefined
  /**
   * Replaces `authorization`: an x402 v2 payment that the client made without this node. Empty: the call is not run,
   * and the error says how to pay.
   */
  readonly payment?: string | undefined
  /**
   * The consumer node's pseudonym for the calling account at this provider, `CONSUMER_BYTES` bytes. Absent where the
   * node calls for itself.
   */
  readonly consumer?: Uint8Array | undefined
  readonly idempotencyKey?: string | undefined
  /** Absent: the consumer node knows no earlier call with this idempotency key. */
  readonly keyUse?: KeyUse | undefined
  readonly traceparent?: string | undefined
  /** Absent: the API itself. */
  readonly service?: typeof SUBSCRIPTION_SERVICE | undefined
  /** Sixteen bytes: id of the subscription whose terms apply. */
  readonly subscription?: Uint8Array | undefined
  /**
   * Request id of a call whose response streams. This call runs nothing: it pays for up to `events` further events of
   * that stream. 0: the payer will pay for no more.
   */
  readonly stream?: Uint8Array | undefined
  /** Without `stream`: events that the payer will pay for one by one if the response is a stream. Default 0. */
  readonly events?: number | undefined
  /** The owner may have received this request id before. It returns the earlier outcome and never runs the call. */
  readonly isRepeat?: boolean | undefined
}

/** The consumer node's record of an earlier call with the same idempotency key to the same owner. */
export interface KeyUse {
  /** Time the consumer node first sent the key: milliseconds since the epoch, by its own clock. */
  readonly firstAt: number
  /** The owner responded to the first call. Its books hold the key, unless they come from an older backup. */
  readonly isAnswered: boolean
}

/** Terms of a call that differ from the manifest's public price. */
export interface CallTerms {
  readonly service?: typeof SUBSCRIPTION_SERVICE
  readonly subscription?: Uint8Array
  /**
   * `price`: the amount promised to the owner instead of the manifest's price. `maxPrice`: the most the call may cost.
   */
  readonly price: Atoms
  readonly maxPrice: Atoms
  /** The call pays the fee of a plan. */
  readonly isFee?: boolean
  /** Peer id of an owner that is always tried. With `isOnly`, no other owner is tried. */
  readonly owner: string
  readonly isOnly: boolean
  /** Priced events of a streamed response are paid for, as they are without a plan. */
  readonly paysEvents: boolean
}

/** A call as its owner receives it. */
export interface IncomingCall extends Omit<Call, 'isRepeat'> {
  /** Peer id of the consumer node, authenticated by the link. A node's own id where it calls itself. */
  readonly peer: string
  /**
   * Present on a repeat after a broken link: the boot epoch of the owner process that first received the call. A later
   * process never runs it: it returns the stored outcome or `call_interrupted`. `UNKNOWN_EPOCH` where the consumer lost
   * the epoch.
   */
  readonly resentFromEpoch?: bigint | undefined
}

/** An epoch that no process has. */
export const UNKNOWN_EPOCH = 0n

/** The response of an owner to a call. */
export interface CallResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Payload
  readonly charged: Atoms
  readonly receipt: Uint8Array
  readonly ownerMs: number
  readonly upstreamMs: number
  /** Result of the call's own payment, in x402 v2 form. */
  readonly payment?: string | undefined
  /** Present for a streamed body: price of each further event. */
  readonly eventPrice?: Atoms | undefined
  /** Quota of the call's subscription, this call included. */
  readonly quota?: Quota | undefined
  /** The response was stored for an earlier call with the same idempotency key. */
  readonly replayed?: boolean | undefined
  /** Present where a rate limit applies. */
  readonly rate?: RateLimitStatus | undefined
}

/**
 * Status of a payment for further events. `paid`: accepted. `none`: no event needs payment yet. `over`: the stream has
 * ended.
 */
export const EVENTS_RESPONSE = { paid: 200, none: 204, over: 410 } as const

/**
 * The owner's half: runs a call or throws a SoukError. `notAccepted` on the error means that nothing happened and
 * another owner may be tried. The outcome is durable before the handler returns or throws.
 */
export type CallHandler = (call: IncomingCall, signal: AbortSignal) => Promise<CallResponse>

/**
 * The outcome of one attempt at one owner. It decides whether another owner may be tried:
 * - `answered`: the owner responded.
 * - `not_accepted`: nothing was sent, or the owner rejected the call. Another owner may be tried.
 * - `failed`: the owner accepted the call and reports an error. Final, unless the API is declared idempotent.
 * - `lost`: the call was sent, and its outcome is unknown. Final, unless the API is declared idempotent.
 */
export type Attempt =
  | { readonly fate: 'answered'; readonly answer: CallResponse; readonly ms: number }
  | { readonly fate: 'not_accepted' | 'failed' | 'lost'; readonly error: SoukError }

/**
 * The consumer's half. Never throws: an aborted `signal` also gives an `Attempt`, and cancels the call at the owner.
 */
export interface Caller {
  call(owner: PeerAddress, call: Call, signal: AbortSignal | undefined): Promise<Attempt>
}
