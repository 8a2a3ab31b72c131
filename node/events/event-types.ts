import { z } from 'zod'

const usdc = z.string().describe('USDC, decimal')
const api = z.string().describe('`name@provider`')
const key = z.object({
  key: z.string().describe('id of the key'),
  label: z.string(),
  hint: z.string().describe('enough to recognize the key')
})
const cap = z.object({
  key: z.string().describe('id of the key; for a rotated key, of the first in its chain'),
  daily_cap: usdc,
  left: usdc,
  resets_at: z.iso.datetime()
})
const transaction = z.object({
  what: z.string().describe('claim, settle, distribute, refund, …'),
  transaction: z.string().describe('transaction hash'),
  block: z.string(),
  cost: z.string().describe('ETH, decimal')
})

const dispute = z.object({
  role: z.enum(['payer', 'owner']).describe('`payer`: this node paid; `owner`: it was paid'),
  request_id: z.string(),
  api,
  peer: z.string().describe('peer id of the other side'),
  amount: usdc,
  fault: z.string().describe('what is wrong with the receipt'),
  state: z.string()
})
const subscription = z.object({
  role: z.enum(['consumer', 'owner']).describe('`consumer`: bought by this node; `owner`: sold by this node'),
  subscription: z.string().describe('id of the subscription'),
  api,
  plan: z.string().describe('id of the plan'),
  state: z.string(),
  account: z.string().nullable().describe('the account; a pseudonym if sold by this node; null for the node’s own'),
  period_end: z.iso.datetime()
})
const quota = z.object({
  subscription: z.string().describe('id of the subscription'),
  api,
  included: z.int(),
  used: z.int(),
  resets_at: z.iso.datetime()
})

/**
 * All events of a node and their data. `docs/reference/events.md` is generated from this table. Names are permanent: an event that changes
 * gets a new name.
 */
export const EVENT_TYPES = {
  'listing.published': {
    about: 'An API was registered, updated, or published again.',
    data: z.object({ api, price: usdc, revision: z.int() })
  },
  'listing.paused': { about: 'An API was paused by its provider.', data: z.object({ api }) },
  'listing.removed': { about: 'An API is no longer served here.', data: z.object({ api }) },
  'listing.unwell': {
    about: 'The health check of an API failed, and the API was paused.',
    data: z.object({ api, why: z.string() })
  },
  'listing.well': {
    about: 'The health check of an API succeeds again, and the API is published.',
    data: z.object({ api })
  },
  'listing.deprecated': {
    about: 'An API was deprecated.',
    data: z.object({ api, sunset_at: z.iso.datetime(), successor: z.string().nullable(), link: z.string().nullable() })
  },
  'listing.retired': { about: 'An API was retired; its calls are refused.', data: z.object({ api }) },
  'subscription.created': { about: 'A subscription was bought or sold.', data: subscription },
  'subscription.renewed': { about: 'The next period of a subscription was paid.', data: subscription },
  'subscription.changed': {
    about: 'A subscription changed its plan, will change it, or was paused or resumed.',
    data: subscription
  },
  'subscription.canceled': {
    about: 'A subscription was canceled, at once or at the end of its period.',
    data: subscription
  },
  'quota.nearly_reached': { about: 'Calls from this node have used 85% of the quota of a period.', data: quota },
  'quota.reached': { about: 'Calls from this node have used the whole quota of a period.', data: quota },
  'key.issued': { about: 'A consumer key was created.', data: key },
  'key.rotated': { about: 'A consumer key was replaced by a new one.', data: key.extend({ successor: z.string() }) },
  'key.disabled': { about: 'A consumer key was disabled.', data: key },
  'key.enabled': { about: 'A consumer key was enabled again.', data: key },
  'key.revoked': { about: 'A consumer key was revoked.', data: key },
  'cap.nearly_reached': { about: 'Calls of a key have used 85% of its daily cap.', data: cap },
  'cap.reached': { about: 'A call was refused because its key reached its daily cap. Sent once a day.', data: cap },
  'account.balance_low': {
    about: 'The available balance of a prepaid account is low.',
    data: z.object({ account: z.string(), balance: usdc })
  },
  'wallet.balance_low': {
    about: 'The wallet of a node that pays for calls has a low balance.',
    data: z.object({ wallet: z.string(), balance: usdc })
  },
  'wallet.cannot_pay': {
    about: 'A call that its account could pay for was refused: this node has no money, or reached its daily limit.',
    data: z.object({ code: z.string(), detail: z.string() })
  },
  'wallet.gas_low': {
    about: 'The wallet has gas for only a few claims of earnings.',
    data: z.object({ wallet: z.string(), claims_in_hand: z.int() })
  },
  'settlement.made': { about: 'A transaction that moved money is final.', data: transaction },
  'settlement.failed': { about: 'A transaction is final, but failed.', data: transaction },
  'charge.disputed': { about: 'A charge has no valid receipt. The payer pays its owner no more.', data: dispute },
  'charge.settled': {
    about: 'A dispute ended: the receipt was sent, or the charge taken back, accepted or returned.',
    data: dispute
  },
  'webhook.disabled': {
    about: 'A webhook was disabled and gets no more events.',
    data: z.object({ webhook: z.string(), why: z.string() })
  },
  'webhook.test': {
    about: 'A test event from `souk webhook test`, sent only to that webhook.',
    data: z.object({ webhook: z.string() })
  }
} as const satisfies Record<string, { readonly about: string; readonly data: z.ZodObject }>

export type EventType = keyof typeof EVENT_TYPES
export type EventData<T extends EventType> = z.output<(typeof EVENT_TYPES)[T]['data']>

/** An event as published: the payload of Standard Webhooks. */
export interface SoukEvent {
  /** The same in every delivery, so that a receiver can detect repeats. */
  readonly id: string
  readonly type: EventType
  /** RFC 3339. */
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Whether an event type matches a filter: exact types or prefixes like `listing.*`. An empty filter matches all. */
export function isWanted(type: string, wanted: readonly string[]): boolean {
  return (
    wanted.length === 0 ||
    wanted.some((one) => one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1))))
  )
}

/** Whether a filter matches at least one event type. */
export function isWish(name: string): boolean {
  return Object.keys(EVENT_TYPES).some((type) => isWanted(type, [name]))
}
