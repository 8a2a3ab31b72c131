import { z } from 'zod'
import { type Atoms, formatUsdc } from '../../../lib/index.ts'
import type { AdminInit } from '../admin-init.ts'
import { route } from '../route.ts'

/** Metrics for a monitoring system on this machine. */
export const metricsRoutes = [
  route({
    method: 'GET',
    path: '/metrics',
    summary: 'Counters and gauges for a monitoring system: see [metrics](metrics.md).',
    response: z.string().describe('Prometheus’ text format'),
    mediaType: 'text/plain; version=0.0.4; charset=utf-8',
    handler: ({ status, money, metrics }) => metrics.text({ ...status(), written_off: formatUsdc(writtenOff(money)) })
  })
] as const

function writtenOff(money: AdminInit['money']): Atoms {
  const splitters = money?.paymentScheme.settlement.bookkeeper.splitters().values() ?? []
  return [...splitters].reduce((sum, { writtenOff }) => sum + writtenOff, 0n)
}
