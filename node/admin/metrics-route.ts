import type { FastifyInstance } from 'fastify'
import { type Atoms, formatUsdc } from '../../lib/index.ts'
import type { Metrics } from '../events/metrics.ts'
import type { AdminInit } from './admin-init.ts'

/** `GET /metrics`: counters and gauges for a monitoring system of this machine. */
export function metricsRoute(
  app: FastifyInstance,
  { status, money }: Pick<AdminInit, 'status' | 'money'>,
  metrics: Metrics
): void {
  app.get('/metrics', (_request, reply) => {
    return reply
      .type('text/plain; version=0.0.4; charset=utf-8')
      .send(metrics.text({ ...status(), written_off: formatUsdc(writtenOff(money)) }))
  })
}

function writtenOff(money: AdminInit['money']): Atoms {
  const splitters = money?.till.settlement.bookkeeper.splitters().values() ?? []
  return [...splitters].reduce((sum, { writtenOff }) => sum + writtenOff, 0n)
}
