import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../events/metrics.ts'
import type { AdminInit } from './admin-init.ts'

/** `GET /metrics`: counters and gauges for a monitoring system of this machine. */
export function metricsRoute(app: FastifyInstance, { status }: Pick<AdminInit, 'status'>, metrics: Metrics): void {
  app.get('/metrics', (_request, reply) => {
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(metrics.text(status()))
  })
}
