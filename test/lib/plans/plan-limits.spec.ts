import assert from 'node:assert/strict'
import type { Adapter } from '../../../lib/interface/adapter.ts'
import type { PlanInit } from '../../../lib/interface/plan.ts'
import { handler } from '../../../lib/owner/handler.ts'
import { decodeManifest, encodeManifest } from '../../../lib/resolve/manifest/manifest-codec.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type PlansBench, plansBench } from '../../helpers/plans-bench.ts'

const MINUTE = 60_000
const FAST: PlanInit = { id: 'fast', rateLimit: { calls: 4, perMs: MINUTE }, overage: [] }
const SLOW: PlanInit = { id: 'slow', included: 100, rateLimit: { calls: 1, perMs: MINUTE }, inFlightMax: 1 }
const LIKE: PlanInit = { id: 'like', included: 100 }

describe('a plan with its own limits, between two nodes', () => {
  let bench: PlansBench
  beforeEach(async () => {
    bench = await plansBench()
    // Subscribing itself uses one of the calls.
    await bench.serve({ plans: [FAST, SLOW, LIKE], rateLimit: { calls: 3, perMs: MINUTE } })
  })
  afterEach(() => bench.net.stop())

  const subscribe = async (plan: string) => {
    const { subscriptions } = bench.consumer.souk
    return (await subscriptions.subscribe({ api: 'double', plan, maxPrice: '0' })).subscription
  }
  const call = (subscription?: string) =>
    bench.consumer.souk.call({ api: 'double', body: 4, ...(subscription === undefined ? {} : { subscription }) })

  it('limits its calls instead of the listing, and reports its own name', async () => {
    const { id, plan } = await subscribe('fast')
    assert.deepEqual(plan.rateLimit, { calls: 4, perMs: MINUTE })
    for (const left of [3, 2, 1, 0]) {
      const { rate } = await call(id)
      assert.deepEqual([rate?.policy, rate?.calls, rate?.remaining], ['plan-fast', 4, left])
    }
    const reached = bench.reached()
    await assert.rejects(call(id), { code: 'rate_limited' })
    assert.equal(bench.reached(), reached)
    // Pay-per-call calls still have the listing's own limit.
    assert.deepEqual([(await call()).rate?.policy, (await call()).rate?.remaining], ['default', 0])
  })

  it('does not count refused calls', async () => {
    const { id } = await subscribe('slow')
    assert.equal((await call(id)).quota?.used, 1)
    for (let i = 0; i < 3; i++) await assert.rejects(call(id), { code: 'rate_limited' })
    assert.equal((await bench.consumer.souk.subscriptions.get(id))?.quota?.used, 1)
  })

  it('uses the listing’s limits if it has none', async () => {
    const { id } = await subscribe('like')
    await call(id)
    assert.deepEqual([(await call(id)).rate?.policy], ['default'])
    await assert.rejects(call(id), { code: 'rate_limited' })
  })

  it('limits concurrent calls', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let reached = 0
    const slow: Adapter = handler(async () => {
      reached++
      await promise
      return 1
    })
    const one: PlanInit = { id: 'one', inFlightMax: 1 }
    await bench.owner.souk.serve({ name: 'slow', price: '0', plans: [one] }, slow)
    const { subscriptions } = bench.consumer.souk
    const { subscription } = await subscriptions.subscribe({ api: 'slow', plan: 'one', maxPrice: '0' })
    const under = () => bench.consumer.souk.call({ api: 'slow', body: 1, subscription: subscription.id })
    const first = under()
    await eventually('it is under way', 10_000, () => (reached === 1 ? true : undefined))
    await assert.rejects(under(), { code: 'overloaded' })
    assert.equal(reached, 1)
    resolve()
    assert.equal(await (await first).json(), 1)
  })

  it('survives encoding in a signed manifest', async () => {
    const { signed } = await bench.consumer.souk.resolve('double')
    const { plans } = decodeManifest(encodeManifest(signed.manifest))
    assert.deepEqual(
      plans?.map(({ id, rateLimit, inFlightMax }) => [id, rateLimit?.calls, inFlightMax]),
      [
        ['fast', 4, undefined],
        ['slow', 1, 1],
        ['like', undefined, undefined]
      ]
    )
  })
})
