import assert from 'node:assert/strict'
import { TERMS_KEPT_MS, WARM_LINKS_CHECK_MS } from '../../../lib/base/limits/plans.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import type { CallInit } from '../../../lib/interface/souk.ts'
import type { PlanInit } from '../../../lib/interface/plan.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type PlansBench, plansBench } from '../../helpers/plans-bench.ts'

const FREE: PlanInit = { id: 'free', included: 3 }
const PRO: PlanInit = { id: 'pro', fee: '5', included: 10 }
const SOFT: PlanInit = { id: 'soft', fee: '1', included: 2, overage: [{ upTo: 2, price: '0.002' }, { price: '0.001' }] }
const TRIAL: PlanInit = { id: 'trial', fee: '2', included: 2, trialDays: 7, overage: [{ price: '0.001' }] }

describe('subscriptions, between two nodes', () => {
  let bench: PlansBench
  before(async () => {
    bench = await plansBench()
    await bench.serve({ plans: [FREE, PRO, SOFT, TRIAL] })
  })
  after(() => bench.net.stop())

  const souk = () => bench.consumer.souk
  const subscribe = async (plan: string, more = {}) => {
    const { subscription } = await souk().subscriptions.subscribe({ api: 'double', plan, maxPrice: '0.01', ...more })
    return subscription
  }
  const call = (subscription: string, more: Partial<CallInit> = {}) =>
    souk().call({ api: 'double', body: 4, subscription, ...more })
  const priceOfLast = async () => (await bench.owner.souk.store.calls.recent({ limit: 1 }))[0]?.price

  it('count successful calls, report the rest, and end at a hard limit', async () => {
    const { id, state, plan } = await subscribe('free')
    assert.deepEqual([state, plan.included], ['active', 3])
    for (const used of [1, 2]) {
      const reply = await call(id)
      assert.equal(await reply.json(), 8)
      assert.deepEqual([reply.quota?.used, reply.quota?.included, reply.quota?.limit], [used, 3, 3])
    }
    await assert.rejects(call(id, { body: 'fail' }), { code: 'internal_error' })
    const last = await call(id)
    assert.deepEqual([last.quota?.used, last.alert], [3, 100])
    const reached = bench.reached()
    await assert.rejects(call(id), { code: 'quota_exceeded' })
    assert.equal(bench.reached(), reached)
    // Without a subscription, callers can still pay per call.
    assert.equal(await (await souk().call({ api: 'double', body: 2 })).json(), 4)
  })

  it('warn at 85 percent, once per period', async () => {
    const { id } = await subscribe('pro')
    const alerts = []
    for (let i = 0; i < 10; i++) alerts.push((await call(id)).alert)
    assert.deepEqual(
      alerts.flatMap((alert, i) => (alert === undefined ? [] : [[i + 1, alert]])),
      [
        [9, 85],
        [10, 100]
      ]
    )
  })

  it('charge calls beyond the included ones by tiers, up to the holder’s limit', async () => {
    const { id } = await subscribe('soft', { maxPrice: '0.001' })
    for (const price of [0n, 0n]) {
      await call(id)
      assert.equal(await priceOfLast(), price)
    }
    await assert.rejects(call(id), { code: 'price_exceeds_limit' })
    await souk().subscriptions.change(id, { maxPrice: '0.005' })
    for (const price of [2_000n, 2_000n, 1_000n, 1_000n]) {
      await call(id)
      assert.equal(await priceOfLast(), price)
    }
    assert.equal((await souk().subscriptions.get(id))?.quota?.used, 6)
  })

  it('are renewed by the first call of the next period; a month without calls is free', async () => {
    const { id, periodEnd } = await subscribe('soft')
    await call(id)
    bench.clock.shift(periodEnd - bench.clock.now() + 60_000)
    assert.equal((await souk().subscriptions.get(id))?.state, 'paused')
    const fees: bigint[] = []
    const onFee = (fee: bigint) => void fees.push(fee)
    const [first, second] = await Promise.all([call(id, { onFee }), call(id, { onFee })])
    assert.deepEqual(
      [first.quota?.used ?? 0, second.quota?.used ?? 0].toSorted((a, b) => a - b),
      [1, 2]
    )
    const next = await souk().subscriptions.get(id)
    assert.deepEqual([next?.state, next?.periodStart], ['active', periodEnd])
    bench.clock.shift(100 * DAY_MS)
    const now = bench.clock.now()
    await call(id)
    const late = await souk().subscriptions.get(id)
    assert.ok((late?.periodStart ?? 0) >= now)
  })

  it('start with a free trial, one per consumer', async () => {
    const { id, state, periodEnd, createdAt } = await subscribe('trial')
    assert.deepEqual([state, periodEnd - createdAt], ['trialing', 7 * DAY_MS])
    await call(id)
    await call(id)
    await assert.rejects(call(id), { code: 'quota_exceeded' })
    await assert.rejects(subscribe('trial'), { code: 'payment_required' })
    bench.clock.shift(8 * DAY_MS)
    assert.equal((await call(id)).quota?.used, 1)
    assert.equal((await souk().subscriptions.get(id))?.state, 'active')
    assert.equal((await subscribe('trial', { trial: false })).state, 'active')
  })

  it('give each consumer free calls with one subscription at a time', async () => {
    const { subscriptions } = souk()
    const { id } = await subscribe('free')
    await assert.rejects(subscribe('free'), { code: 'payment_required' })
    await subscriptions.cancel(id, { now: true })
    await assert.rejects(subscribe('free'), { code: 'payment_required' })
    assert.equal((await subscribe('pro')).state, 'active')
    bench.clock.shift(32 * DAY_MS)
    const next = await subscribe('free')
    assert.equal((await call(next.id)).quota?.used, 1)
    // A subscription that calls renew keeps its free calls.
    bench.clock.shift(32 * DAY_MS)
    await call(next.id)
    await assert.rejects(subscribe('free'), { code: 'payment_required' })
  })

  it('are cancelled at the end of the period or at once, and can be resumed before', async () => {
    const { id } = await subscribe('pro')
    const { subscriptions } = souk()
    assert.equal((await subscriptions.cancel(id)).subscription.state, 'canceling')
    await call(id)
    assert.equal((await subscriptions.resume(id)).subscription.state, 'active')
    assert.equal((await subscriptions.pause(id)).subscription.state, 'paused')
    await assert.rejects(call(id), { code: 'subscription_inactive' })
    assert.equal((await subscriptions.resume(id)).subscription.state, 'active')
    await call(id)
    await subscriptions.cancel(id)
    bench.clock.shift(32 * DAY_MS)
    await assert.rejects(call(id), { code: 'subscription_inactive' })
    assert.equal((await subscriptions.get(id))?.state, 'canceled')
    await assert.rejects(subscriptions.resume(id), { code: 'subscription_inactive' })
    const other = await subscribe('pro')
    assert.equal((await subscriptions.cancel(other.id, { now: true })).subscription.state, 'canceled')
    await assert.rejects(call(other.id), { code: 'subscription_inactive' })
  })

  it('change to a higher fee at once, and to a lower one at the end of the period', async () => {
    const { id } = await subscribe('soft')
    for (let i = 0; i < 4; i++) await call(id)
    const { subscriptions } = souk()
    await assert.rejects(subscriptions.change(id, { plan: 'pro' }), { code: 'price_exceeds_limit' })
    const up = await subscriptions.change(id, { plan: 'pro', maxFee: '5' })
    assert.deepEqual([up.subscription.plan.id, up.subscription.nextPlan], ['pro', undefined])
    // All calls of the old fee are used, so nothing is credited.
    assert.equal(await priceOfLast(), 5_000_000n)
    assert.equal((await call(id)).quota?.used, 1)
    const down = await subscriptions.change(id, { plan: 'free' })
    assert.deepEqual([down.subscription.plan.id, down.subscription.nextPlan], ['pro', 'free'])
    bench.clock.shift(32 * DAY_MS)
    assert.equal((await call(id)).quota?.included, 3)
    assert.equal((await subscriptions.get(id))?.plan.id, 'free')
  })

  it('are visible to their holder only', async () => {
    const { id } = await subscribe('pro')
    const stranger = await bench.net.add({ clock: bench.clock })
    await assert.rejects(stranger.souk.call({ api: 'double', body: 1, subscription: id }), {
      code: 'subscription_inactive'
    })
    await assert.rejects(call(id, { api: 'other' }), { code: 'invalid_request' })
  })

  it('are created once, however often the same request is repeated', async () => {
    const { id } = await subscribe('pro')
    const before = (await bench.owner.souk.subscriptions.sold({ limit: 100 })).subscriptions.length
    assert.equal((await subscribe('pro', { id })).id, id)
    assert.equal((await bench.owner.souk.subscriptions.sold({ limit: 100 })).subscriptions.length, before)
  })

  it('keep their terms for 14 days, and change only as their holder agreed', async () => {
    await bench.serve({ plans: [FREE, PRO, { ...SOFT, id: 'weekly', period: 'week' }] })
    const { id } = await subscribe('weekly', { maxFee: '1.5' })
    const dearer = { ...SOFT, id: 'weekly', period: 'week', fee: '1.2' } as const
    await bench.serve({ plans: [FREE, PRO, dearer] })
    bench.clock.shift(7 * DAY_MS + 1)
    await call(id)
    assert.equal((await souk().subscriptions.get(id))?.plan.fee, 1_000_000n)
    bench.clock.shift(TERMS_KEPT_MS)
    await bench.serve({ plans: [FREE, PRO, dearer] })
    await call(id)
    assert.equal((await souk().subscriptions.get(id))?.plan.fee, 1_200_000n)
    await bench.serve({ plans: [FREE, PRO, { ...dearer, fee: '2' }] })
    bench.clock.shift(TERMS_KEPT_MS + 7 * DAY_MS)
    await bench.serve({ plans: [FREE, PRO, { ...dearer, fee: '2' }] })
    await assert.rejects(call(id), { code: 'price_exceeds_limit' })
  })

  it('are required without pay-per-call, and are bound to one major version', async () => {
    await bench.serve({ plans: [FREE, PRO], payPerCall: false })
    await assert.rejects(souk().call({ api: 'double', body: 1 }), { code: 'subscription_required' })
    const { id } = await subscribe('pro')
    await call(id)
    await bench.serve({ plans: [FREE, PRO], payPerCall: false, major: 2 })
    await assert.rejects(call(id), { code: 'subscription_inactive' })
    await souk().subscriptions.change(id, { plan: 'pro' })
    assert.equal((await souk().subscriptions.get(id))?.major, 2)
    await call(id)
  })

  it('keep a channel to their owner open without a call', async () => {
    await subscribe('pro')
    const { consumer, owner, clock } = bench
    const channels = () =>
      consumer.libp2p
        .getConnections(owner.libp2p.peerId)
        .flatMap(({ streams }) => streams)
        .filter(({ protocol, status }) => protocol === '/souk/call/1.0.0' && status === 'open')
    await consumer.libp2p.hangUp(owner.libp2p.peerId)
    assert.equal(channels().length, 0)
    clock.hurry(WARM_LINKS_CHECK_MS)
    await eventually('the channel', 2_000, () => (channels().length > 0 ? true : undefined))
  })
})
