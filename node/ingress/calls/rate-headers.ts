import { limits, type SoukError } from '../../../lib/index.ts'
import { type Quota, RATE_MEMBER, type RateLimitStatus } from '../../../lib/interface/index.ts'

/**
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10), both structured fields. They state each limit and what
 * remains of it. Windows are in seconds; a shorter window is scaled to one second.
 */
export function rateHeaders(...rateStatuses: ReadonlyArray<RateLimitStatus | undefined>): string[] {
  const sound = rateStatuses.flatMap((rateStatus) =>
    rateStatus !== undefined && isSound(rateStatus) ? [rateStatus] : []
  )
  if (sound.length === 0) return []
  return ['RateLimit-Policy', sound.map(policyOf).join(', '), 'RateLimit', sound.map(rateStatusOf).join(', ')]
}

/** The same fields for a subscription’s quota in its period: a policy named `quota`. */
export function quotaHeaders({ included, limit = included, used, resetsAt }: Quota, now: number): string[] {
  const counts = [limit, used, resetsAt]
  // Providers are untrusted, so check their numbers. Without a limit, send no header.
  if (limit === undefined || !counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0)) return []
  const left = Math.max(0, limit - used)
  const seconds = Math.max(0, Math.ceil((resetsAt - now) / SECOND))
  return ['RateLimit-Policy', `"quota";q=${limit}`, 'RateLimit', `"quota";r=${left};t=${seconds}`]
}

/** The rate-limit status in a refusal. */
export function refusedBy({ members }: SoukError): RateLimitStatus | undefined {
  const told = members?.[RATE_MEMBER]
  if (typeof told !== 'object' || told === null) return undefined
  const { per_ms: perMs, reset_ms: resetMs, ...rest } = told as Record<string, unknown>
  // `isSound` validates it before use.
  return { ...rest, perMs, resetMs } as RateLimitStatus
}

const SECOND = 1_000
const POLICY = /^[a-z0-9-]+$/

function policyOf({ policy, calls, perMs }: RateLimitStatus): string {
  const window = Math.ceil(perMs / SECOND)
  return `"${policy}";q=${Math.floor((calls * window * SECOND) / perMs)};w=${window}`
}

function rateStatusOf({ policy, remaining, resetMs }: RateLimitStatus): string {
  return `"${policy}";r=${remaining};t=${Math.ceil(resetMs / SECOND)}`
}

/** Providers are untrusted: drop a status that does not fit the header’s syntax. */
function isSound({ policy, calls, perMs, remaining, resetMs }: RateLimitStatus): boolean {
  const isName = typeof policy === 'string' && policy.length <= limits.RATE_POLICY_CHARS_MAX && POLICY.test(policy)
  const isLimit = [calls, perMs].every((value) => Number.isSafeInteger(value) && value >= 1)
  const isWithin = calls <= limits.RATE_CALLS_MAX && perMs <= limits.RATE_PER_MS_MAX
  const isRateStatus = Number.isSafeInteger(remaining) && remaining >= 0 && remaining <= limits.RATE_CALLS_MAX
  return isName && isLimit && isWithin && isRateStatus && resetMs >= 0 && resetMs <= limits.RATE_PER_MS_MAX
}
