import { formatUsdc } from '../../../lib/index.ts'
import type { Span } from '../../events/series.ts'
import { route } from '../route.ts'
import { seriesSchema, seriesViewSchema, type SpanView } from './series-api.ts'

/** Time series of calls, for charts. */
export const seriesRoutes = [
  route({
    method: 'GET',
    path: '/series',
    summary: 'Counts, durations and charges of calls per time step.',
    query: seriesSchema,
    response: seriesViewSchema,
    handler({ series }, { query: { role, since } }) {
      const { stepMs, points, total } = series.read(role, since)
      return {
        known_since: series.startedAt,
        step_ms: stepMs,
        points: points.map(({ at, ...span }) => ({ at, ...spanView(span) })),
        total: spanView(total)
      }
    }
  })
] as const

function spanView({ calls, errors, charged, p50, p95 }: Span): SpanView {
  return { calls, errors, charged: formatUsdc(charged), p50_ms: p50 ?? null, p95_ms: p95 ?? null }
}
