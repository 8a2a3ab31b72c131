import { SoukError } from '../base/errors.ts'
import { FREE_SUBSCRIPTION_KEPT_MS, RENEWAL_GRACE_PART } from '../base/limits/plans.ts'
import { DAY_MS } from '../base/limits/time.ts'
import type { Atoms } from '../base/money.ts'
import type { Plan } from '../interface/plan.ts'
import { type Subscription, SUBSCRIPTION_MOVES, type SubscriptionState } from '../interface/subscription.ts'
import { nextBoundary, plusPeriods } from './calendar.ts'

/** A sold subscription in its owner's books. `state` is the last decision; `stateAt` gives the state at a time. */
export interface SoldSubscription extends Subscription {
  /** Time that its periods are counted from. */
  readonly anchor: number
  readonly isTrial: boolean
  /** Increases with every period and identifies its quota. */
  readonly periodNo: number
}

/**
 * The state at a time. At the end of a period, an unrenewed subscription becomes `paused`, and a `canceling` one
 * `canceled`.
 */
export function stateAt(
  { state, periodEnd }: Pick<Subscription, 'state' | 'periodEnd'>,
  now: number
): SubscriptionState {
  if (now < periodEnd) return state
  if (state === 'trialing' || state === 'active') return 'paused'
  return state === 'canceling' ? 'canceled' : state
}

export const takesCalls = (state: SubscriptionState): boolean =>
  state === 'trialing' || state === 'active' || state === 'canceling'

/** True if the period has ended and the subscription may renew: it is neither paused nor cancelled. */
export function isDue({ state, periodEnd }: Pick<Subscription, 'state' | 'periodEnd'>, now: number): boolean {
  return now >= periodEnd && (state === 'trialing' || state === 'active')
}

/** When the owner may delete all that it stored for it; undefined for a subscription that was paid. Strangers can create any number that are not. */
export function expiryOf({ plan, isTrial, periodEnd }: SoldSubscription): number | undefined {
  return isTrial || plan.fee === 0n ? periodEnd + FREE_SUBSCRIPTION_KEPT_MS : undefined
}

/** @throws SoukError `invalid_request` */
export function checkMove(from: SubscriptionState, to: SubscriptionState): void {
  const moves: readonly SubscriptionState[] = SUBSCRIPTION_MOVES[from]
  if (from === to || moves.includes(to)) return
  throw new SoukError('invalid_request', `A subscription that is ${from} cannot become ${to}.`)
}

interface Span {
  readonly anchor: number
  readonly periodStart: number
  readonly periodEnd: number
}

export function firstPeriod(plan: Plan, now: number, isTrial: boolean): Span {
  const periodEnd = isTrial ? now + plan.trialDays * DAY_MS : plusPeriods(now, plan.period, 1)
  return { anchor: now, periodStart: now, periodEnd }
}

/**
 * The period after the last one. A prompt renewal continues directly, so that periods stay aligned with the calendar. A
 * late renewal starts now, so that the subscriber does not pay for past time.
 */
export function followingPeriod(sold: SoldSubscription, plan: Plan, now: number): Span {
  const { periodStart, periodEnd, anchor } = sold
  const isSoon = (now - periodEnd) * RENEWAL_GRACE_PART <= periodEnd - periodStart
  if (!isSoon) return firstPeriod(plan, now, false)
  const isSame = !sold.isTrial && plan.period === sold.plan.period
  if (!isSame) return { ...firstPeriod(plan, periodEnd, false) }
  return { anchor, periodStart: periodEnd, periodEnd: nextBoundary(anchor, plan.period, periodEnd) }
}

/** The unused part of the paid fee, by time or by calls, whichever is less. */
export function creditOf(sold: SoldSubscription, freeTaken: number, now: number): Atoms {
  const { plan, periodStart, periodEnd, isTrial } = sold
  if (isTrial || now >= periodEnd) return 0n
  const byTime = (plan.fee * BigInt(periodEnd - now)) / BigInt(periodEnd - periodStart)
  const { included } = plan
  if (included === undefined || included === 0) return byTime
  const left = BigInt(Math.max(0, included - freeTaken))
  const byCalls = (plan.fee * left) / BigInt(included)
  return byCalls < byTime ? byCalls : byTime
}

interface Kept extends Omit<SoldSubscription, 'plan'> {
  readonly plan: StoredPlan
}

/** A plan as JSON. */
export interface StoredPlan extends Omit<Plan, 'fee' | 'overage'> {
  readonly fee: string
  readonly overage: ReadonlyArray<{ readonly upTo?: number; readonly price: string }>
}

export function storedPlan({ fee, overage, ...plan }: Plan): StoredPlan {
  return {
    ...plan,
    fee: String(fee),
    overage: overage.map(({ price, ...tier }) => ({ ...tier, price: String(price) }))
  }
}

export function readPlan({ fee, overage, ...plan }: StoredPlan): Plan {
  return {
    ...plan,
    fee: BigInt(fee),
    overage: overage.map(({ price, ...tier }) => ({ ...tier, price: BigInt(price) }))
  }
}

export function soldDocument({ plan, ...sold }: SoldSubscription): string {
  return JSON.stringify({ ...sold, plan: storedPlan(plan) } satisfies Kept)
}

export function readSold(document: string): SoldSubscription {
  const { plan, ...sold } = JSON.parse(document) as Kept
  return { ...sold, plan: readPlan(plan) }
}
