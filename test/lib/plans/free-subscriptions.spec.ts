import assert from 'node:assert/strict'
import {
  FREE_SUBSCRIPTION_PER_PEER_REFILL_MS,
  FREE_SUBSCRIPTIONS_BURST,
  FREE_SUBSCRIPTIONS_PER_PEER_BURST
} from '../../../lib/base/limits/plans.ts'
import { formatRequestId } from '../../../lib/base/request-id.ts'
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
})
