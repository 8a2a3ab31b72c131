import { isProviderId } from '../base/api-name.ts'
import { min } from '../base/bigints.ts'
import { CHARGE_MEMBER, type ErrorCode, SoukError } from '../base/errors.ts'
import { SUBSCRIPTION_PEERS_MAX } from '../base/limits/plans.ts'
import { type Atoms, formatUsdc, isUsdc, parseUsdc } from '../base/money.ts'
import { isRequestId } from '../base/request-id.ts'
import type { Manifest } from '../interface/manifest.ts'
import type { Plan } from '../interface/plan.ts'
import type { SubscribeInit, SubscriptionTerms } from '../interface/subscription.ts'
import { isPseudonym } from './messages.ts'
import type { OwnRecord } from './own-records.ts'

/** Errors after which nothing was sent, because the owner was unreachable. */
export const UNREACHED: ReadonlySet<ErrorCode> = new Set(['owner_unreachable', 'lookup_timeout', 'overloaded'])

/** Refusals after which no other owner is asked: it would refuse as well, or need a deposit of its own. */
export const OF_THIS_OWNER: ReadonlySet<ErrorCode> = new Set(['payment_required', 'settlement_pending'])

/** Errors after which the call may still have run. */
const UNCERTAIN: ReadonlySet<ErrorCode> = new Set([
  'call_interrupted',
  'upstream_timeout',
  'internal_error',
  'upstream_invalid_response',
  'response_too_large',
  'idempotency_in_flight'
])

/** True where the call certainly had no effect. */
export function isDefinite({ code, notAccepted, isChargeUnknown }: SoukError): boolean {
  return !isChargeUnknown && (notAccepted || !UNCERTAIN.has(code))
}

/** The charge that an owner states for a call whose response it has deleted, at most `price`. Undefined: it states none. */
export function chargeIn({ members }: SoukError, price: Atoms): Atoms | undefined {
  const charge = members?.[CHARGE_MEMBER]
  return typeof charge === 'string' && isUsdc(charge) ? min(parseUsdc(charge), price) : undefined
}

/** The terms of a plan that the consumer agrees to. */
export const termsOf = ({ id, since, fee }: Plan) => ({ plan: id, since, fee })

/** Applies the limits that the holder changed. @throws SoukError `invalid_request` */
export function withLimits(record: OwnRecord, { maxPrice, maxFee, dailyCap }: SubscriptionTerms): OwnRecord {
  const { dailyCap: before, ...rest } = record
  const cap = dailyCap === undefined ? before : dailyCap === null ? undefined : parseUsdc(dailyCap)
  return {
    ...rest,
    ...(maxPrice === undefined ? {} : { maxPrice: parseUsdc(maxPrice) }),
    ...(maxFee === undefined ? {} : { maxFee: parseUsdc(maxFee) }),
    ...(cap === undefined ? {} : { dailyCap: cap })
  }
}

/** @throws SoukError `price_exceeds_limit` */
export function checkFee(fee: Atoms, maxFee: Atoms): void {
  if (fee <= maxFee) return
  const detail = `The plan costs ${formatUsdc(fee)} USDC a period. Your limit is ${formatUsdc(maxFee)} USDC.`
  throw new SoukError('price_exceeds_limit', detail)
}

export function noSuchPlan({ plans = [] }: Manifest): SoukError {
  const open = plans.filter(({ closedAt }) => closedAt === undefined).map(({ id }) => id)
  const hint = open.length === 0 ? 'The API has no plans.' : `Plans: ${open.join(', ')}.`
  return new SoukError('invalid_request', `This plan does not exist. ${hint}`)
}

/** @throws SoukError `invalid_request` */
export function checkInit({ maxPrice, maxFee, dailyCap, account, peers = [] }: SubscribeInit, id: string): void {
  for (const amount of [maxPrice, maxFee, dailyCap]) if (amount !== undefined) parseUsdc(amount)
  if (!isRequestId(id)) throw new SoukError('invalid_request', 'A subscription id must be a version 7 UUID.')
  if (account !== undefined && !isPseudonym(account)) {
    throw new SoukError(
      'invalid_request',
      'The account of a subscription must be a short text of visible ASCII characters.'
    )
  }
  if (peers.length > SUBSCRIPTION_PEERS_MAX || !peers.every(isProviderId)) {
    throw new SoukError(
      'invalid_request',
      `A subscription can name at most ${SUBSCRIPTION_PEERS_MAX} further peer ids.`
    )
  }
}
