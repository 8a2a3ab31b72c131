import assert from 'node:assert/strict'
import { systemClock } from '../../../lib/index.ts'
import { SUBSCRIPTIONS_CACHED_MAX } from '../../../lib/base/limits/plans.ts'
import { type SoldSubscription, soldDocument } from '../../../lib/plans/sold-subscription.ts'
import { SOLD, SoldSubscriptions } from '../../../lib/plans/sold-subscriptions.ts'
import { memoryDocuments } from '../../node/ingress/harness.ts'
import { planOf } from './plan-service-bench.ts'

const SELF = 'owner'

describe('sold subscriptions', () => {
  it('are cached up to the limit, also while the oldest one is in use', async () => {
    const documents = memoryDocuments()
    const subscriptions = new SoldSubscriptions({ clock: systemClock, documents, self: SELF })
    const sold = (id: string) =>
      ({ id, owner: SELF, plan: planOf('free'), isTrial: false, periodNo: 1, periodEnd: Infinity }) as SoldSubscription
    const find = async (id: string) => {
      await documents.put(SOLD, id, soldDocument(sold(id)))
      const held = await subscriptions.find(id)
      assert.ok(held)
      return held
    }
    const pool = await subscriptions.bookOf(await find('busy'))
    assert.equal(typeof pool.reserve(), 'object')
    for (let n = 0; n < SUBSCRIPTIONS_CACHED_MAX; n++) await find(`idle ${n}`)
    assert.equal(subscriptions.known('idle 0'), undefined)
    assert.ok(subscriptions.known('idle 1'))
    assert.ok(subscriptions.known('busy'), 'its reservation exists in memory only')
  })
})
