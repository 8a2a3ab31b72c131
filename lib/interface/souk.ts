import type { ApiId, ApiRef } from '../base/api-name.ts'
import type { Atoms } from '../base/money.ts'
import type { Adapter } from './adapter.ts'
import type { Descriptions } from './description.ts'
import type { Published, Resolution, ResolveOptions, SearchPage, SearchQuery } from './directory.ts'
import type { PeerAddress } from './link.ts'
import type { Delegation, Deprecation, DeprecationNotice, ListingState, SignedManifest } from './manifest.ts'
import type { RateLimit } from '../base/gcra.ts'
import type { RateLimitStatus } from './rate.ts'
import type { Headers, Payload } from './payload.ts'
import type { Reputation } from './quality.ts'
import type { Address } from './signer.ts'
import type { PlanInit } from './plan.ts'
import type { Reachability } from './reachability.ts'
import type { Store } from './store.ts'
import type { Quota, Subscriptions } from './subscription.ts'

/** A provider's input for a listing. The adapter adds protocol and operations. */
export interface ListingInit {
  /** `[a-z0-9][a-z0-9-]{0,62}`, unique for this provider. */
  readonly name: string
  /** Decimal USDC per call, e.g. `0.001`. `0` is free. */
  readonly price: string
  /**
   * REST and GraphQL: decimal USDC per event of a stream, in addition to the price of the opening call. Default: events
   * are free.
   */
  readonly pricePerEvent?: string | undefined
  /** With `pricePerEvent`: events included in the opening call. Default 0. */
  readonly eventsIncluded?: number | undefined
  /** Address that receives the provider's money, in lower case. Required wherever calls move money. */
  readonly payout?: Address | undefined
  readonly description?: string | undefined
  readonly tags?: readonly string[] | undefined
  /** A call may be repeated at another owner without harm. Default false. */
  readonly idempotent?: boolean | undefined
  /**
   * Default: none. A plan missing from a later `serve` accepts no new subscribers; existing ones keep it for a while.
   */
  readonly plans?: readonly PlanInit[] | undefined
  /**
   * Callers may pay per call. Default true. False requires at least one plan, and every caller needs a subscription.
   */
  readonly payPerCall?: boolean | undefined
  /** Increase it with breaking changes: subscriptions to a lower major version are then refused. Default 1. */
  readonly major?: number | undefined
  /**
   * Largest request body. Default `REQUEST_BYTES_MAX`, at most `UPLOAD_BYTES_CEILING`. JSON bodies are always limited
   * to `REQUEST_BYTES_CEILING`.
   */
  readonly requestBytesMax?: number | undefined
  /** Passes sub-paths and methods other than POST to the adapter. Default false. */
  readonly forwardsPaths?: boolean | undefined
  /** Rate limit per consumer. Default none. Each node that serves the API counts separately. */
  readonly rateLimit?: RateLimit | undefined
  /** Concurrent calls of one consumer. Default `IN_FLIGHT_PER_CONSUMER_MAX`, at most `IN_FLIGHT_PER_API_MAX`. */
  readonly inFlightPerConsumer?: number | undefined
  /**
   * Failed (therefore free) calls of one consumer before further calls get `rate_limited`. A successful call offsets a
   * failed one. Default `FAILURES_PER_CONSUMER_MAX` in `FAILURES_PER_CONSUMER_MS`.
   */
  readonly failuresPerConsumer?: RateLimit | undefined
}

/** An API that this node serves. */
export interface Listing {
  readonly signed: SignedManifest
  /** True where this node signs the manifest; false where it serves another provider's API. */
  readonly own: boolean
  readonly state: ListingState
  /** Result of the last announcement. Undefined before the first. */
  readonly published: Published | undefined
  readonly inFlight: number
}

/** One call from code. */
export interface CallInit {
  /** `name`, `name@provider`, or the same parsed. */
  readonly api: string | ApiRef
  /** Bytes, a stream of bytes, or any other JSON value, which is sent as JSON. */
  readonly body: unknown
  /** Default `POST`. */
  readonly method?: string | undefined
  /** Sub-path and query, `/…` or `?…`. Default empty. */
  readonly path?: string | undefined
  /** Default: content-type and accept `application/json`. */
  readonly headers?: Headers | undefined
  /** Sent only where the listing names them. Credentials, cookies and framing headers are never sent. */
  readonly offeredHeaders?: Headers | undefined
  readonly signal?: AbortSignal | undefined
  /** Time limit of the whole call. Default `UPSTREAM_TIMEOUT_MS`, at most `UPSTREAM_TIMEOUT_MS_MAX`. */
  readonly timeoutMs?: number | undefined
  /** Price limit, decimal USDC. Default: the manifest's price. */
  readonly maxPrice?: string | undefined
  /**
   * Receives the price before a priced call is sent, and again if the API is resolved again. Throwing or rejecting
   * cancels the call.
   */
  readonly onPrice?: ((price: Atoms) => void | Promise<void>) | undefined
  /**
   * Id of a subscription that this node has to this API; the call uses its terms. An ended period is renewed first. The
   * renewal is announced by `onFee` and charged separately.
   */
  readonly subscription?: string | undefined
  /** With a subscription: receives the fee before a renewal is sent. Throwing or rejecting cancels the call. */
  readonly onFee?: ((fee: Atoms) => void | Promise<void>) | undefined
  /**
   * Budget for a streamed response whose events have a price. Events are paid as they arrive, while this budget and
   * `maxPrice` (opening included) allow. Without `maxPrice`, `EVENTS_PAID_UNASKED_MAX` events are paid at most.
   */
  readonly eventBudget?: EventBudget | undefined
  /**
   * 1 to `IDEMPOTENCY_KEY_CHARS_MAX` ASCII characters. Repeating a request with the same key within 24 hours returns the
   * first response, charged once.
   * `docs/how-to/limits-and-retries.md` says what is stored.
   */
  readonly idempotencyKey?: string | undefined
  /**
   * Pseudonym of the account that calls through this node: `CONSUMER_BYTES` bytes per provider, the same each time.
   * Rate limits and idempotency keys apply to it. Default: the node's own peer id.
   */
  readonly consumer?: ((provider: string) => Uint8Array) | undefined
  /** W3C trace context, forwarded to the owner and the upstream. */
  readonly traceparent?: string | undefined
  /** Sixteen bytes, UUID version 7. Default: a new id. An id that may have been sent before requires `sentTo`. */
  readonly requestId?: Uint8Array | undefined
  /**
   * A payment that the client made: the value of an x402 v2 `PAYMENT-SIGNATURE` header. This node forwards it unread
   * and pays nothing. Empty: the call is not run, and `payment_required` carries the payment options in its member
   * `x402`, unless the owner accepts no such payments.
   */
  readonly payment?: string | undefined
  /**
   * Peer id of the owner that may have received this `requestId` before, where the response was lost (process killed,
   * link broken). The owner returns its stored response without a new charge. Without one it returns
   * `call_interrupted`, and never runs the call. The body must be bytes.
   */
  readonly sentTo?: string | undefined
}

/**
 * An additional payer of a stream's events, for example a key's daily cap or an account. Its payments never overlap.
 */
export interface EventBudget {
  /** Called before a payment of up to `most`. Throwing or rejecting ends the stream with an event that says why. */
  reserve(most: Atoms): void | Promise<void>
  /** The payment was made. The rest of the reservation is free again. */
  capture(charged: Atoms, requestId: Uint8Array): void | Promise<void>
  /** The payment was not made. @param mayBeCharged - true where its outcome is unknown */
  release(mayBeCharged: boolean): void
}

/** The parts of a call's duration, milliseconds. */
export interface CallTiming {
  /** Resolving the API. */
  readonly lookup: number
  /** Authorising the payment: sometimes a signature, and a deposit where a channel is opened. */
  readonly pay: number
  /** The way to the owner and back. */
  readonly net: number
  /** At the owner, without the upstream. */
  readonly owner: number
  readonly upstream: number
}

export interface CallReply {
  readonly requestId: Uint8Array
  readonly id: ApiId
  /** Peer id of the owner that responded. */
  readonly owner: string
  readonly status: number
  readonly headers: Headers
  readonly body: Payload
  /** The listed price, and the amount charged, which is never higher. */
  readonly price: Atoms
  readonly charged: Atoms
  readonly receipt: Uint8Array
  /** Price of each further event of a streamed body. Receipts for events are separate and may cover several. */
  readonly eventPrice?: Atoms | undefined
  /** Result of the payment: the value of the `PAYMENT-RESPONSE` header. */
  readonly payment?: string | undefined
  /** Present where the API is deprecated: time of the notice, of the end, and the successor. */
  readonly deprecation?: Deprecation | undefined
  /** With a subscription: its quota after this call, and the fee of a renewal before the call, if any. */
  readonly quota?: Quota | undefined
  readonly fee?: Atoms
  /** With a subscription: this call reached 85 or 100 percent of the included calls. Reported once per period each. */
  readonly alert?: 85 | 100
  /** The response was stored for an earlier call with the same idempotency key. */
  readonly replayed?: boolean | undefined
  /** This consumer's rate-limit status, where the API has a limit. */
  readonly rate?: RateLimitStatus | undefined
  readonly timing: CallTiming
  /** Reads the whole body and parses it. @throws SoukError `response_too_large`, `upstream_invalid_response` */
  json(): Promise<unknown>
}

export interface SoukStatus {
  readonly peer: string
  readonly provider: string
  readonly network: string
  /**
   * Announced multiaddrs with the peer id. A node that announces none (private addresses on a public network) shows its
   * listen addresses.
   */
  readonly addresses: readonly string[]
  /** How peers reach this node. */
  readonly reachability: Reachability
  readonly peers: readonly PeerAddress[]
  /** No peer is connected, so other nodes cannot find this node's APIs. */
  readonly alone: boolean
  readonly paymentScheme: string
  readonly listings: number
  /** Calls running now: served by this node, and sent by this node. */
  readonly serving: number
  readonly calling: number
}

/**
 * The library's main interface: `services.souk` after `createLibp2p({ services: { souk: souk() } })`.
 *
 * @example
 * ```ts
 * import { createNode, handler } from 'souk'
 * import type { Souk } from 'souk/interface'
 *
 * const node = await createNode()
 * await node.start()
 * const souk: Souk = node.souk
 * await souk.serve({ name: 'clock', price: '0', tags: ['time'] }, handler(() => '12:00'))
 * const { listings } = await souk.search({ tag: 'time' })
 * console.log(listings.map(({ manifest }) => manifest.name)) // [ 'clock' ]
 * await node.stop()
 * ```
 */
export interface Souk {
  readonly store: Store

  /**
   * Publishes an API that this node serves with `adapter`. Serving a name again replaces adapter and terms under a new
   * revision, and keeps its state.
   * @throws SoukError `invalid_request`
   */
  serve(init: ListingInit, adapter: Adapter): Promise<Listing>
  /**
   * Serves another provider's published API from this node too. That provider must have delegated to this node.
   * @throws SoukError `api_not_found`, `key_not_permitted` (no delegation), `invalid_request` (another protocol)
   */
  serveReplica(id: ApiId, adapter: Adapter): Promise<Listing>
  listings(): readonly Listing[]
  /** Connected peers that have the current revision of a listing of this node in their catalogue. Asks up to `REACH_PEERS_MAX`. */
  knownBy(id: ApiId, signal: AbortSignal): Promise<readonly string[]>
  /**
   * Changes the state of a listing of this node, as `LISTING_MOVES` allows.
   * @param notice - for `deprecated`: the end, and the API to call instead
   * @throws SoukError `api_not_found`, `invalid_request` (also for `retired` before the sunset)
   */
  move(name: string, state: ListingState, notice?: DeprecationNotice): Promise<Listing>
  /** Stops serving the API and lets its records expire. @throws SoukError `api_not_found` */
  remove(name: string): Promise<void>
  /** Lets another node serve this provider's APIs, and republishes their records with the delegation. */
  delegate(peer: string): Promise<Delegation>
  delegations(): Promise<readonly Delegation[]>

  /**
   * Calls an API.
   * @throws SoukError every error is one, with a code of the table
   */
  call(init: CallInit): Promise<CallReply>
  resolve(api: string | ApiRef, options?: Partial<ResolveOptions>): Promise<Resolution>
  search(query?: SearchQuery, signal?: AbortSignal): Promise<SearchPage>
  /** Reads what listings publish about their operations. */
  readonly descriptions: Descriptions
  /** Quality and age of a listing, as this node measured them. */
  reputation(id: ApiId): Promise<Reputation>
  /** Binds a bare name to one provider on this node, so that other claims to the name have no effect. */
  pin(name: string, provider: string): Promise<void>
  /** The provider that a name is bound to on this node. @throws SoukError `invalid_request` */
  pinned(name: string): Promise<string | undefined>

  /** Subscriptions this node holds as a consumer, and those it sold as an owner. */
  readonly subscriptions: Subscriptions

  /**
   * Dials further bootstrap peers now, and whenever no peer is connected.
   * @throws SoukError `invalid_request`
   */
  addBootstrap(addresses: readonly string[]): void
  status(): SoukStatus
}
