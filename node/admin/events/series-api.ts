import { z } from 'zod'
import { list, view } from '../../http/schemas.ts'

/** What the admin API tells of how calls went; as in `api.ts`. */

export const seriesSchema = z.strictObject({
  role: z.enum(['owner', 'payer']).default('owner').describe('Calls that this node served, or that it made.'),
  since: z.coerce.number().int().min(0).describe('Milliseconds since the epoch.')
})

export type SeriesInput = z.input<typeof seriesSchema>

export const spanViewSchema = view('SpanView', {
  calls: z.number(),
  errors: z.number().describe('Of them, those with a status of 400 and more.'),
  charged: z.string().describe('Earned, where they were served; else paid.'),
  p50_ms: z.number().nullable().describe('Milliseconds, right to a tenth; null without a call.'),
  p95_ms: z.number().nullable()
})
export type SpanView = z.output<typeof spanViewSchema>

export const seriesViewSchema = view('SeriesView', {
  known_since: z.number().describe('Nothing is known of what was before.'),
  step_ms: z.number().describe('A minute, for the last two hours; a quarter of an hour, for the last week.'),
  points: list(z.object({ ...spanViewSchema.shape, at: z.number() })).describe('Oldest first, one for each step.'),
  total: spanViewSchema
})
export type SeriesView = z.output<typeof seriesViewSchema>
