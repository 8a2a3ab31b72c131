import type { RateLimit } from '../base/gcra.ts'

/** Where a caller stands with a rate limit, after a call. */
export interface RateStanding extends Pick<RateLimit, 'calls' | 'perMs'> {
  /** Names the limit: `default` for a listing's own, else the plan's. `[a-z0-9-]{1,63}` */
  readonly policy: string
  /** Calls that could come at once. */
  readonly remaining: number
  /** Until there is room for one more, milliseconds. */
  readonly resetMs: number
}

/** Member of a refusal by a rate limit: a `RateStanding`, its times in `per_ms` and `reset_ms`. */
export const RATE_MEMBER = 'rate_limit'
