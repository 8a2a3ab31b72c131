import type { RateLimit } from '../base/gcra.ts'
import type { Atoms } from '../base/money.ts'

/** How long a plan's period is: whole days and weeks of UTC, or months and years of its calendar. */
export const PERIODS = ['day', 'week', 'month', 'year'] as const
export type Period = (typeof PERIODS)[number]

/** A price of the calls beyond those that are included. */
export interface Tier {
  /** The last call at this price, counted from the first one beyond those included. Absent in the last tier: no end. */
  readonly upTo?: number
  readonly price: Atoms
}

/** What a subscriber pays, and gets for it. Part of the signed manifest; a subscription pins it. */
export interface Plan {
  /** `[a-z0-9][a-z0-9-]{0,62}`, unique in its manifest. */
  readonly id: string
  readonly name: string
  readonly description?: string
  /** Paid for a period in advance. 0: free. */
  readonly fee: Atoms
  readonly period: Period
  /** Days before the first fee. 0: none. A trial never costs anything: it ends where calls would have to be paid for. */
  readonly trialDays: number
  /** Calls in a period that the fee pays for. Absent: any number. */
  readonly included?: number
  /** What calls cost beyond those. Empty, or past the last tier: there are none, and the quota is a hard limit. */
  readonly overage: readonly Tier[]
  /** Of its calls, in place of the listing's. Absent: the listing's holds. */
  readonly rateLimit?: RateLimit
  /** Calls of one consumer under way at once, 1 to `IN_FLIGHT_PER_API_MAX`. Absent: what the owner allows any. */
  readonly inFlightMax?: number
  /** From when on these terms are offered, milliseconds since the epoch: who subscribed before keeps his own for a while. */
  readonly since: number
  /** From then on nobody can subscribe to it. */
  readonly closedAt?: number
}

/** What a provider decides about a plan. Amounts are decimal USDC. */
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
  /** Calls per period. Default: any number. */
  readonly included?: number
  /** Default: none, so that `included` is a hard limit. */
  readonly overage?: ReadonlyArray<{ readonly upTo?: number; readonly price: string }>
  /** Default: the listing's. */
  readonly rateLimit?: RateLimit
  /** Default: the listing's `inFlightPerConsumer`. */
  readonly inFlightMax?: number
}
