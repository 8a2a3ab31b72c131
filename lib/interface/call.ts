import type { ApiId } from '../base/api-name.ts'
import type { SoukError } from '../base/errors.ts'
import type { Atoms } from '../base/money.ts'
import type { PeerAddress } from './link.ts'
import type { RequestFrame, ResponseFrame } from './call-messages.ts'
import type { Payload } from './payload.ts'

/** Value of `Call.service` for calls that manage subscriptions, instead of calling the API itself. */
export const SUBSCRIPTION_SERVICE = 1

/** A call to one owner, with every field that crosses the link: see `REQUEST`. */
export interface Call extends Omit<RequestFrame, 'id' | 'api' | 'body' | 'resentFromEpoch'> {
  readonly api: ApiId
  readonly body: Payload
  /** The owner may have received this request id before. It returns the earlier outcome and never runs the call. */
  readonly isRepeat?: boolean | undefined
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

/** The response of an owner to a call: see `RESPONSE`. */
export interface CallResponse extends Omit<ResponseFrame, 'id' | 'body' | 'ownerUs' | 'upstreamUs'> {
  readonly body: Payload
  readonly ownerMs: number
  readonly upstreamMs: number
  /** Frees the memory of a whole body. Called once the body was sent or dropped. */
  readonly free?: (() => void) | undefined
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

/** Observes the calls that run on this node. */
export interface CallWatcher {
  onCall?(call: IncomingCall): void
  /** @param ms time since `onCall` */
  onAnswer(call: IncomingCall, answer: CallResponse, ms: number): void
  /** @param signal the call's own, aborted if the caller cancelled */
  onError(call: IncomingCall, error: unknown, ms: number, signal: AbortSignal): void
}

/**
 * The outcome of one attempt at one owner. It decides whether another owner may be tried:
 * - `answered`: the owner responded.
 * - `not_accepted`: nothing was sent, or the owner rejected the call. Another owner may be tried.
 * - `failed`: the owner accepted the call and reports an error. Final, unless the API is declared idempotent.
 * - `lost`: the call was sent, and its outcome is unknown. Final, unless the API is declared idempotent.
 */
export type Attempt =
  | {
      readonly fate: 'answered'
      readonly answer: CallResponse
      readonly ms: number
      /** The request's body had a stream of its own, so the request hash does not cover it. */
      readonly isBodyApart?: boolean
    }
  | { readonly fate: 'not_accepted' | 'failed' | 'lost'; readonly error: SoukError }

/**
 * The consumer's half. Never throws: an aborted `signal` also gives an `Attempt`, and cancels the call at the owner.
 */
export interface Caller {
  call(owner: PeerAddress, call: Call, signal: AbortSignal | undefined): Promise<Attempt>
}
