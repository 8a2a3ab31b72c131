export type { CallOutcomeSeen } from '../base/outcome-seen.ts'

/**
 * An API's results on this node's own calls. Counts decay over time, so they are fractions. Errors of the caller are
 * not counted.
 */
export interface Quality {
  /** 0 to 1: share of successful responses, shrunk towards a prior while there are few. Searches rank by this score. */
  readonly score: number
  /** Number of calls measured, decayed. 0: the fields below are absent and the score is the prior. */
  readonly calls: number
  readonly successRate?: number
  /** Milliseconds from sending a call to its response head, measured at this node. Accurate to 10%. */
  readonly p50Ms?: number
  readonly p95Ms?: number
}

/**
 * Results of probes: free requests for the API's manifest at its nodes, without a call. Counts decay. A reachable node
 * may still fail calls, so searches do not rank by this.
 */
export interface Probed {
  readonly probes: number
  readonly reachedRate: number
  /** Median of the successful probes, dialling included. */
  readonly p50Ms?: number
  /** Milliseconds since the epoch. */
  readonly lastAt: number
}

/** This node's own measurements of a listing. */
export interface Reputation {
  /**
   * Time this node first saw the listing, milliseconds since the epoch. The provider cannot forge it. Absent where not
   * indexed.
   */
  readonly firstSeenAt?: number
  readonly quality: Quality
  /** Absent where not probed. */
  readonly probed?: Probed
}
