export type { CallOutcomeSeen } from '../base/outcome-seen.ts'

/**
 * How an API did on this node's own calls, and on nobody else's. Counts fade with time, so they are not whole numbers. What the
 * caller got wrong counts neither way.
 */
export interface Quality {
  /** 0 to 1: the share of good answers, shrunk towards a prior where there are few. What listings are ordered by. */
  readonly score: number
  /** Calls that this rests on, faded. 0: all below is absent, and the score is the prior. */
  readonly calls: number
  readonly successRate?: number
  /** From sending the call to its answer's head, measured here; to a tenth. */
  readonly p50Ms?: number
  readonly p95Ms?: number
}

/**
 * Whether an API can be reached, by trying: its nodes were asked for its manifest, at no price and without a call. Counts fade.
 * A node that is there may still answer calls badly, so nothing is ordered by this.
 */
export interface Probed {
  readonly probes: number
  readonly reachedRate: number
  /** Half of those that were answered took no longer, dialling included. */
  readonly p50Ms?: number
  /** Milliseconds since the epoch. */
  readonly lastAt: number
}

/** What this node knows of a listing beside what its provider signed. */
export interface Standing {
  /** When this node first heard of it, milliseconds since the epoch: nobody can claim to be older. Absent where it is not indexed. */
  readonly firstSeenAt?: number
  readonly quality: Quality
  /** Absent where it was not probed. */
  readonly probed?: Probed
}
