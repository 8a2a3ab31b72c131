import { limits } from '../../../lib/index.ts'
import type { Captures } from '../../events/captures.ts'
import { route } from '../route.ts'
import { captureViewSchema, settingsSchema, type SettingsView, settingsViewSchema } from './settings-api.ts'

const QUARTER_MS = 15 * 60_000

/** Which data of calls is stored, and for how long. */
export const settingsRoutes = [
  route({
    method: 'GET',
    path: '/settings',
    summary: 'Which data of calls is stored, and for how long.',
    response: settingsViewSchema,
    handler: ({ captures }) => settingsView(captures)
  }),
  route({
    method: 'PUT',
    path: '/settings',
    summary: 'Turns the capture of request bodies on or off, for replays. It is off at each start.',
    body: settingsSchema,
    response: settingsViewSchema,
    handler({ captures }, { body }) {
      captures.set(body.capture)
      return settingsView(captures)
    }
  }),
  route({
    method: 'GET',
    path: '/captures/:id',
    summary: 'The captured request of a call, by its request id.',
    response: captureViewSchema,
    handler({ captures }, { params }) {
      const body = captures.find(params.id)
      return { kept: body !== undefined, body: body ?? null }
    }
  })
] as const

function settingsView(captures: Captures): SettingsView {
  return {
    capture: captures.isOn,
    captured: captures.count,
    captured_max: limits.CAPTURED_CALLS_MAX,
    retention: {
      answers_ms: limits.STORED_RESPONSE_MS,
      series_ms: limits.SERIES_QUARTERS_MAX * QUARTER_MS,
      sessions_ms: limits.CONSOLE_SESSION_MS
    }
  }
}
