import type { ApiId } from '../base/api-name.ts'
import { SoukError, type SoukErrorOptions } from '../base/errors.ts'
import { FREE_SUBSCRIPTION_KEPT_MS } from '../base/limits/plans.ts'
import { DAY_MS } from '../base/limits/time.ts'
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

/** The inputs of a decision besides the subscription. */
export interface Circumstances {
  readonly api: ApiId
  readonly manifest: Manifest
  readonly now: number
  /** Peer id of the requesting node, authenticated by the link. */
  readonly peer: string
  /** Pseudonym of the requesting account, which other nodes cannot guess. */
  readonly consumer?: Uint8Array | undefined
  /** Peer id of this owner. */
  readonly owner: string
  /** Included calls of the period that are used or reserved. */
  readonly freeTaken: number
}

/** The changed subscription and its price. Nothing changes where `sold` is the same object. */
export interface Decision {
  readonly sold: SoldSubscription
  readonly due: Atoms
}

type Of<A extends SubscriptionRequest['action']> = Extract<SubscriptionRequest, { action: A }>

/** Decides a request. It does no I/O, so that tests can try every path through the states. @throws SoukError */
export function decide(request: SubscriptionRequest, sold: SoldSubscription | undefined, c: Circumstances): Decision {
  if (sold === undefined) {
    if (request.action !== 'subscribe') throw unknownSubscription()
    return subscribe(request, c)
  }
  // Other callers must not learn that the subscription exists.
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
 * Whether the caller holds the subscription: the node that created it, a node it named, or any node that calls for its
 * account. An account may use several nodes.
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
    // A concurrent request has renewed it, or its state does not allow a renewal.
    if (takesCalls(stateAt(sold, now))) return unchanged(sold)
    throw inactive(sold, now)
  }
  checkOffered(manifest)
  checkMajor(sold, manifest)
  const next = nextTerms(sold, manifest, now)
  if (next === undefined) throw inactive(sold, now, 'Its plan is no longer offered.')
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

/** Allowed after the end of the period too: then no call renews the subscription. */
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

/** A subscription is bound to the API's major version. @throws SoukError `subscription_inactive` */
export function checkMajor({ id, major }: SoldSubscription, manifest: Manifest): void {
  const now = manifest.major ?? 1
  if (major === now) return
  const detail = `The subscription is for version ${major} of this API, which is now ${now}. Change its plan to continue with the new version.`
  throw new SoukError('subscription_inactive', detail, {
    members: { subscription: { id, major: now } },
    notAccepted: true
  })
}

/** @throws SoukError `price_exceeds_limit` where the plan's terms differ from those the consumer agreed to */
function agreed(plan: Plan | undefined, terms: AgreedTerms): Plan {
  if (plan === undefined) {
    throw new SoukError('invalid_request', 'The API has no such plan, or the plan is closed to new subscribers.', {
      notAccepted: true
    })
  }
  if (plan.id === terms.plan && plan.since === terms.since && plan.fee === terms.fee) return plan
  throw new SoukError(
    'price_exceeds_limit',
    'The plan’s terms have changed since you agreed to them. Read them again.',
    {
      notAccepted: true
    }
  )
}

export function unknownSubscription(): SoukError {
  const days = FREE_SUBSCRIPTION_KEPT_MS / DAY_MS
  const detail = `This owner has no such subscription of yours. One without a fee is deleted ${days} days after its period: subscribe again.`
  return new SoukError('subscription_inactive', detail, { notAccepted: true })
}

/** The error carries the subscription's state, so that the consumer knows what to do. */
export function inactive(sold: SoldSubscription, now: number, detail?: string): SoukError {
  const state = stateAt(sold, now)
  const why = isDue(sold, now) ? 'Its period has ended. Pay the next period to use it again.' : undefined
  const options: SoukErrorOptions = {
    notAccepted: true,
    members: { subscription: { id: sold.id, state, period_end: sold.periodEnd } }
  }
  return new SoukError('subscription_inactive', detail ?? why ?? `The subscription is ${state}.`, options)
}
