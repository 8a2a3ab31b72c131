import { z } from 'zod'
import type { Manifest, Probed, SelfReport, Reputation } from '../lib/interface/index.ts'
import { moment, view } from './http/schemas.ts'

export const reputationViewSchema = view(
  'StandingView',
  {
    known_since: moment.nullable().describe('When this node first heard of it, RFC 3339; null where it has not.'),
    quality: z.object({
      score: z.number().describe('0 to 1, shrunk towards a prior where there are few calls.'),
      calls: z.number().describe('Calls of this node that it rests on; older ones count less.'),
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
      .describe(
        'Whether it was reached when this node tried, without a call; null where it does not try, or has not yet.'
      ),
    claimed_by_owner: z
      .object({
        days: z.number(),
        until: moment.describe('RFC 3339: end of those days.'),
        calls: z.number().describe('At least so many.'),
        success_rate: z.number(),
        p50_ms: z.number().nullable(),
        p95_ms: z.number().nullable()
      })
      .nullable()
      .describe("The owner's own word, checked by nobody; null where it says nothing.")
  },
  'How a listing did, as it is shown: what this node knows by itself, and apart from it what the owner says.'
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
