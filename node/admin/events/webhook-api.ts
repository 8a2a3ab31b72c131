import { z } from 'zod'
import { list, view, viewWith } from '../../http/schemas.ts'

/** A call in the stream `GET /events?calls=1`, without its `type`. */
export type { CallLine } from '../../events/watch-calls.ts'

/** Inputs and responses of the webhook and event routes. `api.ts` states the units. */

export const addWebhookSchema = z.strictObject({
  url: z.string().refine((text) => URL.canParse(text), 'give an https URL'),
  events: z.array(z.string()).optional().describe('Event types, or groups such as `listing.*`. Default: all.'),
  allow_private: z
    .boolean()
    .optional()
    .describe('Allows plain HTTP, and addresses of this machine and its networks. Default false.')
})
export type AddWebhookInput = z.input<typeof addWebhookSchema>

export const webhookViewSchema = view(
  'WebhookView',
  {
    id: z.string(),
    url: z.string(),
    events: list(z.string()).describe('Event types. Empty: all.'),
    allow_private: z.boolean(),
    state: z.enum(['active', 'disabled']),
    note: z.string().nullable().describe('Why it is disabled, or why the last attempt failed.'),
    public_key: z
      .string()
      .describe('`whpk_…`: public key of `v1a` signatures. Empty if the key of the profile cannot decrypt the secret.'),
    pending: z.number(),
    created_at: z.number(),
    delivered_at: z.number().nullable()
  },
  'A webhook, without its secret.'
)
export type WebhookView = z.output<typeof webhookViewSchema>

export const addedWebhookViewSchema = viewWith(
  webhookViewSchema,
  'AddedWebhookView',
  {
    secret: z.string()
  },
  'Only this response shows the secret, `whsec_…`.'
)
export type AddedWebhookView = z.output<typeof addedWebhookViewSchema>

export const webhookTestViewSchema = view('WebhookTestView', {
  taken: z.boolean(),
  why: z.string().nullable()
})

/** Filters of the stream `GET /events`. */
export const eventsSchema = z.object({
  types: z.string().optional().describe('Event types, separated by commas; `listing.*` for a group. Default: all.'),
  calls: z.string().optional().describe('`1`: also send each call when it ends.'),
  recent: z.string().optional().describe('`1`: with `calls=1`, send recent calls first.')
})
export type EventsInput = z.input<typeof eventsSchema>

/** An item of the stream `GET /events`. */
export const tailItemSchema = z
  .looseObject({
    type: z.string().describe('`call`, or the type of the event.'),
    timestamp: z.string()
  })
  .meta({ id: 'TailItem', description: 'An event, or a call if `calls=1` is set.' })
export type TailItem = z.output<typeof tailItemSchema>
