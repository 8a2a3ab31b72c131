import type { FastifyInstance } from 'fastify'
import { formatUsdc } from '../../lib/index.ts'
import type { Series, Span } from '../events/series.ts'
import { parse } from './problems.ts'
import { seriesSchema, type SeriesView, type SpanView } from './series-api.ts'

/** How calls went, to be drawn. */
export function seriesRoutes(app: FastifyInstance, series: Series): void {
  app.get('/series', (request): SeriesView => {
    const { role, since } = parse(seriesSchema, request.query)
    const { stepMs, points, total } = series.read(role, since)
    return {
      known_since: series.startedAt,
      step_ms: stepMs,
      points: points.map(({ at, ...span }) => ({ at, ...spanView(span) })),
      total: spanView(total)
    }
  })
}

function spanView({ calls, errors, charged, p50, p95 }: Span): SpanView {
  return { calls, errors, charged: formatUsdc(charged), p50_ms: p50 ?? null, p95_ms: p95 ?? null }
}
