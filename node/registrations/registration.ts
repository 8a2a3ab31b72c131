import type { Listing, ListingInit } from '../../lib/interface/index.ts'
import type { ReadUpstream } from '../upstream/adapters.ts'

/** An upstream of this node with its listing: the node’s own terms, or another provider’s API. */
export type Registration = OwnRegistration | ReplicaRegistration

export interface OwnRegistration extends RegistrationBase {
  readonly kind: 'own'
  readonly terms: ListingInit
}

export interface ReplicaRegistration extends RegistrationBase {
  readonly kind: 'replica'
  readonly provider: string
}

export interface RegistrationBase extends ReadUpstream {
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly registeredAt: number
}

export interface Registered {
  readonly registration: Registration
  readonly listing: Listing
  readonly updated: boolean
  readonly warnings: readonly string[]
}

/** A registration and its listing. `problem` says why there is no listing. */
export interface RegistrationStatus {
  readonly registration: Registration
  readonly listing: Listing | undefined
  readonly problem: string | undefined
  /** Parts of the schema that calls are not checked against. */
  readonly warnings: readonly string[]
}

export function isListingOf(registration: Registration, manifest: { name: string; provider: string }): boolean {
  if (manifest.name !== registration.name) return false
  return registration.kind === 'own' || manifest.provider === registration.provider
}
