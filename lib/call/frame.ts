import type { Headers } from '../interface/payload.ts'
import type { RateLimitStatus } from '../interface/rate.ts'
import type { Quota } from '../interface/subscription.ts'

/**
 * The messages of `/souk/call/1.0.0`, one per frame. `docs/reference/souk-call.proto` is their specification; a test
 * compares `frame-codec.ts` with it.
 */
export type Frame =
  | ({ readonly kind: 'hello' } & Hello)
  | ({ readonly kind: 'request' } & RequestFrame)
  | ({ readonly kind: 'response' } & ResponseFrame)
  | ({ readonly kind: 'failure' } & FailureFrame)
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'ack'; readonly requestIds: readonly Uint8Array[] }
  | { readonly kind: 'drain' }

/** First frame of each side. A peer of another network is disconnected. */
export interface Hello {
  readonly network: string
  /** Increases with every start of the process. A repeat uses it to detect that the first owner process has ended. */
  readonly epoch: bigint
  /** `souk/<version>`, for people. */
  readonly agent: string
  /** Concurrent calls that this side accepts from the other. */
  readonly inFlightMax: number
}

export interface RequestFrame {
  /** Id of the call on this channel and direction; counts up from 1. */
  readonly id: number
  readonly requestId: Uint8Array
  readonly api: string
  readonly method: string
  readonly path: string
  readonly headers: Headers
  /** Inline body; undefined when a bulk stream carries it. */
  readonly body: Uint8Array | undefined
  readonly timeoutMs: number
  readonly revision: number
  readonly maxPrice: bigint | undefined
  readonly authorization: Uint8Array | undefined
  readonly idempotencyKey: string | undefined
  readonly traceparent: string | undefined
  /** Present on a repeat: epoch of the owner process that first received the call. */
  readonly resentFromEpoch: bigint | undefined
  /** Forwarded unchanged: the consumer node neither reads it nor pays. */
  readonly payment: string | undefined
  /** The caller's pseudonym at this provider. */
  readonly consumer: Uint8Array | undefined
  /**
   * Time a call with the same idempotency key was first sent, milliseconds since the epoch. 0: this call is the first.
   */
  readonly keyFirstAt: number
  /** The earlier call with this key got a response. */
  readonly keyAnswered: boolean
  /** 0: the API itself. 1: its subscriptions. */
  readonly service: number
  /** Id of the subscription whose terms apply. */
  readonly subscription: Uint8Array | undefined
  /** Request id of the stream whose events this call pays for. Nothing is run then. */
  readonly stream: Uint8Array | undefined
  /** Events that this call pays for, or that the payer will pay for. */
  readonly events: number
}

export interface ResponseFrame {
  readonly id: number
  readonly status: number
  readonly headers: Headers
  /** Inline body; undefined when a bulk stream carries it. */
  readonly body: Uint8Array | undefined
  readonly charged: bigint
  readonly receipt: Uint8Array
  readonly ownerUs: number
  readonly upstreamUs: number
  /** Result of the request's payment, forwarded unchanged. */
  readonly payment: string | undefined
  /** The response was stored for an earlier call with the same idempotency key. */
  readonly replayed: boolean
  readonly rate: RateLimitStatus | undefined
  /** Quota of the call's subscription. */
  readonly quota: Quota | undefined
  /** Price of each further event of the body. */
  readonly eventPrice: bigint | undefined
}

/** An error of the table instead of a response. Never contains an exception's own text. */
export interface FailureFrame {
  readonly id: number
  readonly code: string
  readonly detail: string
  readonly status: number
  /** The owner did not accept the call: another owner may be tried. */
  readonly notAccepted: boolean
  /** `owner`, `upstream`, or `ingress` for the consumer node. */
  readonly source: string
  readonly retryAfterMs: number
  /** Additional public members of the problem as a JSON object; empty for none. */
  readonly members: string
}
