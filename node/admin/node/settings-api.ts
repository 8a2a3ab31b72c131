import { z } from 'zod'
import { view } from '../../http/schemas.ts'

/** What the admin API takes and gives of what a node keeps, and of who may look. As in `api.ts`. */

export const settingsSchema = z.strictObject({
  capture: z
    .boolean()
    .describe('Whether requests of calls made from here are kept, to be made again. Off at each start.')
})

export const settingsViewSchema = view('SettingsView', {
  capture: z.boolean(),
  captured: z.number().describe('Requests that are kept at the moment, and at most.'),
  captured_max: z.number(),
  retention: z
    .object({
      answers_ms: z.number().describe('Answers, for a repeat of the same call.'),
      series_ms: z.number().describe('How calls went, for the charts; in memory.'),
      sessions_ms: z.number().describe('A browser that was let in.')
    })
    .describe('How long what is kept of calls, milliseconds. What was paid and earned stays for good.')
})
export type SettingsView = z.output<typeof settingsViewSchema>

export const captureViewSchema = view('CaptureView', {
  kept: z.boolean().describe('False where the request was not kept, or no longer is.'),
  body: z
    .unknown()
    .describe('Its JSON, with `[redacted]` in place of what looks like a secret; null where it was not kept.')
})
export type CaptureView = z.output<typeof captureViewSchema>

export const browserViewSchema = view(
  'BrowserView',
  {
    id: z.string(),
    since: z.number().describe('Milliseconds since the epoch.'),
    expires_at: z.number(),
    current: z.boolean().describe('It is the one that asks.')
  },
  'A browser that was let in; nothing that another one could get in by.'
)
export type BrowserView = z.output<typeof browserViewSchema>
