import type { FastifyInstance } from 'fastify'
import { limits } from '../../lib/index.ts'
import type { AdminInit } from './admin-init.ts'
import { parse } from './problems.ts'
import { type CaptureView, settingsSchema, type SettingsView } from './settings-api.ts'

const QUARTER_MS = 15 * 60_000

/** What is kept of calls, and for how long. */
export function settingsRoutes(app: FastifyInstance, { captures }: AdminInit): void {
  const view = (): SettingsView => ({
    capture: captures.isOn,
    captured: captures.count,
    captured_max: limits.CAPTURED_CALLS_MAX,
    retention: {
      answers_ms: limits.STORED_RESPONSE_MS,
      series_ms: limits.SERIES_QUARTERS_MAX * QUARTER_MS,
      sessions_ms: limits.CONSOLE_SESSION_MS
    }
  })

  app.get('/settings', view)

  app.put('/settings', (request): SettingsView => {
    captures.set(parse(settingsSchema, request.body).capture)
    return view()
  })

  app.get<{ Params: { id: string } }>('/captures/:id', ({ params }): CaptureView => {
    const body = captures.find(params.id)
    return { kept: body !== undefined, body: body ?? null }
  })
}
