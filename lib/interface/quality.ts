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

/** What this node knows of a listing beside what its provider signed. */
export interface Standing {
  /** When this node first heard of it, milliseconds since the epoch: nobody can claim to be older. Absent where it is not indexed. */
  readonly firstSeenAt?: number
  readonly quality: Quality
}

/** How one call went, as far as its API is concerned. */
export interface CallOutcomeSeen {
  readonly isGood: boolean
  /** Where it was answered. */
  readonly ms?: number
}
