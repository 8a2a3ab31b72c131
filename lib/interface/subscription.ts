import type { ApiId, ApiRef } from '../base/api-name.ts'
import type { Atoms } from '../base/money.ts'
import type { Plan } from './plan.ts'

/**
 * States of a subscription and the moves between them. One table: code and docs follow it.
 * - `incomplete`: asked for, and what became of it is not known yet. Only the consumer has it.
 * - `trialing`: in its trial; calls are taken.
 * - `active`: its period is paid for; calls are taken.
 * - `paused`: no calls, no bill. Its period is over and nobody has called since, or its consumer paused it.
 * - `canceling`: calls are taken until the period ends; it is not renewed.
 * - `canceled`: over for good.
 */
export const SUBSCRIPTION_MOVES = {
  incomplete: ['trialing', 'active', 'canceled'],
  trialing: ['active', 'paused', 'canceling', 'canceled'],
  active: ['paused', 'canceling', 'canceled'],
  paused: ['trialing', 'active', 'canceled'],
  canceling: ['trialing', 'active', 'canceled'],
  canceled: []
} as const satisfies Record<string, readonly string[]>

export type SubscriptionState = keyof typeof SUBSCRIPTION_MOVES

/** How much of a period's calls is used. */
export interface Quota {
  /** Calls that the period's fee includes. Absent: any number. */
  readonly included?: number
  /** Calls of the period, dearer ones as well; what other replicas of the owner have in hand counts as used. */
  readonly used: number
  /** No more calls in this period, whatever they cost. Absent: there is no such limit. */
  readonly limit?: number
  /** End of the period, milliseconds since the epoch. */
  readonly resetsAt: number
}

/** A consumer's right to call an API on a plan's terms, as both sides have it. Times are milliseconds since the epoch. */
export interface Subscription {
  /** UUID version 7 in its usual form, made by the consumer. */
  readonly id: string
  /** With the provider id: no other provider of the same name ever gets its calls. */
  readonly api: ApiId
  /** As it was agreed to. It holds for the whole period. */
  readonly plan: Plan
  /** Of the manifest it was agreed to by, and the listing's major then. */
  readonly revision: number
  readonly major: number
  /** Consumer node that made it. */
  readonly peer: string
  /** Further nodes that may call with it: ingresses that share accounts. */
  readonly peers: readonly string[]
  /**
   * Whose it is at the consumer node, by a pseudonym. Where that is the `consumer` of calls in hexadecimal, any node that calls for it
   * holds the subscription.
   */
  readonly account?: string
  /** Peer id of the owner node that sold it: it alone changes it. */
  readonly owner: string
  readonly state: SubscriptionState
  readonly createdAt: number
  readonly periodStart: number
  readonly periodEnd: number
  /** Id of the plan that takes this one's place when the period ends. */
  readonly nextPlan?: string
  /** Grows with every change. */
  readonly version: number
}

/** A subscription of this node as a consumer, with what its holder set. */
export interface OwnSubscription extends Subscription {
  /** No call ever costs more. */
  readonly maxPrice: Atoms
  /** No period's fee is ever more. */
  readonly maxFee: Atoms
  /** What its calls and fees may cost in one day (UTC). Absent: any amount. */
  readonly dailyCap?: Atoms
  /** As the owner said last. */
  readonly quota?: Quota
}

export interface SubscribeInit {
  /** `name`, `name@provider`, or the same parsed. A bare name is bound to the provider it means now. */
  readonly api: string | ApiRef
  /** Plan id. */
  readonly plan: string
  /** Decimal USDC: no call of the subscription ever costs more. `0` where none may cost anything. */
  readonly maxPrice: string
  /** Decimal USDC: no fee is ever more. Default: the plan's fee now. */
  readonly maxFee?: string
  /** Decimal USDC in one day (UTC), fees included. Default: none. */
  readonly dailyCap?: string
  /** Begin with the plan's trial, where it has one. Default true. */
  readonly trial?: boolean
  /** Whose it is, by a pseudonym of at most `ACCOUNT_PSEUDONYM_CHARS_MAX`: the owner is told. Default: nobody's. */
  readonly account?: string
  /** Peer ids of further nodes that may call with it. */
  readonly peers?: readonly string[]
  /** Default: a fresh one. The same again is the same subscription, and is not paid for twice. */
  readonly id?: string
}

/** What a subscription is changed to. What is absent stays. */
export interface SubscriptionTerms {
  /** Another plan: at once where its fee is higher, else when the period ends. Its own id: takes back a change that waits. */
  readonly plan?: string
  readonly maxPrice?: string
  readonly maxFee?: string
  /** Decimal USDC; null for none. */
  readonly dailyCap?: string | null
}

export interface SubscriptionOptions {
  readonly signal?: AbortSignal
  /** Told the most that the change will cost, before anything is sent. What it throws or rejects with ends it. */
  readonly onPrice?: (price: Atoms) => void | Promise<void>
}

/** A subscription after a change, and what that cost. */
export interface SubscriptionChange {
  readonly subscription: OwnSubscription
  readonly charged: Atoms
  /** Request id of the call that changed it, as receipts have it; absent where nothing had to be asked. */
  readonly requestId?: string
}

export interface SubscriberQuery {
  readonly api?: ApiId
  /** At most `PAGE_MAX`. */
  readonly limit: number
  /** `next` of the page before. */
  readonly cursor?: string
}

export interface SubscriberPage {
  /** Newest first. */
  readonly subscriptions: readonly Subscription[]
  readonly next?: string
}

/**
 * The subscriptions of a node. Those it holds as a consumer are changed at the owner that sold them; a fee rides like the price of
 * any call. Whatever is asked for twice happens once, over a crash as well.
 */
export interface Subscriptions {
  /**
   * @throws SoukError `price_exceeds_limit` (the plan's fee is above `maxFee`), `payment_required` (the trial was used before),
   *   `invalid_request`, and whatever a call throws
   */
  subscribe(init: SubscribeInit, options?: SubscriptionOptions): Promise<SubscriptionChange>
  /** Newest first, ended ones as well. */
  list(): Promise<readonly OwnSubscription[]>
  get(id: string): Promise<OwnSubscription | undefined>
  /**
   * Pays the next period, where the last one is over; calls do so by themselves. Nothing happens where it is not over.
   * @throws SoukError `subscription_inactive`, `price_exceeds_limit`, and whatever a call throws
   */
  renew(id: string, options?: SubscriptionOptions): Promise<SubscriptionChange>
  change(id: string, terms: SubscriptionTerms, options?: SubscriptionOptions): Promise<SubscriptionChange>
  /** When the period ends, or at once. Nothing is paid back. */
  cancel(id: string, options?: SubscriptionOptions & { readonly now?: boolean }): Promise<SubscriptionChange>
  /** No calls and no renewals until it is resumed; the period goes on. */
  pause(id: string, options?: SubscriptionOptions): Promise<SubscriptionChange>
  /** Takes back `pause`, or a `cancel` whose time has not come. */
  resume(id: string, options?: SubscriptionOptions): Promise<SubscriptionChange>
  /** As an owner: what this node sold. */
  sold(query: SubscriberQuery): Promise<SubscriberPage>
}
