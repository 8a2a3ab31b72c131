import assert from 'node:assert/strict'
import { systemClock } from '../../../lib/index.ts'
import { SUBSCRIPTIONS_CACHED_MAX } from '../../../lib/base/limits/plans.ts'
import { type SoldSubscription, soldDocument } from '../../../lib/plans/sold-subscription.ts'
import { SOLD, SoldSubscriptions } from '../../../lib/plans/sold-subscriptions.ts'
import { formatRequestId } from '../../../lib/base/request-id.ts'
import { freshIds } from '../../helpers/call-record.ts'
import { memoryDocuments } from '../../node/ingress/harness.ts'
import { planOf, ServiceBench } from './plan-service-bench.ts'

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

  it('have one quota each, also if others take its place in the cache while it is read', async () => {
    const bench = await ServiceBench.open([planOf('free', { included: 1 }), planOf('open', { fee: 1n })])
    const { documents } = bench
    const [{ subscription }, { subscription: other }] = [await bench.subscribe('free'), await bench.subscribe('open')]
    await bench.restart()
    const get = documents.get.bind(documents)
    const reading = Promise.withResolvers<void>()
    const read = Promise.withResolvers<void>()
    documents.get = async (collection, key) => {
      if (collection === 'plan-use' && key.startsWith(subscription.id)) {
        reading.resolve()
        await read.promise
      }
      return get(collection, key)
    }
    const first = bench.admit(subscription.id)
    await reading.promise
    const copies = Array.from({ length: SUBSCRIPTIONS_CACHED_MAX }, () => formatRequestId(freshIds.next()))
    const value = (await get(SOLD, other.id)) ?? ''
    await documents.putAll(copies.map((id) => ({ collection: SOLD, key: id, value: value.replaceAll(other.id, id) })))
    for (const id of copies) await (await bench.admit(id)).end(false)
    read.resolve()
    const running = await first
    await assert.rejects(async () => bench.admit(subscription.id), { code: 'quota_exceeded' })
    await running.end(false)
  })
})
