import { z } from 'zod'
import type { ListingInit, RateLimit } from '../../../lib/interface/index.ts'
import { view } from '../../http/schemas.ts'
import { present } from '../../present.ts'

/** At most `calls` calls in `per_ms` milliseconds. At most `burst` of them at once; by default all. */
export const rateLimitSchema = z.strictObject({
  calls: z.int().min(1),
  per_ms: z.int().min(1),
  burst: z.int().min(1).optional()
})
export type RateLimitInput = z.input<typeof rateLimitSchema>

/** Limits of a listing for each consumer. */
export const limitsShape = {
  rate_limit: rateLimitSchema.optional(),
  in_flight_per_consumer: z.int().min(1).optional(),
  failures_per_consumer: rateLimitSchema.optional()
}

export const rateLimitViewSchema = view('RateLimitView', {
  calls: z.number(),
  per_ms: z.number(),
  burst: z.number().describe('Calls that may arrive at once.')
})
export type RateLimitView = z.output<typeof rateLimitViewSchema>

export function rateLimitOf({ calls, per_ms, burst }: z.output<typeof rateLimitSchema>): RateLimit {
  return { calls, perMs: per_ms, ...present({ burst }) }
}

export function limitsOf(input: z.output<z.ZodObject<typeof limitsShape>>): Partial<ListingInit> {
  const { rate_limit, in_flight_per_consumer: inFlightPerConsumer, failures_per_consumer: failures } = input
  return present({
    rateLimit: rate_limit && rateLimitOf(rate_limit),
    inFlightPerConsumer,
    failuresPerConsumer: failures && rateLimitOf(failures)
  })
}

/** Returns null if there is no limit. */
export function rateLimitView(limit: RateLimit | undefined): RateLimitView | null {
  if (limit === undefined) return null
  const { calls, perMs, burst = calls } = limit
  return { calls, per_ms: perMs, burst }
}
