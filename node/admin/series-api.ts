import { z } from 'zod'

/** What the admin API tells of how calls went; as in `api.ts`. */

/** `GET /series` */
export const seriesSchema = z.strictObject({
  /** Calls that this node served, or that it made. */
  role: z.enum(['owner', 'payer']).default('owner'),
  /** Milliseconds since the epoch. */
  since: z.coerce.number().int().min(0)
})

export type SeriesInput = z.input<typeof seriesSchema>

export interface SpanView {
  readonly calls: number
  /** Of them, those with a status of 400 and more. */
  readonly errors: number
  /** Earned, where they were served; else paid. */
  readonly charged: string
  /** Milliseconds, right to a tenth; null without a call. */
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

export interface SeriesView {
  /** Nothing is known of what was before. */
  readonly known_since: number
  /** A minute, for the last two hours; a quarter of an hour, for the last week. */
  readonly step_ms: number
  /** Oldest first, one for each step. */
  readonly points: ReadonlyArray<SpanView & { readonly at: number }>
  readonly total: SpanView
}
