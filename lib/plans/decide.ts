import type { ApiId } from '../base/api-name.ts'
import { SoukError, type SoukErrorOptions } from '../base/errors.ts'
import type { Atoms } from '../base/money.ts'
import type { Manifest } from '../interface/manifest.ts'
import type { Plan } from '../interface/plan.ts'
import type { SubscriptionState } from '../interface/subscription.ts'
import { accountOf } from './account-name.ts'
import type { AgreedTerms, SubscriptionRequest } from './messages.ts'
import { nextTerms, openPlan } from './next-terms.ts'
import {
  checkMove,
  creditOf,
  firstPeriod,
  followingPeriod,
  isDue,
  type SoldSubscription,
  stateAt,
  takesCalls
} from './sold-subscription.ts'

/** What a decision depends on beside the subscription. */
export interface Circumstances {
  readonly api: ApiId
  readonly manifest: Manifest
  readonly now: number
  /** Who asks, authenticated by the link. */
  readonly peer: string
  /** For whom it asks, by a name that nobody else can make up. */
  readonly consumer?: Uint8Array
  /** This owner. */
  readonly owner: string
  /** Calls of the period's included ones that are used, or may be. */
  readonly freeTaken: number
}

/** The subscription as it will be, and what that costs. Nothing changes where it is as it was. */
export interface Decision {
  readonly sold: SoldSubscription
  readonly due: Atoms
}

type Of<A extends SubscriptionRequest['action']> = Extract<SubscriptionRequest, { action: A }>

/** What an owner makes of a request: without any I/O, so that every way through the states can be tried. @throws SoukError */
export function decide(request: SubscriptionRequest, sold: SoldSubscription | undefined, c: Circumstances): Decision {
  if (sold === undefined) {
    if (request.action !== 'subscribe') throw unknownSubscription()
    return subscribe(request, c)
  }
  // It is nobody else's business that there is one.
  if (!isHolder(sold, c) || sold.api !== c.api) throw unknownSubscription()
  switch (request.action) {
    case 'subscribe':
    case 'show':
      return unchanged(sold)
    case 'renew':
      return renew(request, sold, c)
    case 'change':
      return change(request, sold, c)
    case 'cancel':
      return cancel(request, sold, c)
    case 'pause':
      return pause(sold, c)
    default:
      return resume(sold, c)
  }
}

/**
 * The node that made it, those it named, and whichever other node calls for the very account that it was made for: of the nodes
 * that keep one account, any may be the one its holder comes to.
 */
export function isHolder(
  { peer, peers, account }: SoldSubscription,
  c: Pick<Circumstances, 'peer' | 'consumer'>
): boolean {
  if (peer === c.peer || peers.includes(c.peer)) return true
  return account !== undefined && c.consumer !== undefined && accountOf(c.consumer) === account
}

function subscribe(request: Of<'subscribe'>, c: Circumstances): Decision {
  const { manifest, now, api, peer, owner } = c
  checkOffered(manifest)
  const plan = agreed(openPlan(manifest, request.plan), request)
  const isTrial = request.trial && plan.trialDays > 0
  const { id, account, peers } = request
  return {
    due: isTrial ? 0n : plan.fee,
    sold: {
      id,
      api,
      plan,
      revision: manifest.revision,
      major: manifest.major ?? 1,
      peer,
      peers,
      ...(account === undefined ? {} : { account }),
      owner,
      state: isTrial ? 'trialing' : 'active',
      createdAt: now,
      ...firstPeriod(plan, now, isTrial),
      isTrial,
      periodNo: 1,
      version: 1
    }
  }
}

function renew(request: Of<'renew'>, sold: SoldSubscription, c: Circumstances): Decision {
  const { manifest, now } = c
  if (request.periodEnd !== sold.periodEnd || !isDue(sold, now)) {
    // It was renewed by the first of two that asked; or it cannot be, as its state says.
    if (takesCalls(stateAt(sold, now))) return unchanged(sold)
    throw inactive(sold, now)
  }
  checkOffered(manifest)
  checkMajor(sold, manifest)
  const next = nextTerms(sold, manifest, now)
  if (next === undefined) throw inactive(sold, now, 'Its plan is not offered any more.')
  const plan = agreed(next, request)
  const { nextPlan: _, ...rest } = sold
  const paidFor = { plan, isTrial: false, state: 'active', periodNo: sold.periodNo + 1 } as const
  const moved = { ...rest, ...followingPeriod(sold, plan, now), ...paidFor }
  return { due: plan.fee, sold: next === sold.plan ? grown(moved) : grown({ ...moved, ...versionOf(manifest) }) }
}

function change(request: Of<'change'>, sold: SoldSubscription, c: Circumstances): Decision {
  const { manifest, now, freeTaken } = c
  checkOffered(manifest)
  const state = stateAt(sold, now)
  if (state === 'canceled' || state === 'canceling') throw inactive(sold, now)
  const { nextPlan, ...rest } = sold
  const plan = agreed(openPlan(manifest, request.plan), request)
  if (plan.id === sold.plan.id && plan.since === sold.plan.since) {
    const isSame = nextPlan === undefined && sold.major === (manifest.major ?? 1)
    return isSame ? unchanged(sold) : { due: 0n, sold: grown({ ...rest, ...versionOf(manifest) }) }
  }
  const paid = sold.isTrial ? 0n : sold.plan.fee
  if (!takesCalls(state) || plan.fee <= paid) return { due: 0n, sold: grown({ ...sold, nextPlan: plan.id }) }
  const due = plan.fee - creditOf(sold, freeTaken, now)
  const paidFor = { plan, isTrial: false, state: 'active', periodNo: sold.periodNo + 1 } as const
  return { due, sold: grown({ ...rest, ...firstPeriod(plan, now, false), ...versionOf(manifest), ...paidFor }) }
}

function cancel({ now: isNow }: Of<'cancel'>, sold: SoldSubscription, { now }: Circumstances): Decision {
  const state = stateAt(sold, now)
  if (state === 'canceled') return unchanged(sold)
  const isOver = isNow || state === 'paused'
  if (!isOver && state === 'canceling') return unchanged(sold)
  return { due: 0n, sold: moved(sold, isOver ? 'canceled' : 'canceling', now) }
}

/** Also where its period is over: no call renews it then. */
function pause(sold: SoldSubscription, { now }: Circumstances): Decision {
  if (sold.state === 'paused') return unchanged(sold)
  const state = stateAt(sold, now)
  if (state === 'canceling' || state === 'canceled') throw inactive(sold, now)
  return { due: 0n, sold: moved(sold, 'paused', now) }
}

function resume(sold: SoldSubscription, { now }: Circumstances): Decision {
  const state = stateAt(sold, now)
  if (state === 'canceled') throw inactive(sold, now)
  if (sold.state !== 'paused' && sold.state !== 'canceling') return unchanged(sold)
  return { due: 0n, sold: moved(sold, sold.isTrial ? 'trialing' : 'active', now) }
}

/** @throws SoukError `invalid_request` */
function moved(sold: SoldSubscription, state: SubscriptionState, now: number): SoldSubscription {
  checkMove(stateAt(sold, now), state)
  return grown({ ...sold, state })
}

const grown = (sold: SoldSubscription): SoldSubscription => ({ ...sold, version: sold.version + 1 })

const unchanged = (sold: SoldSubscription): Decision => ({ sold, due: 0n })

const versionOf = ({ revision, major = 1 }: Manifest) => ({ revision, major })

function checkOffered({ state }: Manifest): void {
  if (state === 'retired') throw new SoukError('api_retired')
  if (state !== 'published' && state !== 'deprecated') {
    throw new SoukError('api_paused', undefined, { notAccepted: true })
  }
}

/** Nobody calls, or pays for, an API that is another than he subscribed to. @throws SoukError `subscription_inactive` */
export function checkMajor({ id, major }: SoldSubscription, manifest: Manifest): void {
  const now = manifest.major ?? 1
  if (major === now) return
  const detail = `The subscription is to version ${major} of this API, which is at ${now}. Change it to go on with that.`
  throw new SoukError('subscription_inactive', detail, {
    members: { subscription: { id, major: now } },
    notAccepted: true
  })
}

/** @throws SoukError `price_exceeds_limit`: its terms are not those that the consumer agreed to */
function agreed(plan: Plan | undefined, terms: AgreedTerms): Plan {
  if (plan === undefined) {
    throw new SoukError('invalid_request', 'The API has no such plan, or it takes no new subscribers.', {
      notAccepted: true
    })
  }
  if (plan.id === terms.plan && plan.since === terms.since && plan.fee === terms.fee) return plan
  throw new SoukError('price_exceeds_limit', 'The terms of the plan are others here than those that were agreed to.', {
    notAccepted: true
  })
}

export function unknownSubscription(): SoukError {
  return new SoukError('subscription_inactive', 'This owner knows no such subscription of yours.', {
    notAccepted: true
  })
}

/** Says where it stands, so that the consumer can do what has to be done. */
export function inactive(sold: SoldSubscription, now: number, detail?: string): SoukError {
  const state = stateAt(sold, now)
  const why = isDue(sold, now) ? 'Its period is over; it is active again once the next one is paid for.' : undefined
  const options: SoukErrorOptions = {
    notAccepted: true,
    members: { subscription: { id: sold.id, state, period_end: sold.periodEnd } }
  }
  return new SoukError('subscription_inactive', detail ?? why ?? `The subscription is ${state}.`, options)
}
