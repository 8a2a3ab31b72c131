import type { RateLimit } from '../base/gcra.ts'
import type { Atoms } from '../base/money.ts'

/** Length of a plan's period: UTC days and weeks, or calendar months and years in UTC. */
export const PERIODS = ['day', 'week', 'month', 'year'] as const
export type Period = (typeof PERIODS)[number]

/** A price for calls beyond the included ones. */
export interface Tier {
  /** Last call at this price, counted from the first call beyond the included ones. Absent in the last tier: no end. */
  readonly upTo?: number
  readonly price: Atoms
}

/**
 * A subscription plan: its price and what it includes. Part of the signed manifest. A subscription stores its own copy.
 */
export interface Plan {
  /** `[a-z0-9][a-z0-9-]{0,62}`, unique in its manifest. */
  readonly id: string
  readonly name: string
  readonly description?: string
  /** Paid per period, in advance. 0: free. */
  readonly fee: Atoms
  readonly period: Period
  /** Days before the first fee. 0: no trial. A trial is free: it ends where a call would cost something. */
  readonly trialDays: number
  /** Calls per period that the fee includes. Absent: unlimited. */
  readonly included?: number
  /** Prices of calls beyond `included`. Past the last tier, or with no tiers, the quota is a hard limit. */
  readonly overage: readonly Tier[]
  /** Replaces the listing's rate limit. Absent: the listing's applies. */
  readonly rateLimit?: RateLimit
  /** Concurrent calls of one consumer, 1 to `IN_FLIGHT_PER_API_MAX`. Absent: the owner's default. */
  readonly inFlightMax?: number
  /** Time these terms took effect, milliseconds since the epoch. Earlier subscribers keep their terms for a while. */
  readonly since: number
  /** No new subscriptions from this time on. */
  readonly closedAt?: number
}

/** A provider's input for a plan. Amounts are decimal USDC. */
export interface PlanInit {
  readonly id: string
  /** Default: the id. */
  readonly name?: string
  readonly description?: string
  /** Per period, in advance. Default `0`. */
  readonly fee?: string
  /** Default `month`. */
  readonly period?: Period
  /** Default 0. */
  readonly trialDays?: number
  /** Calls per period. Default: unlimited. */
  readonly included?: number
  /** Default: none, so that `included` is a hard limit. */
  readonly overage?: ReadonlyArray<{ readonly upTo?: number; readonly price: string }>
  /** Default: the listing's. */
  readonly rateLimit?: RateLimit
  /** Default: the listing's `inFlightPerConsumer`. */
  readonly inFlightMax?: number
}
