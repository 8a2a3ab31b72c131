import { z } from 'zod'
import { list, view } from '../../http/schemas.ts'

/** Input and response of the time series. `api.ts` states the units. */

export const seriesSchema = z.strictObject({
  role: z
    .enum(['owner', 'payer'])
    .default('owner')
    .describe('`owner`: calls served by this node. `payer`: calls made by it.'),
  since: z.coerce.number().int().min(0).describe('Milliseconds since the epoch.')
})

export type SeriesInput = z.input<typeof seriesSchema>

export const spanViewSchema = view('SpanView', {
  calls: z.number(),
  errors: z.number().describe('Calls with a status of 400 or more.'),
  charged: z.string().describe('Amount earned as owner, or paid as payer.'),
  p50_ms: z.number().nullable().describe('Milliseconds, with an error of up to 10%; null without a call.'),
  p95_ms: z.number().nullable()
})
export type SpanView = z.output<typeof spanViewSchema>

export const seriesViewSchema = view('SeriesView', {
  known_since: z.number().describe('Start of the data.'),
  step_ms: z.number().describe('One minute for the last two hours; 15 minutes for the last week.'),
  points: list(z.object({ ...spanViewSchema.shape, at: z.number() })).describe('One point per step, oldest first.'),
  total: spanViewSchema
})
export type SeriesView = z.output<typeof seriesViewSchema>
