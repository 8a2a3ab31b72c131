import { z } from 'zod'

/** What the admin API takes and gives of what a node keeps, and of who may look. As in `api.ts`. */

/** `PUT /settings` */
export const settingsSchema = z.strictObject({
  /** Whether requests of calls made from here are kept, to be made again. Off at each start. */
  capture: z.boolean()
})
export type SettingsInput = z.input<typeof settingsSchema>

/** `GET /settings` */
export interface SettingsView {
  readonly capture: boolean
  /** Requests that are kept at the moment, and at most. */
  readonly captured: number
  readonly captured_max: number
  /** How long what is kept of calls, milliseconds. What was paid and earned stays for good. */
  readonly retention: {
    /** Answers, for a repeat of the same call. */
    readonly answers_ms: number
    /** How calls went, for the charts; in memory. */
    readonly series_ms: number
    /** A browser that was let in. */
    readonly sessions_ms: number
  }
}

/** `GET /captures/{request id}` */
export interface CaptureView {
  /** False where the request was not kept, or no longer is. */
  readonly kept: boolean
  /** Its JSON, with `[redacted]` in place of what looks like a secret; null where it was not kept. */
  readonly body: unknown
}

/** A browser that was let in; nothing that another one could get in by. */
export interface BrowserView {
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly since: number
  readonly expires_at: number
  /** It is the one that asks. */
  readonly current: boolean
}
