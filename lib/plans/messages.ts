import { isProviderId } from '../base/api-name.ts'
import type { ApiId } from '../base/api-name.ts'
import { text, utf8 } from '../base/bytes.ts'
import type { RateLimit } from '../base/gcra.ts'
import { SoukError } from '../base/errors.ts'
import { ACCOUNT_PSEUDONYM_CHARS_MAX, SUBSCRIPTION_PEERS_MAX } from '../base/limits/plans.ts'
import { TIME_MS_MAX } from '../base/limits/time.ts'
import type { Atoms } from '../base/money.ts'
import { isRequestId } from '../base/request-id.ts'
import { type Period, PERIODS, type Plan } from '../interface/plan.ts'
import { type Subscription, SUBSCRIPTION_MOVES, type SubscriptionState } from '../interface/subscription.ts'
import { type StoredPlan, storedPlan, readPlan } from './sold-subscription.ts'

/** The plan's terms that the consumer agrees to. An owner with other terms refuses. */
export interface AgreedTerms {
  readonly plan: string
  readonly since: number
  readonly fee: Atoms
}

/** A consumer's request about a subscription: the JSON body of a call of service 1. */
export type SubscriptionRequest = { readonly id: string } & (
  | ({
      readonly action: 'subscribe'
      readonly trial: boolean
      readonly account?: string
      readonly peers: readonly string[]
    } & AgreedTerms)
  /** `periodEnd`: end of the last paid period, so that no period is paid twice. */
  | ({ readonly action: 'renew'; readonly periodEnd: number } & AgreedTerms)
  | ({ readonly action: 'change' } & AgreedTerms)
  | { readonly action: 'cancel'; readonly now: boolean }
  | { readonly action: 'pause' | 'resume' | 'show' }
)

export function writeRequest(request: SubscriptionRequest): Uint8Array {
  return utf8(JSON.stringify('fee' in request ? { ...request, fee: String(request.fee) } : request))
}

/** @throws SoukError `invalid_request` */
export function readRequest(body: Uint8Array): SubscriptionRequest {
  const { id, action, ...rest } = parse(body, malformed)
  if (typeof id !== 'string' || !isRequestId(id)) throw malformed()
  switch (action) {
    case 'subscribe': {
      const { trial, account, peers } = rest
      const isSound =
        typeof trial === 'boolean' &&
        (account === undefined || (typeof account === 'string' && isPseudonym(account))) &&
        isPeers(peers)
      if (!isSound) throw malformed()
      return { id, action, ...termsIn(rest), trial, peers, ...(account === undefined ? {} : { account }) }
    }
    case 'renew': {
      const { periodEnd } = rest
      if (!isTime(periodEnd)) throw malformed()
      return { id, action, ...termsIn(rest), periodEnd }
    }
    case 'change':
      return { id, action, ...termsIn(rest) }
    case 'cancel':
      if (typeof rest['now'] !== 'boolean') throw malformed()
      return { id, action, now: rest['now'] }
    case 'pause':
    case 'resume':
    case 'show':
      return { id, action }
    default:
      throw malformed()
  }
}

/** A subscription as the owner sends it. `isShared`: other replicas of the owner also know it. */
export interface SubscriptionReply extends Subscription {
  readonly isShared: boolean
}

interface Told extends Omit<SubscriptionReply, 'plan'> {
  readonly plan: StoredPlan
}

export function writeReply({ plan, ...rest }: SubscriptionReply): Uint8Array {
  return utf8(JSON.stringify({ ...rest, plan: storedPlan(plan) } satisfies Told))
}

/** Owners are untrusted, so every field is checked. @throws SoukError `upstream_invalid_response` */
export function readReply(body: Uint8Array): SubscriptionReply {
  const told = parse(body, unreadable) as Partial<Record<keyof Told, unknown>>
  const { id, api, revision, major, peer, peers, account, owner, state, version, nextPlan, isShared } = told
  const { createdAt, periodStart, periodEnd } = told
  const isSound =
    typeof id === 'string' &&
    isRequestId(id) &&
    typeof api === 'string' &&
    typeof peer === 'string' &&
    typeof owner === 'string' &&
    isPeers(peers) &&
    typeof state === 'string' &&
    Object.hasOwn(SUBSCRIPTION_MOVES, state) &&
    (account === undefined || typeof account === 'string') &&
    (nextPlan === undefined || typeof nextPlan === 'string') &&
    [revision, major, version].every(isCount) &&
    [createdAt, periodStart, periodEnd].every(isTime)
  if (!isSound) throw unreadable()
  return {
    id,
    api: api as ApiId,
    plan: planIn(told.plan),
    revision: Number(revision),
    major: Number(major),
    peer,
    peers,
    ...(account === undefined ? {} : { account }),
    owner,
    state: state as SubscriptionState,
    createdAt: Number(createdAt),
    periodStart: Number(periodStart),
    periodEnd: Number(periodEnd),
    ...(nextPlan === undefined ? {} : { nextPlan }),
    version: Number(version),
    isShared: isShared === true
  }
}

function planIn(told: unknown): Plan {
  const { id, name, description, fee, period, trialDays, included, overage, since, closedAt, rateLimit, inFlightMax } =
    (told ?? {}) as Record<string, unknown>
  const isSound =
    typeof id === 'string' &&
    typeof name === 'string' &&
    (description === undefined || typeof description === 'string') &&
    isAmount(fee) &&
    PERIODS.includes(period as Period) &&
    isCount(trialDays) &&
    (included === undefined || isCount(included)) &&
    Array.isArray(overage) &&
    overage.every(isTier) &&
    (rateLimit === undefined || isRateLimit(rateLimit)) &&
    (inFlightMax === undefined || isCount(inFlightMax)) &&
    isTime(since) &&
    (closedAt === undefined || isTime(closedAt))
  if (!isSound) throw unreadable()
  const tiers = overage as StoredPlan['overage']
  return readPlan({
    id,
    name,
    ...(description === undefined ? {} : { description }),
    fee,
    period: period as Period,
    trialDays,
    ...(included === undefined ? {} : { included }),
    overage: tiers.map(({ upTo, price }) => ({ ...(upTo === undefined ? {} : { upTo }), price })),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(inFlightMax === undefined ? {} : { inFlightMax }),
    since,
    ...(closedAt === undefined ? {} : { closedAt })
  })
}

function isTier(tier: unknown): boolean {
  if (typeof tier !== 'object' || tier === null) return false
  const { upTo, price } = tier as Record<string, unknown>
  return isAmount(price) && (upTo === undefined || isCount(upTo))
}

function isRateLimit(told: unknown): told is RateLimit {
  if (typeof told !== 'object' || told === null) return false
  const { calls, perMs, burst = calls } = told as Record<string, unknown>
  return [calls, perMs, burst].every(isCount)
}

function termsIn({ plan, since, fee }: Record<string, unknown>): AgreedTerms {
  if (typeof plan !== 'string' || !isTime(since) || !isAmount(fee)) throw malformed()
  return { plan, since, fee: BigInt(fee) }
}

export const isPseudonym = (account: string): boolean =>
  account.length > 0 && account.length <= ACCOUNT_PSEUDONYM_CHARS_MAX && /^[\u0021-\u007e]+$/.test(account)

function isPeers(peers: unknown): peers is string[] {
  const isList = Array.isArray(peers) && peers.length <= SUBSCRIPTION_PEERS_MAX
  return isList && peers.every((peer) => typeof peer === 'string' && isProviderId(peer))
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isTime = (value: unknown): value is number => isCount(value) && value <= TIME_MS_MAX

const isAmount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,16}$/.test(value)

function parse(body: Uint8Array, refusal: () => SoukError): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text(body))
  } catch {
    throw refusal()
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refusal()
  return value as Record<string, unknown>
}

const malformed = () => new SoukError('invalid_request', 'The subscription request is malformed.')

const unreadable = () =>
  new SoukError('upstream_invalid_response', 'The owner returned an invalid response about the subscription.', {
    source: 'owner'
  })
