import { CHARGE_MEMBER, type ErrorCode, SoukError } from '../base/errors.ts'
import { isOutdated } from '../base/outdated-terms.ts'
import type { Attempt } from '../interface/call.ts'
import type { Resolution } from '../interface/directory.ts'
import type { PreparedCall } from './prepared-call.ts'

/** Errors that are the same at every other owner. */
const OWN_LIMITS: ReadonlySet<ErrorCode> = new Set([
  'price_exceeds_limit',
  'spend_cap_reached',
  'insufficient_funds',
  'internal_error'
])

/**
 * Errors about the caller. Other owners would return the same, or trying them would bypass a limit. They do not affect
 * the owner's quality.
 */
const FOR_ALL_OWNERS: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'quota_exceeded',
  'idempotency_in_flight',
  'idempotency_mismatch'
])

/** Errors about a subscription, which a new lookup would not change. */
const OF_THE_PLAN: ReadonlySet<ErrorCode> = new Set([
  'subscription_inactive',
  'subscription_required',
  'quota_exceeded'
])

/**
 * Whether an error holds for all owners. Replicas share a quota, so another one may have some left. A call that
 * promised no payment is refused by every owner that requires one.
 */
export function isForAll({ code }: SoukError, { terms }: PreparedCall): boolean {
  if (code === 'payment_required' && terms?.price === 0n) return true
  return FOR_ALL_OWNERS.has(code) && (code !== 'quota_exceeded' || terms === undefined || terms.isOnly)
}

/**
 * The payment scheme refused, so nothing was sent. A refusal without the owner does not affect its quality. @throws
 * SoukError one of `OWN_LIMITS`
 */
export function refusedByScheme(error: SoukError): Attempt {
  if (OWN_LIMITS.has(error.code) && error.source === undefined) throw error
  const { code, message, source = 'ingress' } = error
  return { fate: 'not_accepted', error: new SoukError(code, message, { source, cause: error }) }
}

/**
 * The owner accepts no calls now, as the manifest already says. A new lookup would not help, and would load the
 * network.
 */
export function isAway({ code }: SoukError, { signed }: Resolution): boolean {
  return code === 'overloaded' || OF_THE_PLAN.has(code) || (code === 'api_paused' && signed.manifest.state === 'paused')
}

/**
 * Whether the error lowers the owner's rank. Errors of the API affect all owners alike, and errors of this node none.
 */
export function isOwnersFault({ fate, error }: Exclude<Attempt, { fate: 'answered' }>, found: Resolution): boolean {
  if (error.source === 'ingress' || isAway(error, found) || isOutdated(error, found.signed.manifest.revision))
    return false
  return fate !== 'failed' || error.code === 'internal_error'
}

/** The outcome is unknown, or the owner says that an earlier attempt was charged. */
export function mayBeCharged({ fate, error }: Exclude<Attempt, { fate: 'answered' }>): boolean {
  return fate === 'lost' || error.members?.[CHARGE_MEMBER] !== undefined
}

export function mayRepeat({ fate, error }: Exclude<Attempt, { fate: 'answered' }>, isIdempotent: boolean): boolean {
  const isWorthIt = fate === 'lost' || error.code === 'call_interrupted' || error.code === 'upstream_unreachable'
  return isIdempotent && isWorthIt
}
