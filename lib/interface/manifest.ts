import type { ApiId } from '../base/api-name.ts'
import type { Atoms } from '../base/money.ts'
import type { Protocol } from './adapter.ts'
import type { PublishedApi } from './published-api.ts'
import type { Plan } from './plan.ts'
import type { RateLimit } from '../base/gcra.ts'
import type { Address } from './signer.ts'

/**
 * States of a listing and the allowed moves. Code and documentation are derived from this table. `retired` is final;
 * its name stays reserved.
 *
 * @example
 * ```ts
 * import { LISTING_MOVES } from 'souk/interface'
 *
 * console.log(LISTING_MOVES.published) // [ 'paused', 'deprecated' ]
 * ```
 */
export const LISTING_MOVES = {
  draft: ['published'],
  published: ['paused', 'deprecated'],
  paused: ['published', 'deprecated'],
  deprecated: ['retired'],
  retired: []
} as const satisfies Record<string, readonly string[]>

export type ListingState = keyof typeof LISTING_MOVES

/** Notice that a listing will end. */
export interface Deprecation {
  /**
   * Time of the notice, and earliest time of retirement: at least `SUNSET_MS_MIN` later. Milliseconds since the epoch.
   */
  readonly at: number
  readonly sunsetAt: number
  /** The API to call instead. */
  readonly successor?: ApiId
  /** `https:` URL of a page with details. */
  readonly link?: string
}

/** A provider's input when it deprecates a listing. */
export interface DeprecationNotice {
  /** Milliseconds since the epoch. Default: the earliest time allowed. */
  readonly sunsetAt?: number
  readonly successor?: ApiId
  readonly link?: string
}

/** Price of a stream's events, in addition to the call that opens it. */
export interface EventTerms {
  /** Per event. */
  readonly price: Atoms
  /** Events included in the price of the opening call. */
  readonly included: number
}

/**
 * An owner's own statistics about its API. Signed but unverifiable, so clients display it and never rank by it. Values
 * are rounded in coarse steps, to the owner's disadvantage.
 */
export interface SelfReport {
  /** End of the measured time, milliseconds since the epoch, and its length in days. */
  readonly until: number
  readonly days: number
  /** Lower bound of the number of calls. Errors of the caller are not counted. */
  readonly calls: number
  /** Lower bound of successful calls per thousand. */
  readonly goodPerMille: number
  /** Milliseconds from a call's arrival to its response head, at the owner. Absent without a successful call. */
  readonly p50Ms?: number
  readonly p95Ms?: number
}

/** The signed description of an API that consumers rely on. Amounts are USDC atoms, times ms since the epoch. */
export interface Manifest {
  readonly name: string
  /** Provider id: peer id of the key that signed this manifest. */
  readonly provider: string
  readonly protocol: Protocol
  readonly description: string
  readonly tags: readonly string[]
  /** Price of one call. */
  readonly price: Atoms
  /** Absent: the opening call pays for the whole stream. */
  readonly events?: EventTerms
  readonly currency: 'USDC'
  /** Address that receives the provider's share. Absent where the provider takes no money. */
  readonly payout?: Address
  /** Declared by the provider: repeating a call at another owner does no harm. Default false. */
  readonly idempotent: boolean
  /** Per consumer, at each node that serves the API. Absent: none. */
  readonly rateLimit?: RateLimit
  readonly api: PublishedApi
  /** Absent: none. */
  readonly plans?: readonly Plan[]
  /** False: callers need a subscription. Absent: callers may pay per call. */
  readonly payPerCall?: false
  /** Increases with breaking changes. A subscription is bound to one major version. Absent: 1. */
  readonly major?: number
  /** Present since the listing was deprecated. */
  readonly deprecation?: Deprecation
  /** Absent where the owner publishes none, or has too few calls. */
  readonly selfReport?: SelfReport
  readonly state: ListingState
  /** Increases with every change. Nodes reject a lower revision than they have seen. */
  readonly revision: number
  readonly issuedAt: number
  readonly expiresAt: number
}

/** A manifest with its proof: a libp2p signed envelope over its canonical encoding. */
export interface SignedManifest {
  readonly id: ApiId
  readonly manifest: Manifest
  readonly envelope: Uint8Array
}

/** The provider's signed permission for another node to serve its APIs. */
export interface Delegation {
  /** Provider id. */
  readonly provider: string
  /** Peer id of the node. */
  readonly peer: string
  readonly expiresAt: number
  /** libp2p envelope, signed by the provider key. */
  readonly envelope: Uint8Array
}

/** Signs and verifies manifests and delegations of a provider. */
export interface ManifestSigner {
  /** Provider id of the signing key. */
  readonly provider: string
  /** @throws SoukError `invalid_request` when the manifest is too large or invalid */
  sign(manifest: Manifest): Promise<SignedManifest>
  /**
   * @throws SoukError `invalid_request` unless the envelope is a valid, unexpired manifest signed by the provider it
   *   names
   */
  verify(envelope: Uint8Array): Promise<SignedManifest>
  delegate(peer: string, expiresAt: number): Promise<Delegation>
}
