import type { ApiId } from '../../base/api-name.ts'
import { PLAN_TIERS_MAX } from '../../base/limits/plans.ts'
import { list, optional, text, textAs, uint32, uint53, uint64 } from '../../base/wire/field.ts'
import { message, nested } from '../../base/wire/message.ts'
import type { Period } from '../../interface/plan.ts'

export const RATE_LIMIT = message(
  'RateLimit',
  'A number of calls in a time. Up to burst calls may come at once, then one each per_ms / calls.',
  {
    calls: uint53(1, '1 to 100,000.'),
    perMs: uint53(2, '1 to 86,400,000.'),
    burst: optional(uint53(3, '1 to 100,000. Absent: the same as calls.'))
  }
)

export const TIER = message('Tier', 'A price for calls beyond the included ones.', {
  upTo: optional(
    uint53(
      1,
      `The last call at this price, counted from the first call beyond those included; above that of the tier before.
      Absent, in the last tier only: no end.`
    )
  ),
  price: uint64(2)
})

export const PLAN = message(
  'Plan',
  'The price of a subscription, and what it includes. Amounts are USDC atoms, at most 10^15.',
  {
    id: text(1, '[a-z0-9][a-z0-9-]{0,62}'),
    name: text(2, '1 to 63 UTF-16 code units.'),
    description: optional(text(3, 'At most 500 UTF-16 code units.')),
    fee: uint64(4, 'Paid for a period in advance.'),
    period: textAs<Period>(5, 'day, week, month or year.'),
    trialDays: uint32(6, 'Days before the first fee, at most 90.'),
    included: optional(
      uint53(
        7,
        'Calls in a period that the fee pays for, at most 10^12. Absent: unlimited, and then there is no overage.'
      )
    ),
    overage: list(
      nested(
        TIER,
        8,
        'Prices of calls beyond those, at most 8 tiers. Without tiers, and past the last one, there are no more calls.'
      ),
      PLAN_TIERS_MAX
    ),
    since: uint53(9, 'Time from which on these terms are offered.'),
    closedAt: optional(uint53(10, 'No new subscriptions from this time on. Absent: it is open.')),
    rateLimit: nested(RATE_LIMIT, 11, 'Rate limit of its calls. Absent: the listing’s.'),
    inFlightMax: optional(uint32(12, 'Concurrent calls of one consumer, 1 to 512. Absent: the owner’s default.'))
  }
)

export const DEPRECATION = message('Deprecation', 'Notice that a listing will end.', {
  at: uint53(1),
  sunsetAt: uint53(2, '30 days after at, or more.'),
  successor: optional(textAs<ApiId>(3, 'name@provider id of the API to call instead.')),
  link: optional(text(4, 'An https: URL of at most 500 characters.'))
})
