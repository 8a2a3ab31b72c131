import type { Clock } from '../base/clock.ts'
import { type ErrorCode, SoukError } from '../base/errors.ts'
import { TERMS_RECHECKED_MAX, TERMS_RECHECKS_BURST, TERMS_RECHECKS_PER_SECOND } from '../base/limits/call.ts'
import { formatUsdc } from '../base/money.ts'
import { TokenBuckets } from '../base/token-bucket.ts'
import type { Resolution } from '../interface/directory.ts'

/** Refusals by a cached manifest. The current one may allow the call. */
const BY_TERMS: ReadonlySet<ErrorCode> = new Set(['price_exceeds_limit', 'subscription_required'])

/** Decides which refusals by cached terms are worth a new lookup. Otherwise every refused call would load the network. */
export class TermsRechecks {
  readonly #allowed: TokenBuckets

  constructor(clock: Clock) {
    const rate = { burst: TERMS_RECHECKS_BURST, perSecond: TERMS_RECHECKS_PER_SECOND }
    this.#allowed = new TokenBuckets(rate, TERMS_RECHECKED_MAX, clock)
  }

  isWorthIt({ code, source }: SoukError, { signed }: Resolution): boolean {
    return BY_TERMS.has(code) && source !== 'upstream' && this.#allowed.take(signed.id)
  }
}

export function isUnchanged(before: Resolution, now: Resolution): boolean {
  return before.signed.manifest.revision === now.signed.manifest.revision
}

/** The same refusal, with the old and the new price. */
export function withPrices(error: SoukError, before: Resolution, now: Resolution): SoukError {
  const [old, next] = [before.signed.manifest.price, now.signed.manifest.price]
  if (error.code !== 'price_exceeds_limit' || old === next) return error
  const detail = `The price changed from ${formatUsdc(old)} to ${formatUsdc(next)} USDC. ${error.message}`
  return new SoukError(error.code, detail, {
    cause: error,
    ...(error.source && { source: error.source }),
    members: { ...error.members, price_before: formatUsdc(old), price: formatUsdc(next) }
  })
}
