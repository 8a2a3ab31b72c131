import { isProviderId } from '../base/api-name.ts'
import { text, utf8 } from '../base/bytes.ts'
import { isText } from '../base/check-members.ts'
import { SoukError } from '../base/errors.ts'
import { ACCOUNT_PSEUDONYM_CHARS_MAX, SUBSCRIPTION_PEERS_MAX } from '../base/limits/plans.ts'
import { TIME_MS_MAX } from '../base/limits/time.ts'
import type { Atoms } from '../base/money.ts'
import { isRequestId } from '../base/request-id.ts'
import { PERIODS } from '../interface/plan.ts'
import { type Subscription, SUBSCRIPTION_MOVES } from '../interface/subscription.ts'
import { type StoredPlan, storedPlan, readPlan } from './sold-subscription.ts'

/** The plan's terms that the consumer agrees to. An owner with other terms refuses. */
export interface AgreedTerms {
  readonly plan: string
  readonly since: number
  readonly fee: Atoms
}

/** What a consumer may request about a subscription, by action. */
interface Requested {
  readonly subscribe: AgreedTerms & {
    readonly trial: boolean
    readonly account?: string
    readonly peers: readonly string[]
  }
  /** `periodEnd`: end of the last paid period, so that no period is paid twice. */
  readonly renew: AgreedTerms & { readonly periodEnd: number }
  readonly change: AgreedTerms
  readonly cancel: { readonly now: boolean }
  readonly pause: object
  readonly resume: object
  readonly show: object
}

type Action = keyof Requested

/** A consumer's request about a subscription: the JSON body of a call of service 1. */
export type SubscriptionRequest = { readonly id: string } & {
  [A in Action]: { readonly action: A } & Requested[A]
}[Action]

/** A check for each member of `T`. An absent member is undefined. */
type Rules<T> = { readonly [Member in keyof T]-?: (value: unknown) => boolean }

const isFlag = (value: unknown): boolean => typeof value === 'boolean'

const isId = (value: unknown): value is string => isText(value) && isRequestId(value)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isTime = (value: unknown): value is number => isCount(value) && value <= TIME_MS_MAX

const isAmount = (value: unknown): value is string => isText(value) && /^\d{1,16}$/.test(value)

const isPeers = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length <= SUBSCRIPTION_PEERS_MAX &&
  value.every((peer) => isText(peer) && isProviderId(peer))

export const isPseudonym = (account: unknown): boolean =>
  isText(account) && account.length <= ACCOUNT_PSEUDONYM_CHARS_MAX && /^[\u0021-\u007e]+$/.test(account)

const isRateLimit = (value: unknown): boolean => {
  const { calls, perMs, burst = calls } = (value ?? {}) as Record<string, unknown>
  return [calls, perMs, burst].every(isCount)
}

const optional = (fits: (value: unknown) => boolean) => (value: unknown) => value === undefined || fits(value)

const TERMS: Rules<AgreedTerms> = { plan: isText, since: isTime, fee: isAmount }

const REQUESTS: { readonly [A in Action]: Rules<Requested[A]> } = {
  subscribe: { ...TERMS, trial: isFlag, account: optional(isPseudonym), peers: isPeers },
  renew: { ...TERMS, periodEnd: isTime },
  change: TERMS,
  cancel: { now: isFlag },
  pause: {},
  resume: {},
  show: {}
}

export function writeRequest(request: SubscriptionRequest): Uint8Array {
  return utf8(JSON.stringify('fee' in request ? { ...request, fee: String(request.fee) } : request))
}

/** @throws SoukError `invalid_request` */
export function readRequest(body: Uint8Array): SubscriptionRequest {
  const told = parse(body, malformed)
  const { id, action } = told
  if (!isId(id) || !isText(action) || !Object.hasOwn(REQUESTS, action)) throw malformed()
  const rules: Rules<object> = REQUESTS[action as Action]
  const members = checked<object>(told, rules, malformed) as { readonly fee?: string }
  const agreed = members.fee === undefined ? {} : { fee: BigInt(members.fee) }
  return { id, action, ...members, ...agreed } as SubscriptionRequest
}

/** A subscription as the owner sends it. `isShared`: other replicas of the owner also know it. */
export interface SubscriptionReply extends Subscription {
  readonly isShared: boolean
}

type Told = Omit<SubscriptionReply, 'plan'>

const REPLY: Rules<Omit<Told, 'isShared'>> = {
  id: isId,
  api: isText,
  revision: isCount,
  major: isCount,
  peer: isText,
  peers: isPeers,
  account: optional(isText),
  owner: isText,
  state: (value) => isText(value) && Object.hasOwn(SUBSCRIPTION_MOVES, value),
  createdAt: isTime,
  periodStart: isTime,
  periodEnd: isTime,
  nextPlan: optional(isText),
  version: isCount
}

const PLAN: Rules<StoredPlan> = {
  id: isText,
  name: isText,
  description: optional(isText),
  fee: isAmount,
  period: (value) => PERIODS.some((period) => period === value),
  trialDays: isCount,
  included: optional(isCount),
  overage: Array.isArray,
  rateLimit: optional(isRateLimit),
  inFlightMax: optional(isCount),
  since: isTime,
  closedAt: optional(isTime)
}

const TIER: Rules<StoredPlan['overage'][number]> = { upTo: optional(isCount), price: isAmount }

export function writeReply({ plan, ...rest }: SubscriptionReply): Uint8Array {
  return utf8(JSON.stringify({ ...rest, plan: storedPlan(plan) } satisfies Told & { plan: StoredPlan }))
}

/** Owners are untrusted, so every field is checked. @throws SoukError `upstream_invalid_response` */
export function readReply(body: Uint8Array): SubscriptionReply {
  const told = parse(body, unreadable)
  const { overage, ...plan } = checked<StoredPlan>(told['plan'], PLAN, unreadable)
  const tiers = overage.map((tier) => checked(tier, TIER, unreadable))
  return {
    ...checked<Omit<Told, 'isShared'>>(told, REPLY, unreadable),
    plan: readPlan({ ...plan, overage: tiers }),
    isShared: told['isShared'] === true
  }
}

/** A copy of an object with only the members that the rules name. */
function checked<T>(value: unknown, rules: Rules<T>, refusal: () => SoukError): T {
  const given = (value ?? {}) as Readonly<Record<string, unknown>>
  const members = Object.entries<(value: unknown) => boolean>(rules).map(([name, fits]) => {
    if (!fits(given[name])) throw refusal()
    return [name, given[name]] as const
  })
  return Object.fromEntries(members.filter(([, member]) => member !== undefined)) as T
}

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
