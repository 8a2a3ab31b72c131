import assert from 'node:assert/strict'
import { accountOf, consumerOf } from '../../../lib/plans/account-name.ts'
import { formatRequestId } from '../../../lib/base/request-id.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { ServiceBench, planOf } from './plan-service-bench.ts'

const OTHER = peerId('O')
const [CONSUMER, STRANGER] = [new Uint8Array(16).fill(7), new Uint8Array(16).fill(8)]

describe('the holder of a subscription', () => {
  const plan = planOf('basic', { included: 3 })
  const id = formatRequestId(freshIds.next())
  const subscribe = (bench: ServiceBench, account?: string) =>
    bench.change({
      action: 'subscribe',
      id,
      plan: plan.id,
      since: plan.since,
      fee: plan.fee,
      trial: false,
      peers: [],
      ...(account === undefined ? {} : { account })
    })
  const unknown = { code: 'subscription_inactive' }

  it('is every node that calls for its account', async () => {
    const bench = await ServiceBench.open([plan])
    await subscribe(bench, accountOf(CONSUMER))
    await bench.call(id, { consumer: CONSUMER })
    await bench.call(id, { peer: OTHER, consumer: CONSUMER })
    const shown = await bench.change({ id, action: 'show' }, { peer: OTHER, consumer: CONSUMER })
    assert.equal(shown.subscription.state, 'active')
    const canceled = await bench.change({ id, action: 'cancel', now: true }, { peer: OTHER, consumer: CONSUMER })
    assert.equal(canceled.subscription.state, 'canceled')
  })

  it('is not a node that calls for another account, or for none', async () => {
    const bench = await ServiceBench.open([plan])
    await subscribe(bench, accountOf(CONSUMER))
    for (const by of [{ peer: OTHER, consumer: STRANGER }, { peer: OTHER }]) {
      await assert.rejects(async () => bench.admit(id, by), unknown)
      await assert.rejects(async () => bench.ask({ id, action: 'cancel', now: true }, by), unknown)
    }
  })

  it('is only the node itself without an account', async () => {
    const bench = await ServiceBench.open([plan])
    await subscribe(bench)
    await assert.rejects(async () => bench.admit(id, { peer: OTHER, consumer: new Uint8Array(0) }), unknown)
    await bench.call(id)
  })

  it('is not proven by an account name that could be guessed', () => {
    assert.deepEqual(consumerOf(accountOf(CONSUMER)), CONSUMER)
    for (const account of ['alice', '', 'ab'.repeat(15), 'AB'.repeat(16), undefined]) {
      assert.equal(consumerOf(account), undefined)
    }
  })
})
