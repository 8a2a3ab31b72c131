import type { Headers } from '../interface/payload.ts'
import type { RateStanding } from '../interface/rate.ts'
import type { Quota } from '../interface/subscription.ts'

/**
 * The messages of `/souk/call/1.0.0`, one to a frame. `docs/reference/souk-call.proto` specifies them for other implementations, and a
 * test holds `frame-codec.ts` to it.
 */
export type Frame =
  | ({ readonly kind: 'hello' } & Hello)
  | ({ readonly kind: 'request' } & RequestFrame)
  | ({ readonly kind: 'response' } & ResponseFrame)
  | ({ readonly kind: 'failure' } & FailureFrame)
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'ack'; readonly requestIds: readonly Uint8Array[] }
  | { readonly kind: 'drain' }

/** First frame of each side. A peer of another network is hung up on. */
export interface Hello {
  readonly network: string
  /** Grows with every start of the process: tells a repeat that the owner it was sent to is gone. */
  readonly epoch: bigint
  /** `souk/<version>`, for people. */
  readonly agent: string
  /** Calls this side takes at once from the other. */
  readonly inFlightMax: number
}

export interface RequestFrame {
  /** Names the call on this channel and direction; counts up from 1. */
  readonly id: number
  readonly requestId: Uint8Array
  readonly api: string
  readonly method: string
  readonly path: string
  readonly headers: Headers
  /** Inline body, or undefined when it comes on a bulk stream. */
  readonly body: Uint8Array | undefined
  readonly timeoutMs: number
  readonly revision: number
  readonly maxPrice: bigint | undefined
  readonly authorization: Uint8Array | undefined
  readonly idempotencyKey: string | undefined
  readonly traceparent: string | undefined
  /** Set on a repeat: the epoch of the owner process it was first sent to. */
  readonly resentFromEpoch: bigint | undefined
  /** Relayed as it came: the consumer node neither reads it nor pays. */
  readonly payment: string | undefined
  /** Who calls, by a name that only this provider is told. */
  readonly consumer: Uint8Array | undefined
  /** When a call with the same idempotency key was first sent, milliseconds since the epoch. 0: this is the first. */
  readonly keyFirstAt: number
  /** That call was answered. */
  readonly keyAnswered: boolean
  /** What of the listing it is for: 0 is the API itself, 1 its subscriptions. */
  readonly service: number
  /** Id of the subscription it is on the terms of. */
  readonly subscription: Uint8Array | undefined
  /** Request id of the stream that it pays events of, in place of being run. */
  readonly stream: Uint8Array | undefined
  /** Events that it pays for, or that will be paid for. */
  readonly events: number
}

export interface ResponseFrame {
  readonly id: number
  readonly status: number
  readonly headers: Headers
  /** Inline body, or undefined when it comes on a bulk stream. */
  readonly body: Uint8Array | undefined
  readonly charged: bigint
  readonly receipt: Uint8Array
  readonly ownerUs: number
  readonly upstreamUs: number
  /** What became of the request's payment, relayed as well. */
  readonly payment: string | undefined
  /** An answer that was given before, to another call with the same idempotency key. */
  readonly replayed: boolean
  readonly rate: RateStanding | undefined
  /** Of the subscription it was called with. */
  readonly quota: Quota | undefined
  /** Further events of the body are to be paid for, at this price each. */
  readonly eventPrice: bigint | undefined
}

/** An error of the table instead of a response. Never an exception's own text. */
export interface FailureFrame {
  readonly id: number
  readonly code: string
  readonly detail: string
  readonly status: number
  /** The owner did not take the call: it may be tried elsewhere. */
  readonly notAccepted: boolean
  /** `owner` or `upstream`. */
  readonly source: string
  readonly retryAfterMs: number
  /** Extra public members of the problem, as a JSON object; empty for none. */
  readonly members: string
}
