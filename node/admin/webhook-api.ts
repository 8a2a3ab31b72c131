import { z } from 'zod'

/** An item of the stream `GET /events` where calls are asked for, beside its type. */
export type { CallLine } from '../events/watch-calls.ts'

/** What the admin API takes and gives of webhooks and events; as in `api.ts`. */

/** `POST /webhooks` */
export const addWebhookSchema = z.strictObject({
  url: z.string(),
  /** Types, and `listing.*`. Default: all. */
  events: z.array(z.string()).optional(),
  /** Plain HTTP, and addresses of this machine and its networks. Default false. */
  allow_private: z.boolean().optional()
})
export type AddWebhookInput = z.input<typeof addWebhookSchema>

/** A webhook; never its secret. */
export interface WebhookView {
  readonly id: string
  readonly url: string
  /** Empty: all. */
  readonly events: readonly string[]
  readonly allow_private: boolean
  readonly state: 'active' | 'disabled'
  /** Why it is disabled, or why the last attempt failed. */
  readonly note: string | null
  /** `whpk_…`: what `v1a` signatures are checked with. */
  readonly public_key: string
  readonly pending: number
  readonly created_at: number
  readonly delivered_at: number | null
}

/** The only time the secret is shown: `whsec_…`. */
export interface AddedWebhookView extends WebhookView {
  readonly secret: string
}

/** `POST /webhooks/{id}/test` */
export interface WebhookTestView {
  readonly taken: boolean
  readonly why: string | null
}

/** An item of the stream `GET /events`: an event, or a call where these are asked for. */
export interface TailItem {
  /** `call`, or the type of the event. */
  readonly type: string
  readonly timestamp: string
  readonly [member: string]: unknown
}
