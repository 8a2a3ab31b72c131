import assert from 'node:assert/strict'
import { TERMS_KEPT_MS } from '../../../lib/base/limits/plans.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import type { PlanInit } from '../../../lib/interface/plan.ts'
import { offeredPlans } from '../../../lib/owner/offered-plans.ts'

const T = 1_000_000
const listing = (plans: readonly PlanInit[], more = {}) => ({ name: 'ticker', price: '0.001', plans, ...more })
const PRO: PlanInit = {
  id: 'pro',
  fee: '5',
  included: 1_000,
  overage: [{ upTo: 10, price: '0.002' }, { price: '0.001' }]
}

describe('the plans of a listing', () => {
  it('are absent by default, also in the manifest', () => {
    assert.deepEqual(offeredPlans(listing([]), {}, T), {})
  })

  it('are in the manifest in its own units', () => {
    assert.deepEqual(offeredPlans(listing([PRO], { payPerCall: false, major: 2 }), {}, T), {
      plans: [
        {
          id: 'pro',
          name: 'pro',
          fee: 5_000_000n,
          period: 'month',
          trialDays: 0,
          included: 1_000,
          since: T,
          overage: [{ upTo: 10, price: 2_000n }, { price: 1_000n }]
        }
      ],
      payPerCall: false,
      major: 2
    })
  })

  it('keep their date for new texts, and get a new one for new terms', () => {
    const first = offeredPlans(listing([PRO]), {}, T)
    const renamed = offeredPlans(listing([{ ...PRO, name: 'Professional' }]), first, T + 5)
    assert.deepEqual([renamed.plans?.[0]?.since, renamed.plans?.[0]?.name], [T, 'Professional'])
    for (const change of [
      { fee: '6' },
      { included: 999 },
      { period: 'year' },
      { trialDays: 1 },
      { overage: [] }
    ] as const) {
      assert.equal(offeredPlans(listing([{ ...PRO, ...change }]), renamed, T + 9).plans?.[0]?.since, T + 9)
    }
  })

  it('are closed when they are left out, and removed when subscribers may be moved', () => {
    const first = offeredPlans(listing([PRO]), {}, T)
    const closed = offeredPlans(listing([]), first, T + DAY_MS)
    assert.deepEqual(closed.plans, [{ ...first.plans?.[0], closedAt: T + DAY_MS }])
    const later = offeredPlans(listing([]), closed, T + DAY_MS + TERMS_KEPT_MS - 1)
    assert.deepEqual(later, closed)
    assert.deepEqual(offeredPlans(listing([]), later, T + DAY_MS + TERMS_KEPT_MS), {})
    assert.deepEqual(offeredPlans(listing([PRO]), closed, T + 2 * DAY_MS).plans?.[0]?.since, T + 2 * DAY_MS)
  })

  it('are required without pay-per-call, and the major version never decreases', () => {
    assert.throws(() => offeredPlans(listing([], { payPerCall: false }), {}, T), { code: 'invalid_request' })
    assert.throws(() => offeredPlans(listing([]), { major: 2 }, T), { code: 'invalid_request' })
  })
})
