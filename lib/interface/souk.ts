import type { ApiId, ApiRef } from '../base/api-name.ts'
import type { Atoms } from '../base/money.ts'
import type { Adapter } from './adapter.ts'
import type { Published, Resolution, ResolveOptions, SearchPage, SearchQuery } from './directory.ts'
import type { PeerAddress } from './link.ts'
import type { Delegation, Deprecation, DeprecationNotice, ListingState, SignedManifest } from './manifest.ts'
import type { RateLimit } from '../base/gcra.ts'
import type { RateStanding } from './rate.ts'
import type { Headers, Payload } from './payload.ts'
import type { Standing } from './quality.ts'
import type { Address } from './signer.ts'
import type { PlanInit } from './plan.ts'
import type { Store } from './store.ts'
import type { Quota, Subscriptions } from './subscription.ts'

/** What a provider decides about a listing; the adapter adds protocol and operations. */
export interface ListingInit {
  /** `[a-z0-9][a-z0-9-]{0,62}`, unique for this provider. */
  readonly name: string
  /** Decimal USDC per call, e.g. `0.001`. `0` is free. */
  readonly price: string
  /** REST and GraphQL: decimal USDC for each event of a stream, beside the price of the call that opens it. Default: they cost nothing. */
  readonly pricePerEvent?: string
  /** With `pricePerEvent`: so many events come with the opening. Default 0. */
  readonly eventsIncluded?: number
  /** Where this provider is paid: an address in lower case. Needed wherever calls move money. */
  readonly payout?: Address
  readonly description?: string
  readonly tags?: readonly string[]
  /** A call may be repeated at another owner without harm. Default false. */
  readonly idempotent?: boolean
  /** Default: none. A plan that is left out again takes no new subscribers, and stays a while for those it has. */
  readonly plans?: readonly PlanInit[]
  /** Anybody may call and pay call by call. Default true. False takes a plan or more: it is then called with a subscription only. */
  readonly payPerCall?: boolean
  /** Raised where callers have to change something: subscriptions to a lower one are refused then. Default 1. */
  readonly major?: number
  /**
   * Bodies up to this many bytes. Default `REQUEST_BYTES_MAX`, at most `UPLOAD_BYTES_CEILING`; JSON has `REQUEST_BYTES_CEILING` at most
   * in any case.
   */
  readonly requestBytesMax?: number
  /** Methods other than POST, and sub-paths, are passed to the adapter. Default false. */
  readonly forwardsPaths?: boolean
  /** Calls of one consumer. Default none. Each node that serves the API counts for itself. */
  readonly rateLimit?: RateLimit
  /** Calls of one consumer that are under way at once. Default `IN_FLIGHT_PER_CONSUMER_MAX`, at most `IN_FLIGHT_PER_API_MAX`. */
  readonly inFlightPerConsumer?: number
  /**
   * Calls of one consumer that fail, and so are not charged, before further ones are refused with `rate_limited`. A successful call makes
   * up for a failed one. Default `FAILURES_PER_CONSUMER_MAX` in `FAILURES_PER_CONSUMER_MS`.
   */
  readonly failuresPerConsumer?: RateLimit
}

/** An API this node serves. */
export interface Listing {
  readonly signed: SignedManifest
  /** This node signs the manifest itself; false where it serves another provider's. */
  readonly own: boolean
  readonly state: ListingState
  /** How the last announcement went; undefined before the first. */
  readonly published: Published | undefined
  readonly inFlight: number
}

/** One call from code. */
export interface CallInit {
  /** `name`, `name@provider`, or the same parsed. */
  readonly api: string | ApiRef
  /** Bytes, a stream of them, or any other JSON value, which is sent as JSON. */
  readonly body: unknown
  /** Default `POST`. */
  readonly method?: string
  /** Sub-path and query, `/…` or `?…`. Default empty. */
  readonly path?: string
  /** Default: content-type and accept `application/json`. */
  readonly headers?: Headers
  /** Sent along as far as the listing names them; never credentials, cookies or framing. */
  readonly offeredHeaders?: Headers
  readonly signal?: AbortSignal
  /** Whole time for the call. Default `UPSTREAM_TIMEOUT_MS`, at most `UPSTREAM_TIMEOUT_MS_MAX`. */
  readonly timeoutMs?: number
  /** Refuses to pay more, decimal USDC. Default: whatever the manifest says. */
  readonly maxPrice?: string
  /**
   * Told the price of a call that will cost something, before anything is sent; once more where it is looked up again. What it
   * throws or rejects with ends the call.
   */
  readonly onPrice?: (price: Atoms) => void | Promise<void>
  /**
   * Id of a subscription of this node to this API: the call is on its terms. Where its period is over it is renewed first, and
   * what that costs is told and charged apart from the call.
   */
  readonly subscription?: string
  /** With a subscription: told the fee of a renewal, before it is sent for. What it throws or rejects with ends the call. */
  readonly onFee?: (fee: Atoms) => void | Promise<void>
  /**
   * Where events of a streamed answer have a price each: they are paid for as they come, as far as `maxPrice` allows with the
   * opening's price, or `EVENTS_PAID_UNASKED_MAX` of them without one, and this budget.
   */
  readonly eventBudget?: EventBudget
  /**
   * The same key with the same request is answered with what the first such call was answered, for 24 hours, and charged once.
   * `docs/how-to/limits-and-retries.md` says what is kept.
   */
  readonly idempotencyKey?: string
  /**
   * For whom this node calls: a name of `CONSUMER_BYTES` bytes for one provider, the same each time. Rate limits and idempotency
   * keys are by it. Default: the node's own peer id.
   */
  readonly consumer?: (provider: string) => Uint8Array
  /** W3C trace context, passed on to the owner and the upstream. */
  readonly traceparent?: string
  /** Sixteen bytes, UUID version 7. Default: a fresh one. An id that may have been sent before goes with `sentTo` only. */
  readonly requestId?: Uint8Array
  /**
   * A payment that somebody else made for this call: the value of an x402 v2 `PAYMENT-SIGNATURE` header. It is passed on
   * unread, and this node pays nothing. Empty: nothing is run; the error `payment_required` says in its member `x402` how the
   * call can be paid, unless its owner takes no such payments.
   */
  readonly payment?: string
  /**
   * Peer id of the owner that this call may have been sent to before, under the same `requestId`, where its answer was not
   * heard: by a process that was killed, or over a link that broke. That owner gives the answer it gave then, charging nothing
   * more, or says `call_interrupted`: it had none, and will never run the call, or keeps it no longer. Takes a body of bytes.
   */
  readonly sentTo?: string
}

/** Who pays for the events of a stream beside the till: a key's day, an account. Several payments never overlap. */
export interface EventBudget {
  /** Before a payment of up to so much is made. What it throws or rejects with ends the stream, with a last event that says so. */
  reserve(most: Atoms): void | Promise<void>
  /** It was made; the rest is free again. */
  capture(charged: Atoms, requestId: Uint8Array): void | Promise<void>
  /** It was not. @param mayBeCharged - nobody knows */
  release(mayBeCharged: boolean): void
}

/** Where the time of a call went, milliseconds. */
export interface CallTiming {
  /** Finding the API. */
  readonly lookup: number
  /** Promising the price: a signature now and then, and a deposit where a channel is opened. */
  readonly pay: number
  /** On the way to the owner and back. */
  readonly net: number
  /** At the owner, upstream not counted. */
  readonly owner: number
  readonly upstream: number
}

export interface CallReply {
  readonly requestId: Uint8Array
  readonly id: ApiId
  /** Peer id of the node that answered. */
  readonly owner: string
  readonly status: number
  readonly headers: Headers
  readonly body: Payload
  /** The listed price, and what was really charged: never more than the price. */
  readonly price: Atoms
  readonly charged: Atoms
  readonly receipt: Uint8Array
  /** Each further event of the streamed body costs so much, and has a receipt of its own with others. */
  readonly eventPrice?: Atoms
  /** What became of the payment: the value of the `PAYMENT-RESPONSE` header. */
  readonly payment?: string
  /** The API will end: when notice was given, when it may, and what to call instead. */
  readonly deprecation?: Deprecation
  /** With a subscription: how much of it is used; what a renewal was charged before the call, where there was one. */
  readonly quota?: Quota
  readonly fee?: Atoms
  /** With a subscription: by this call 85 or 100 percent of the included calls are used. Said once in a period for each. */
  readonly alert?: 85 | 100
  /** It was given before, to another call with the same idempotency key. */
  readonly replayed?: boolean
  /** Where this consumer stands with the rate limit of the API, if it has one. */
  readonly rate?: RateStanding
  readonly timing: CallTiming
  /** Reads the body whole and parses it. @throws SoukError `response_too_large`, `upstream_invalid_response` */
  json(): Promise<unknown>
}

export interface SoukStatus {
  readonly peer: string
  readonly provider: string
  readonly network: string
  /**
   * Multiaddrs with the peer id: those that peers are told. A node that tells none, as a network of public addresses has no
   * use for them, shows those it listens on.
   */
  readonly addresses: readonly string[]
  readonly peers: readonly PeerAddress[]
  /** No peer is connected: what is served here is found by nobody else. */
  readonly alone: boolean
  readonly till: string
  readonly listings: number
  /** Calls running now: served here, and sent from here. */
  readonly serving: number
  readonly calling: number
}

/** The library's face: what `createLibp2p({ services: { souk: souk() } })` puts at `services.souk`. */
export interface Souk {
  readonly store: Store

  /**
   * Publishes an API that this node serves with `adapter`. Serving a name again replaces adapter and terms under a new
   * revision, keeping its state.
   * @throws SoukError `invalid_request`
   */
  serve(init: ListingInit, adapter: Adapter): Promise<Listing>
  /**
   * Serves another provider's published API from this node too; that provider must have delegated to it.
   * @throws SoukError `api_not_found`, `key_not_permitted` (no delegation), `invalid_request` (another protocol)
   */
  serveReplica(id: ApiId, adapter: Adapter): Promise<Listing>
  listings(): readonly Listing[]
  /**
   * Moves a listing of this node by the table of states.
   * @param notice - for `deprecated`: when it ends, and what to call instead
   * @throws SoukError `api_not_found`, `invalid_request`, also for `retired` before the sunset
   */
  move(name: string, state: ListingState, notice?: DeprecationNotice): Promise<Listing>
  /** Stops serving it and lets its records run out. @throws SoukError `api_not_found` */
  remove(name: string): Promise<void>
  /** Lets another node serve this provider's APIs. Republishes their records with it. */
  delegate(peer: string): Promise<Delegation>
  delegations(): Promise<readonly Delegation[]>

  /**
   * Calls an API, wherever it is served.
   * @throws SoukError any code of the table; never anything else.
   */
  call(init: CallInit): Promise<CallReply>
  resolve(api: string | ApiRef, options?: Partial<ResolveOptions>): Promise<Resolution>
  search(query?: SearchQuery, signal?: AbortSignal): Promise<SearchPage>
  /** What this node knows of a listing beside what its provider signed. */
  standing(id: ApiId): Promise<Standing>
  /** Binds a bare name to one provider on this node, so that it never again depends on who claims it. */
  pin(name: string, provider: string): Promise<void>
  /** The provider that a name is bound to here. @throws SoukError `invalid_request` */
  pinned(name: string): Promise<string | undefined>

  /** Of this node as a consumer, and what it sold as an owner. */
  readonly subscriptions: Subscriptions

  status(): SoukStatus
}
