import { z } from 'zod'
import { view } from '../../http/schemas.ts'

/** Inputs and responses of the settings and browser routes. `api.ts` states the units. */

export const settingsSchema = z.strictObject({
  capture: z
    .boolean()
    .describe('Whether requests of calls from this machine are captured, for replays. Off at each start.')
})

export const settingsViewSchema = view('SettingsView', {
  capture: z.boolean(),
  captured: z.number().describe('Number of captured requests, then its maximum.'),
  captured_max: z.number(),
  retention: z
    .object({
      answers_ms: z.number().describe('Stored responses, for a repeat of the same call.'),
      series_ms: z.number().describe('Data of the charts, in memory.'),
      sessions_ms: z.number().describe('Session of a browser.')
    })
    .describe('Retention times in milliseconds. Balances and earnings are kept for good.')
})
export type SettingsView = z.output<typeof settingsViewSchema>

export const captureViewSchema = view('CaptureView', {
  kept: z.boolean().describe('False if the request was not captured, or is deleted.'),
  body: z
    .unknown()
    .describe('The JSON, with `[redacted]` in place of likely secrets; null if the request was not captured.')
})
export type CaptureView = z.output<typeof captureViewSchema>

export const browserViewSchema = view(
  'BrowserView',
  {
    id: z.string(),
    since: z.number().describe('Milliseconds since the epoch.'),
    expires_at: z.number(),
    current: z.boolean().describe('True for the browser that sent this request.')
  },
  'A signed-in browser. Holds no credentials.'
)
export type BrowserView = z.output<typeof browserViewSchema>
