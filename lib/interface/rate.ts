import type { RateLimit } from '../base/gcra.ts'

/** A caller's rate-limit status after a call. */
export interface RateLimitStatus extends Pick<RateLimit, 'calls' | 'perMs'> {
  /** Name of the limit: `default` for the listing's own, else the plan's. `[a-z0-9-]{1,63}` */
  readonly policy: string
  /** Calls allowed right now. */
  readonly remaining: number
  /** Milliseconds until one more call is allowed. */
  readonly resetMs: number
}

/** Member of a rate-limit error: a `RateLimitStatus`, with its times named `per_ms` and `reset_ms`. */
export const RATE_MEMBER = 'rate_limit'
