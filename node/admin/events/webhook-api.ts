import { z } from 'zod'
import { list, view, viewWith } from '../../http/schemas.ts'

/** An item of the stream `GET /events` where calls are asked for, beside its type. */
export type { CallLine } from '../../events/watch-calls.ts'

/** What the admin API takes and gives of webhooks and events; as in `api.ts`. */

export const addWebhookSchema = z.strictObject({
  url: z.string(),
  events: z.array(z.string()).optional().describe('Types, and `listing.*`. Default: all.'),
  allow_private: z
    .boolean()
    .optional()
    .describe('Plain HTTP, and addresses of this machine and its networks. Default false.')
})
export type AddWebhookInput = z.input<typeof addWebhookSchema>

export const webhookViewSchema = view(
  'WebhookView',
  {
    id: z.string(),
    url: z.string(),
    events: list(z.string()).describe('Empty: all.'),
    allow_private: z.boolean(),
    state: z.enum(['active', 'disabled']),
    note: z.string().nullable().describe('Why it is disabled, or why the last attempt failed.'),
    public_key: z.string().describe('`whpk_…`: what `v1a` signatures are checked with.'),
    pending: z.number(),
    created_at: z.number(),
    delivered_at: z.number().nullable()
  },
  'A webhook; never its secret.'
)
export type WebhookView = z.output<typeof webhookViewSchema>

export const addedWebhookViewSchema = viewWith(
  webhookViewSchema,
  'AddedWebhookView',
  {
    secret: z.string()
  },
  'The only time the secret is shown: `whsec_…`.'
)
export type AddedWebhookView = z.output<typeof addedWebhookViewSchema>

export const webhookTestViewSchema = view('WebhookTestView', {
  taken: z.boolean(),
  why: z.string().nullable()
})

/** What of the stream `GET /events` is wanted. */
export const eventsSchema = z.object({
  types: z.string().optional().describe('Types of events, with commas; `listing.*` for a group. Default: all.'),
  calls: z.string().optional().describe('`1`: each call as it ends, too.'),
  recent: z.string().optional().describe('`1`: with those that ended last first.')
})
export type EventsInput = z.input<typeof eventsSchema>

/** An item of the stream `GET /events`: an event, or a call where these are asked for. */
export const tailItemSchema = z
  .looseObject({
    type: z.string().describe('`call`, or the type of the event.'),
    timestamp: z.string()
  })
  .meta({ id: 'TailItem', description: 'An event, or a call where these are asked for.' })
export type TailItem = z.output<typeof tailItemSchema>
