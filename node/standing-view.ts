import type { Standing } from '../lib/interface/index.ts'

/** How a listing did, as it is shown: the node's own calls and nothing else, with how many that were. */
export interface StandingView {
  /** When this node first heard of it, RFC 3339; null where it has not. */
  readonly known_since: string | null
  readonly quality: {
    /** 0 to 1, shrunk towards a prior where there are few calls. */
    readonly score: number
    /** Calls of this node that it rests on; older ones count less. */
    readonly calls: number
    /** Null before the first call. */
    readonly success_rate: number | null
    readonly p50_ms: number | null
    readonly p95_ms: number | null
  }
}

export function standingView({ firstSeenAt, quality }: Standing): StandingView {
  const { score, calls, successRate, p50Ms, p95Ms } = quality
  return {
    known_since: firstSeenAt === undefined ? null : new Date(firstSeenAt).toISOString(),
    quality: {
      score: round(score, 1_000),
      calls: round(calls, 10),
      success_rate: successRate === undefined ? null : round(successRate, 1_000),
      p50_ms: p50Ms ?? null,
      p95_ms: p95Ms ?? null
    }
  }
}

const round = (value: number, parts: number): number => Math.round(value * parts) / parts
