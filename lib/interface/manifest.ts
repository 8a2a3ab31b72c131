import type { ApiId } from '../base/api-name.ts'
import type { Atoms } from '../base/money.ts'
import type { ApiDescription, Protocol } from './adapter.ts'
import type { Plan } from './plan.ts'
import type { RateLimit } from '../base/gcra.ts'
import type { Address } from './signer.ts'

/**
 * States of a listing and the moves between them. One table: code and docs follow it.
 * `retired` is final; its name stays held.
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
  /** When it was given, and when the listing may be retired: `SUNSET_MS_MIN` later or more. Milliseconds since the epoch. */
  readonly at: number
  readonly sunsetAt: number
  /** The API to call instead. */
  readonly successor?: ApiId
  /** `https:` URL of a page that says more. */
  readonly link?: string
}

/** What a provider says when it deprecates a listing. */
export interface DeprecationNotice {
  /** Milliseconds since the epoch. Default: as soon as may be. */
  readonly sunsetAt?: number
  readonly successor?: ApiId
  readonly link?: string
}

/** What events of a stream cost, beside the call that opens it. */
export interface EventTerms {
  /** Of each event. */
  readonly price: Atoms
  /** So many come with the opening. */
  readonly included: number
}

/**
 * What an owner says of how its API did, by its own count. Signed, and proven by nobody: it is shown as its word, and nothing is ordered
 * by it. In coarse steps, each the worse way.
 */
export interface SelfReport {
  /** End of the time it is about, milliseconds since the epoch, and that time in days. */
  readonly until: number
  readonly days: number
  /** At least so many calls. What the caller got wrong is not among them. */
  readonly calls: number
  /** Of a thousand of them, so many or more were answered well. */
  readonly goodPerMille: number
  /** From a call's arrival to its answer's head, at the owner. Absent where none was answered well. */
  readonly p50Ms?: number
  readonly p95Ms?: number
}

/** The signed description of an API: what a consumer relies on. Amounts are USDC atoms, times ms since the epoch. */
export interface Manifest {
  readonly name: string
  /** Provider id: peer id of the key that signed this. */
  readonly provider: string
  readonly protocol: Protocol
  readonly description: string
  readonly tags: readonly string[]
  /** Price of one call. */
  readonly price: Atoms
  /** Absent: the opening of a stream pays for all of it. */
  readonly events?: EventTerms
  readonly currency: 'USDC'
  /** Where the provider is paid, after the treasury's share. Absent where nobody is. */
  readonly payout?: Address
  /** Declared by the provider: a call may be repeated at another owner without harm. Default false. */
  readonly idempotent: boolean
  /** Of each consumer, at each node that serves the API. Absent: none. */
  readonly rateLimit?: RateLimit
  readonly api: ApiDescription
  /** Absent: none. */
  readonly plans?: readonly Plan[]
  /** It is called with a subscription only. Absent: anybody may pay call by call. */
  readonly payPerCall?: false
  /** Grows where callers have to change something. Subscriptions are to one. Absent: 1. */
  readonly major?: number
  /** Set while it is deprecated, and after. */
  readonly deprecation?: Deprecation
  /** Absent where the owner says nothing, or was called too little to say something. */
  readonly selfReport?: SelfReport
  readonly state: ListingState
  /** Grows with every change. A lower one than seen before is refused. */
  readonly revision: number
  readonly issuedAt: number
  readonly expiresAt: number
}

/** A manifest with the bytes that prove it: a libp2p signed envelope over its canonical encoding. */
export interface SignedManifest {
  readonly id: ApiId
  readonly manifest: Manifest
  readonly envelope: Uint8Array
}

/** The provider's word that another node may serve its APIs. */
export interface Delegation {
  /** Provider id. */
  readonly provider: string
  /** Peer id of the node. */
  readonly peer: string
  readonly expiresAt: number
  /** libp2p signed envelope, by the provider key. */
  readonly envelope: Uint8Array
}

/** Makes and checks what a provider signs. */
export interface Notary {
  /** Provider id of the key that signs. */
  readonly provider: string
  /** @throws SoukError `invalid_request` when the manifest is too large or out of bounds */
  sign(manifest: Manifest): Promise<SignedManifest>
  /** @throws SoukError `invalid_request` for anything but a sound, unexpired manifest signed by the provider it names */
  verify(envelope: Uint8Array): Promise<SignedManifest>
  delegate(peer: string, expiresAt: number): Promise<Delegation>
}
