import assert from 'node:assert/strict'
import {
  FREE_SUBSCRIPTION_KEPT_MS,
  FREE_SUBSCRIPTION_PER_PEER_REFILL_MS,
  FREE_SUBSCRIPTIONS_BURST,
  FREE_SUBSCRIPTIONS_PER_PEER_BURST,
  TRIAL_KEPT_MS
} from '../../../lib/base/limits/plans.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import { formatRequestId } from '../../../lib/base/request-id.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { planOf, ServiceBench } from './plan-service-bench.ts'

const [A, B] = [peerId('A'), peerId('B')]
const FREE = planOf('free', { included: 3 })
const PAID = planOf('paid', { fee: 5n, trialDays: 7 })

describe('subscriptions without a fee', () => {
  let bench: ServiceBench
  beforeEach(async () => {
    bench = await ServiceBench.open([FREE, PAID])
  })

  const subscribe = (
    peer: string,
    { id: plan, since, fee } = FREE,
    trial = false,
    id = formatRequestId(freshIds.next())
  ) => {
    // Each of another account, which the peer invents.
    const request = { action: 'subscribe', id, plan, since, fee, trial, peers: [], account: id } as const
    return bench.change(request, { peer })
  }
  const refused = { code: 'overloaded', retryAfterMs: FREE_SUBSCRIPTION_PER_PEER_REFILL_MS, notAccepted: true }

  it('of one peer are limited, with those on trial', async () => {
    for (let made = 2; made <= FREE_SUBSCRIPTIONS_PER_PEER_BURST; made++) await subscribe(A)
    const last = formatRequestId(freshIds.next())
    await subscribe(A, PAID, true, last)
    await assert.rejects(subscribe(A), refused)
    await assert.rejects(subscribe(A, PAID, true), refused)
    // Neither a repeated request, nor one that is paid, nor another peer.
    await subscribe(A, PAID, true, last)
    await subscribe(A, PAID)
    await subscribe(B)
    bench.now += FREE_SUBSCRIPTION_PER_PEER_REFILL_MS
    await subscribe(A)
  })

  it('of all peers together are limited', async () => {
    for (let made = 0; made < FREE_SUBSCRIPTIONS_BURST; made++) await subscribe(`${A}${made % 100}`)
    await assert.rejects(subscribe(B), refused)
    await subscribe(B, PAID)
  })

  const MOST = 1_000_000

  it('are deleted some time after their period, with all that was stored for them', async () => {
    const shared = createMemoryStore()
    await shared.open()
    bench = await ServiceBench.open([FREE, PAID], { shared: shared.documents })
    const stores = [bench.documents, shared.documents]
    const sweep = async (at: number) => {
      for (const documents of stores) await documents.sweep(at, MOST)
    }
    const left = async (...collections: string[]) => {
      const lists = stores.flatMap((documents) => collections.map((collection) => documents.list(collection)))
      return (await Promise.all(lists)).flat().map(({ key }) => key.split('/')[0])
    }
    const sold = () => left('subscriptions-sold', 'subscriptions-shared')
    const { subscription: free } = await subscribe(A)
    const { subscription: trial } = await subscribe(A, PAID, true)
    const { subscription: paid } = await subscribe(A, PAID)
    for (const { id } of [free, trial, paid]) await bench.call(id, { peer: A })
    await sweep(free.periodEnd + FREE_SUBSCRIPTION_KEPT_MS - 1)
    assert.deepEqual(new Set(await sold()), new Set([free.id, paid.id]))
    await sweep(free.periodEnd + FREE_SUBSCRIPTION_KEPT_MS)
    assert.deepEqual(await sold(), [paid.id, paid.id])
    assert.deepEqual(new Set(await left('plan-use', 'plan-grants')), new Set([paid.id]))
    assert.deepEqual(await left('plan-free'), [])
    await bench.restart()
    await assert.rejects(async () => bench.call(free.id, { peer: A }), { code: 'subscription_inactive' })
    await bench.call(paid.id, { peer: A })
  })

  it('that calls renew are kept, with their free calls', async () => {
    const { subscription } = await subscribe(A, FREE, false)
    const { id, periodEnd } = subscription
    bench.now = periodEnd
    const { since, fee } = FREE
    await bench.change({ action: 'renew', id, plan: 'free', since, fee, periodEnd }, { peer: A })
    await bench.documents.sweep(bench.now, MOST)
    await bench.call(id, { peer: A })
    const other = formatRequestId(freshIds.next())
    const again = {
      action: 'subscribe',
      id: other,
      plan: 'free',
      since,
      fee,
      trial: false,
      peers: [],
      account: id
    } as const
    await assert.rejects(bench.change(again, { peer: A }), { code: 'payment_required' })
    bench.now += 31 * DAY_MS
    await bench.documents.sweep(bench.now, MOST)
    await bench.change(again, { peer: A })
    await bench.documents.sweep(periodEnd + FREE_SUBSCRIPTION_KEPT_MS, MOST)
    assert.deepEqual(
      (await bench.documents.list('subscriptions-sold')).map(({ key }) => key),
      [id, other]
    )
  })

  it('on trial are given once in a long time to each consumer', async () => {
    const { since, fee } = PAID
    const ask = (id = formatRequestId(freshIds.next())) =>
      bench.change({ action: 'subscribe', id, plan: 'paid', since, fee, trial: true, peers: [] }, { peer: A })
    await ask()
    bench.now += TRIAL_KEPT_MS - 1
    await bench.documents.sweep(bench.now, MOST)
    await assert.rejects(ask(), { code: 'payment_required' })
    bench.now += 1
    await bench.documents.sweep(bench.now, MOST)
    await ask()
  })
})
