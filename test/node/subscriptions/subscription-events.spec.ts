import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { limits, systemRandom } from '../../../lib/index.ts'
import type { PlanInit, SubscriptionChange } from '../../../lib/interface/index.ts'
import type { SoukEvent } from '../../../node/events/event-types.ts'
import { Events } from '../../../node/events/events.ts'
import { SubscriptionEvents } from '../../../node/events/subscription-events.ts'
import { WatchedCalls } from '../../../node/events/watch-calls.ts'
import { Webhooks } from '../../../node/events/webhooks.ts'
import { openSubscriptions, type SubscriptionParts } from '../../../node/subscriptions/open.ts'
import { createSecretBox, SECRET_BOX_KEY_BYTES } from '../../../node/upstream/secret-box.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type PlansBench, plansBench, shiftedClock } from '../../helpers/plans-bench.ts'
import { memoryDocuments } from '../ingress/harness.ts'

const log = { info() {}, error: (line: string, facts?: object) => console.error(line, facts) }
const PLANS: readonly PlanInit[] = [
  { id: 'free', included: 20 },
  { id: 'pro', included: 100 }
]

describe('events of subscriptions', () => {
  let server: Server
  let received: SoukEvent[]
  let bench: PlansBench
  let webhooks: Webhooks
  let events: Events
  let parts: SubscriptionParts

  before(async () => {
    received = []
    server = createServer((request, response) => {
      void text(request).then((body) => {
        received.push(JSON.parse(body) as SoukEvent)
        response.writeHead(204).end()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const seams = { clock: shiftedClock(), random: systemRandom, log }
    events = new Events(seams)
    const secretBox = createSecretBox(Buffer.alloc(SECRET_BOX_KEY_BYTES, 1))
    webhooks = new Webhooks({ ...seams, documents: memoryDocuments(), events, secretBox })
    await webhooks.start()
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await webhooks.add({ url, allowsPrivate: true, events: ['subscription.*', 'quota.*'] })
    const subscriptionEvents = new SubscriptionEvents(events)
    bench = await plansBench(() => ({ onSold: (sold, before) => subscriptionEvents.sold(before, sold) }))
    await bench.serve({ plans: PLANS })
    const { souk } = bench.consumer
    parts = openSubscriptions({
      souk,
      documents: souk.store.documents,
      clock: bench.clock,
      subscriptionEvents,
      keys: { nameFor: () => Buffer.alloc(16) },
      spending: {
        beginFee: () => ({ reserve: async () => {}, capture: async () => {}, release() {}, explain: (error) => error })
      }
    })
  })
  after(async () => {
    await webhooks?.stop()
    await bench?.net.stop()
    server.closeAllConnections()
    server.close()
  })

  /** The events of both sides since the last call, sorted, because delivery has no order. */
  async function told(count: number): Promise<Array<string | undefined>> {
    await eventually('so many deliveries', 10_000, () => (received.length >= count ? true : undefined))
    const all = received.splice(0).map(({ type, data }) => [data['role'], type, data['plan'], data['state']].join(' '))
    return all.sort()
  }
  const both = (happened: string) => [`consumer subscription.${happened}`, `owner subscription.${happened}`]

  it('are sent to subscriber and seller by webhook, one per change', async () => {
    const { subscription }: SubscriptionChange = await parts.service.subscribe(undefined, {
      api: 'double',
      plan: 'free',
      maxPrice: '0'
    })
    const { id } = subscription
    assert.deepEqual(await told(2), both('created free active'))
    await parts.service.change(undefined, id, { maxPrice: '0.5' })
    await parts.service.change(undefined, id, { plan: 'pro' })
    assert.deepEqual(await told(2), both('changed free active'))
    bench.clock.shift(subscription.periodEnd - bench.clock.now() + 60_000)
    await Promise.all([parts.service.renew(undefined, id), parts.service.renew(undefined, id)])
    assert.deepEqual(await told(2), both('renewed pro active'))
    await parts.service.cancel(undefined, id, false)
    assert.deepEqual(await told(2), both('canceled pro canceling'))
    await parts.service.cancel(undefined, id, true)
    assert.deepEqual(await told(2), both('canceled pro canceled'))
  })

  it('report once that 85 percent of the included calls are used, and once that all are', async () => {
    // Only one subscription per month gets free calls, and an earlier one used this month's.
    bench.clock.shift(32 * limits.DAY_MS)
    const { subscription } = await parts.service.subscribe(undefined, { api: 'double', plan: 'free', maxPrice: '0' })
    await told(2)
    const calls = new WatchedCalls(bench.clock, events).caller(bench.consumer.souk)
    for (let i = 0; i < 20; i++) await calls.call({ api: 'double', body: '1', subscription: subscription.id })
    await eventually('both alerts', 10_000, () => (received.length >= 2 ? true : undefined))
    assert.deepEqual(
      received.map(({ type, data }) => [type, data['subscription'], data['included'], data['used']].join(' ')).sort(),
      [`quota.nearly_reached ${subscription.id} 20 17`, `quota.reached ${subscription.id} 20 20`]
    )
  })
})
