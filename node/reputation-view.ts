import { z } from 'zod'
import type { Manifest, Probed, SelfReport, Reputation } from '../lib/interface/index.ts'
import { moment, view } from './http/schemas.ts'

export const reputationViewSchema = view(
  'StandingView',
  {
    known_since: moment.nullable().describe('When this node first saw the provider, RFC 3339; null if never.'),
    quality: z.object({
      score: z.number().describe('0 to 1. With few calls, it is close to a prior.'),
      calls: z.number().describe('Number of this node’s calls behind the score; older calls count less.'),
      success_rate: z.number().nullable().describe('Null before the first call.'),
      p50_ms: z.number().nullable(),
      p95_ms: z.number().nullable()
    }),
    probed: z
      .object({
        probes: z.number(),
        reached_rate: z.number(),
        p50_ms: z.number().nullable(),
        last_at: moment
      })
      .nullable()
      .describe('Whether this node’s last probe reached the API; null without a probe.'),
    claimed_by_owner: z
      .object({
        days: z.number(),
        until: moment.describe('RFC 3339: end of the reported days.'),
        calls: z.number().describe('Lower bound of the number of calls.'),
        success_rate: z.number(),
        p50_ms: z.number().nullable(),
        p95_ms: z.number().nullable()
      })
      .nullable()
      .describe("The provider's own, unverified report; null if it makes none.")
  },
  "Reputation of a listing: this node's own measurements, and separately the provider's report."
)
export type ReputationView = z.output<typeof reputationViewSchema>

export function reputationView({ firstSeenAt, quality, probed }: Reputation, { selfReport }: Manifest): ReputationView {
  const { score, calls, successRate, p50Ms, p95Ms } = quality
  return {
    known_since: firstSeenAt === undefined ? null : new Date(firstSeenAt).toISOString(),
    quality: {
      score: round(score, 1_000),
      calls: round(calls, 10),
      success_rate: successRate === undefined ? null : round(successRate, 1_000),
      p50_ms: p50Ms ?? null,
      p95_ms: p95Ms ?? null
    },
    probed: probed === undefined ? null : probedView(probed),
    claimed_by_owner: selfReport === undefined ? null : claimView(selfReport)
  }
}

function probedView({ probes, reachedRate, p50Ms, lastAt }: Probed): NonNullable<ReputationView['probed']> {
  const last_at = new Date(lastAt).toISOString()
  return { probes: round(probes, 10), reached_rate: round(reachedRate, 1_000), p50_ms: p50Ms ?? null, last_at }
}

function claimView(report: SelfReport): NonNullable<ReputationView['claimed_by_owner']> {
  const { days, until, calls, goodPerMille, p50Ms, p95Ms } = report
  return {
    days,
    until: new Date(until).toISOString(),
    calls,
    success_rate: goodPerMille / 1_000,
    p50_ms: p50Ms ?? null,
    p95_ms: p95Ms ?? null
  }
}

const round = (value: number, parts: number): number => Math.round(value * parts) / parts
