import { z } from 'zod'

const usdc = z.string().describe('USDC, decimal')
const api = z.string().describe('`name@provider`')
const key = z.object({
  key: z.string().describe('its id'),
  label: z.string(),
  hint: z.string().describe('enough to know it by')
})
const cap = z.object({
  key: z.string().describe('its id, or that of the first whose place it took'),
  daily_cap: usdc,
  left: usdc,
  resets_at: z.iso.datetime()
})
const transaction = z.object({
  what: z.string().describe('claim, settle, distribute, refund, …'),
  transaction: z.string().describe('hash'),
  block: z.string(),
  cost: z.string().describe('ETH, decimal')
})

const subscription = z.object({
  role: z.enum(['consumer', 'owner']).describe('`consumer`: made here; `owner`: sold here'),
  subscription: z.string().describe('its id'),
  api,
  plan: z.string().describe('its id'),
  state: z.string(),
  account: z.string().nullable().describe('where it was sold: a pseudonym; null: the node’s own'),
  period_end: z.iso.datetime()
})
const quota = z.object({
  subscription: z.string().describe('its id'),
  api,
  included: z.int(),
  used: z.int(),
  resets_at: z.iso.datetime()
})

/**
 * What a node tells of as events, and what goes with each. One table: `docs/reference/events.md` is made from it, and nothing else is sent. Its names are
 * for good: what changes gets a new one.
 */
export const EVENT_TYPES = {
  'listing.published': {
    about: 'An API was registered, registered anew, or published again.',
    data: z.object({ api, price: usdc, revision: z.int() })
  },
  'listing.paused': { about: 'An API was paused by its provider.', data: z.object({ api }) },
  'listing.removed': { about: 'An API is no longer served here.', data: z.object({ api }) },
  'listing.unwell': {
    about: 'An API did not answer when asked how it is, and was paused.',
    data: z.object({ api, why: z.string() })
  },
  'listing.well': { about: 'An API that was unwell answers, and is published again.', data: z.object({ api }) },
  'listing.deprecated': {
    about: 'Notice was given that an API ends.',
    data: z.object({ api, sunset_at: z.iso.datetime(), successor: z.string().nullable(), link: z.string().nullable() })
  },
  'listing.retired': { about: 'An API has ended; its calls are refused.', data: z.object({ api }) },
  'subscription.created': { about: 'A subscription was made here, or sold.', data: subscription },
  'subscription.renewed': { about: 'The next period of a subscription was paid for.', data: subscription },
  'subscription.changed': {
    about: 'A subscription went to another plan or will, or was paused or resumed.',
    data: subscription
  },
  'subscription.canceled': {
    about: 'A subscription was canceled, now or for when its period ends.',
    data: subscription
  },
  'quota.nearly_reached': { about: 'Calls made here have used 85% of what a period includes.', data: quota },
  'quota.reached': { about: 'Calls made here have used all that a period includes.', data: quota },
  'key.issued': { about: 'A consumer key was made.', data: key },
  'key.rotated': { about: 'A consumer key has a successor.', data: key.extend({ successor: z.string() }) },
  'key.disabled': { about: 'A consumer key was disabled.', data: key },
  'key.enabled': { about: 'A consumer key was enabled again.', data: key },
  'key.revoked': { about: 'A consumer key was revoked.', data: key },
  'cap.nearly_reached': { about: 'Calls of a key have used 85% of its daily cap.', data: cap },
  'cap.reached': { about: 'A call was refused because of the daily cap of its key: once a day.', data: cap },
  'account.balance_low': {
    about: 'A prepaid account has little left that is free.',
    data: z.object({ account: z.string(), balance: usdc })
  },
  'wallet.balance_low': {
    about: 'The wallet of a node that pays has little left.',
    data: z.object({ wallet: z.string(), balance: usdc })
  },
  'wallet.cannot_pay': {
    about: 'A call that its account could have paid for was refused: this node has no money, or signed for all it may.',
    data: z.object({ code: z.string(), detail: z.string() })
  },
  'wallet.gas_low': {
    about: 'The wallet has gas for few claims of what was earned.',
    data: z.object({ wallet: z.string(), claims_in_hand: z.int() })
  },
  'settlement.made': { about: 'A transaction that moved money is final.', data: transaction },
  'settlement.failed': { about: 'A transaction is final and has done nothing.', data: transaction },
  'webhook.disabled': {
    about: 'Nothing more is sent to a webhook.',
    data: z.object({ webhook: z.string(), why: z.string() })
  },
  'webhook.test': {
    about: 'Asked for by `souk webhook test`, and sent to that webhook alone.',
    data: z.object({ webhook: z.string() })
  }
} as const satisfies Record<string, { readonly about: string; readonly data: z.ZodObject }>

export type EventType = keyof typeof EVENT_TYPES
export type EventData<T extends EventType> = z.output<(typeof EVENT_TYPES)[T]['data']>

/** An event as it is told everywhere: the payload of Standard Webhooks. */
export interface SoukEvent {
  /** The same in every delivery. */
  readonly id: string
  readonly type: EventType
  /** RFC 3339. */
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Whether it is one of those that somebody wants: a type, or all that start as `listing.*` says. None named: any. */
export function isWanted(type: string, wanted: readonly string[]): boolean {
  return (
    wanted.length === 0 ||
    wanted.some((one) => one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1))))
  )
}

/** Of those that can be wanted. */
export function isWish(name: string): boolean {
  return Object.keys(EVENT_TYPES).some((type) => isWanted(type, [name]))
}
